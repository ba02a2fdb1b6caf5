// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadProgramCluster.cpp - rows that blocks of a cluster share ----===//

#include "ThreadProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"

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

/// Reductions in two halves: at most one begins before another one ends, so
/// that four slots need no other flow control.
void ThreadProgram::emitExchangeInit(Block &program) {
  if (schedule.getCluster() == 1)
    return;
  assert(schedule.getTileRows() == 1 && "a cluster shares one row");
  readyAtWait = !program.getOps<RowReduceEndOp>().empty();
  // The most totals that one reduction has.
  int64_t most = 0;
  for (Operation &op : program) {
    auto reduce = dyn_cast<RowReduceOp>(op);
    if (isa<RowReduceEndOp>(op) ||
        (reduce && isPerColumn(reduce.getInputs().front().getType())))
      most = std::max<int64_t>(most, op.getNumResults());
  }
  if (most == 0)
    return;
  constexpr int64_t slots = 4;
  auto get = [&](int64_t offset) {
    return ExchangeAttr::get(builder.getContext(), slots, most,
                             schedule.getThreadsPerRow() / chip.subgroupSize,
                             schedule.getCluster(), offset);
  };
  exchange = get(workgroup.reserve(get(0).getBytes(), /*alignment=*/16));
  ExchangeInitOp::create(builder, loc, exchange);
}

/// What the subgroups of the cluster publish as `number`, combined.
SmallVector<Value> ThreadProgram::await(Location at, ArrayAttr kinds,
                                        Value number) {
  ExchangeAwaitOp::create(builder, at, number, exchange);
  SmallVector<Value> totals;
  for (auto [index, attr] : llvm::enumerate(kinds)) {
    IntegerAttr value = builder.getI64IntegerAttr(index);
    totals.push_back(combineSubgroups(
        cast<ReduceKindAttr>(attr).getValue(), exchange.getPublishers(),
        [&](Value publisher) {
          return ExchangeReadOp::create(builder, at, builder.getF32Type(),
                                        number, publisher, value, exchange)
              .getResult();
        }));
  }
  return totals;
}

/// Every subgroup of the cluster publishes its totals when it has them, and
/// combines those of all in the same order.
SmallVector<Value> ThreadProgram::exchangeCluster(const Reduction &reduce,
                                                  ArrayRef<Value> totals) {
  // The loads of the first row hide what it takes to prepare the exchange.
  if (reductionNumber == 0) {
    Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        toggle, emitI32(0));
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
  ExchangePublishOp::create(builder, reduce.op->getLoc(), totals, number,
                            subgroup, exchange);
  return await(reduce.op->getLoc(), reduce.kinds, number);
}

//===----------------------------------------------------------------------===//
// Reductions in two halves
//===----------------------------------------------------------------------===//

/// The number of one half.
FailureOr<Value> ThreadProgram::getNumber(Operation *half, Value number) {
  if (!exchange)
    return half->emitOpError("expected both halves of a reduction of rows that "
                             "a cluster shares");
  return arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(),
                                      getScalar(number, *scalars))
      .getResult();
}

LogicalResult ThreadProgram::emitBegin(RowReduceBeginOp begin,
                                       ArrayRef<Value> totals) {
  FailureOr<Value> number = getNumber(begin, begin.getNumber());
  if (failed(number))
    return failure();
  ExchangePublishOp::create(builder, begin.getLoc(), totals, *number, subgroup,
                            exchange);
  return success();
}

LogicalResult ThreadProgram::emitEnd(RowReduceEndOp end) {
  FailureOr<Value> number = getNumber(end, end.getNumber());
  if (failed(number))
    return failure();
  setResults(end.getResults(), await(end.getLoc(), end.getKinds(), *number));
  return success();
}
