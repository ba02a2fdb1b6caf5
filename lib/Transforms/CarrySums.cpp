// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CarrySums.cpp - rmsnorm-carry-sums --------------------------------===//

#include "RMSNorm/Transforms/Passes.h"
#include "RowsProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_CARRYSUMS
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// `tiles` with a zero of `types` for each more sum over rows. Its body has
/// their accumulators as last arguments, and yields them.
static TilesOp addInits(RewriterBase &rewriter, TilesOp tiles,
                        ArrayRef<Type> types) {
  rewriter.setInsertionPoint(tiles);
  SmallVector<Value> inits(tiles.getInits());
  for (Type type : types)
    inits.push_back(arith::ConstantOp::create(rewriter, tiles.getLoc(),
                                              rewriter.getZeroAttr(type)));
  auto carrying =
      TilesOp::create(rewriter, tiles.getLoc(), TypeRange(ValueRange(inits)),
                      tiles.getCopies(), inits, tiles.getStages());
  carrying.getBegin().takeBody(tiles.getBegin());
  carrying.getBody().takeBody(tiles.getBody());
  for (Type type : types)
    carrying.getBody().addArgument(type, tiles.getLoc());
  auto yield = cast<YieldOp>(carrying.getBody().front().getTerminator());
  rewriter.modifyOpInPlace(yield, [&] {
    yield.getValuesMutable().append(
        carrying.getAccumulators().take_back(types.size()));
  });
  rewriter.replaceOp(tiles,
                     carrying.getResults().take_front(tiles.getNumResults()));
  return carrying;
}

static LogicalResult carrySums(RowsOp rows) {
  SmallVector<AccumulateOp> sums;
  rows.walk([&](AccumulateOp sum) {
    if (!sum.getResult())
      sums.push_back(sum);
  });
  if (sums.empty())
    return success();
  FailureOr<ScheduleAttr> schedule = rows.getRequiredSchedule();
  if (failed(schedule) || failed(verifyNotPlaced(rows)))
    return failure();
  if (schedule->getBlocksPerSm() == 0)
    return sums.front().emitOpError("expected a schedule with blocks_per_sm >= "
                                    "1, as a persistent block adds up its "
                                    "rows");

  IRRewriter rewriter(rows.getContext());
  SmallVector<Type> types, partials;
  for (AccumulateOp sum : sums) {
    const int64_t columns = sum.getSource().getType().getDimSize(1);
    types.push_back(VectorType::get({schedule->getRowGroups(), columns},
                                    rewriter.getF32Type()));
    const bool isDynamic = columns != 1 && rows.getDynamicColumns();
    partials.push_back(MemRefType::get(
        {ShapedType::kDynamic, isDynamic ? ShapedType::kDynamic : columns},
        rewriter.getF32Type()));
  }
  TilesOp tiles = addInits(rewriter, rows.getTiles(), types);
  auto yield = cast<YieldOp>(tiles.getBody().front().getTerminator());
  SmallVector<Value> dests;
  for (auto [sum, accumulator, next] :
       llvm::zip(sums, tiles.getAccumulators(), yield.getValuesMutable())) {
    dests.push_back(rows.getOperandOf(sum.getDest()));
    rewriter.setInsertionPoint(sum);
    next.set(AccumulateOp::create(rewriter, sum.getLoc(), accumulator.getType(),
                                  sum.getSource(), accumulator,
                                  /*columns=*/Value())
                 .getResult());
    rewriter.eraseOp(sum);
  }
  Operation *end = rows.getBody().front().getTerminator();
  rewriter.modifyOpInPlace(end, [&] { end->setOperands(tiles.getResults()); });

  // The sums leave as results.
  rewriter.setInsertionPoint(rows);
  auto carrying = RowsOp::create(
      rewriter, rows.getLoc(), partials, rows.getSizes(),
      rows.getDynamicColumns(), rows.getBuffers(), rows.getScalars(),
      rows.getStaticSizes(), rows.getColumns(), rows.getAccesses(), *schedule);
  carrying.getBody().takeBody(rows.getBody());
  for (auto [sum, dest] : llvm::zip(carrying.getPartials(), dests))
    SumRowsOp::create(rewriter, sum.getLoc(), sum, dest,
                      schedule->getSumLanes(), schedule->getSumWalkers());
  rewriter.eraseOp(rows);
  pruneOperands(rewriter, carrying);
  return success();
}

namespace {
struct CarrySums final : rmsnorm::impl::CarrySumsBase<CarrySums> {
  using CarrySumsBase::CarrySumsBase;

  void runOnOperation() override {
    for (RowsOp rows : getRows(getOperation()))
      if (failed(carrySums(rows)))
        return signalPassFailure();
  }
};
} // namespace
