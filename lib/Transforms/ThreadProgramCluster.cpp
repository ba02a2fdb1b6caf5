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

/// Rows that the blocks of a cluster share: every subgroup of theirs publishes
/// its totals when it has them, and combines those of all in the same order.
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
  publish(reduce.op->getLoc(), totals, number);
  SmallVector<ReduceKind> kinds;
  const int64_t rows = totals.size() / reduce.inputs.size();
  for (int64_t index = 0, e = totals.size(); index < e; ++index)
    kinds.push_back(reduce.getKind(index / rows));
  return await(reduce.op->getLoc(), kinds, number);
}
