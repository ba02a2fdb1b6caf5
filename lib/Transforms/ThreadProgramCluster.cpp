// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadProgramCluster.cpp - rows that blocks of a cluster share ----===//

#include "ThreadProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

void ThreadProgram::emitRank() {
  Value block = arith::IndexCastUIOp::create(
      builder, loc, builder.getI32Type(),
      gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x));
  rank = arith::RemUIOp::create(builder, loc, block,
                                emitI32(schedule.getCluster()));
  const int64_t part = schedule.getPartColumns(facts.columns);
  Value begin = arith::MulIOp::create(builder, loc, rank, emitI32(part));
  firstColumn = emitColumnSum(begin, firstColumn);
  endColumn = arith::AddIOp::create(builder, loc, begin, emitI32(part));
  if (part * schedule.getCluster() != facts.columns)
    endColumn =
        arith::MinUIOp::create(builder, loc, endColumn, emitI32(facts.columns));
}

int64_t ThreadProgram::getSubgroupsPerRow() const {
  return schedule.getThreadsPerRow() / chip.subgroupSize;
}

/// In order to size the slots: the most totals that one row_reduce has.
static int64_t getMaxTotals(Block &program, int64_t rows) {
  int64_t most = 0;
  for (auto reduce : program.getOps<RowReduceOp>())
    if (isPerColumn(reduce.getInputs().front().getType()))
      most = std::max<int64_t>(most, reduce.getInputs().size() * rows);
  return most;
}

void ThreadProgram::emitExchangeInit(Block &program) {
  const int64_t totals = getMaxTotals(program, schedule.getRowsPerGroup());
  if (schedule.getCluster() == 1 || totals == 0)
    return;
  constexpr int64_t slots = 4;
  auto get = [&](int64_t offset) {
    return ExchangeAttr::get(builder.getContext(), slots, totals,
                             schedule.getRowGroups(), getSubgroupsPerRow(),
                             schedule.getCluster(), offset);
  };
  exchange = get(workgroup.reserve(get(0).getBytes(), /*alignment=*/16));
  ExchangeInitOp::create(builder, loc, exchange);
}

/// Rows that the blocks of a cluster share: every subgroup of theirs publishes
/// its totals when it has them, and combines those of all in the same order.
SmallVector<Value> ThreadProgram::exchangeCluster(RowReduceOp reduce,
                                                  ArrayRef<Value> totals) {
  auto i1Compare = [&](arith::CmpIPredicate predicate, Value lhs, Value rhs) {
    return arith::CmpIOp::create(builder, loc, predicate, lhs, rhs);
  };
  // The loads of the first row hide what it takes to prepare the exchange.
  if (reductionNumber == 0) {
    Value first = i1Compare(arith::CmpIPredicate::eq, toggle, emitI32(0));
    auto branch = scf::IfOp::create(builder, loc, first,
                                    /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    ExchangeReadyOp::create(builder, loc, exchange);
  }

  // Publishes are numbered through all tiles.
  Value number = toggle;
  if (facts.numReductions > 1)
    number = arith::AddIOp::create(
        builder, loc,
        arith::MulIOp::create(builder, loc, toggle,
                              emitI32(facts.numReductions)),
        emitI32(reductionNumber));
  Value subgroupInRow = subgroup;
  if (schedule.getRowGroups() > 1)
    subgroupInRow = arith::RemUIOp::create(builder, loc, subgroup,
                                           emitI32(getSubgroupsPerRow()));
  ExchangePublishOp::create(builder, reduce.getLoc(), totals, number, rowGroup,
                            subgroupInRow, exchange);
  ExchangeAwaitOp::create(builder, reduce.getLoc(), number, rowGroup, exchange);

  // Lane l takes publishers l, l + subgroup size, ...; lanes without one
  // repeat the last and contribute the identity.
  const int64_t publishers = exchange.getPublishers();
  const int64_t width = std::min(
      chip.subgroupSize, static_cast<int64_t>(llvm::PowerOf2Ceil(publishers)));
  Value slot = arith::AndIOp::create(builder, loc, lane, emitI32(width - 1));
  const int64_t rows = totals.size() / reduce.getInputs().size();
  SmallVector<Value> results;
  for (int64_t index = 0, e = totals.size(); index < e; ++index) {
    ReduceKind kind =
        cast<ReduceKindAttr>(reduce.getKinds()[index / rows]).getValue();
    Value result;
    for (int64_t first = 0; first < publishers; first += width) {
      Value publisher =
          arith::AddIOp::create(builder, loc, slot, emitI32(first));
      Value exists;
      if (first + width > publishers) {
        exists = i1Compare(arith::CmpIPredicate::ult, publisher,
                           emitI32(publishers));
        publisher = arith::MinUIOp::create(builder, loc, publisher,
                                           emitI32(publishers - 1));
      }
      Value value = ExchangeReadOp::create(
          builder, loc, builder.getF32Type(), number, rowGroup, publisher,
          builder.getI64IntegerAttr(index), exchange);
      if (exists)
        value = arith::SelectOp::create(builder, loc, exists, value,
                                        emitIdentity(kind, value.getType()));
      result = result ? emitCombine(kind, result, value) : value;
    }
    results.push_back(SubgroupReduceOp::create(
        builder, reduce.getLoc(), result.getType(), kind, result, width));
  }
  return results;
}
