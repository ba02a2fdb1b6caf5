// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WalkRows.cpp - rmsnorm-walk-rows ----------------------------------===//

#include "RMSNorm/Transforms/Passes.h"
#include "TileProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_WALKROWS
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// Blocks a grid may have: CUDA allows 2^31 - 1, HIP 2^32 - 1 threads in all.
static int64_t getMaxBlocks(int64_t blockThreads) {
  const int64_t maxThreads = (int64_t(1) << 32) - 1;
  return std::min<int64_t>((int64_t(1) << 31) - 1, maxThreads / blockThreads);
}

static LogicalResult walkRows(scf::ForallOp forall) {
  FailureOr<ScheduleAttr> schedule = getSchedule(forall);
  if (failed(schedule))
    return failure();
  if (!forall.isNormalized() || forall.getRank() != 1 ||
      forall.getNumResults() != 0)
    return forall.emitOpError("expected a bufferized loop over tiles from 0 "
                              "with step 1");
  if (getProgramBlock(forall) != forall.getBody())
    return forall.emitOpError("expected tiles that are not walked yet");

  IRRewriter rewriter(forall.getContext());
  Location loc = forall.getLoc();
  rewriter.setInsertionPoint(forall);
  Value numTiles = getValueOrCreateConstantIndexOp(
      rewriter, loc, forall.getMixedUpperBound().front());
  Value maxBlocks;
  if (schedule->getBlocksPerSm() == 0) {
    maxBlocks = arith::ConstantIndexOp::create(
        rewriter, loc, getMaxBlocks(schedule->getBlockThreads()));
  } else {
    Value count =
        MultiprocessorCountOp::create(rewriter, loc, rewriter.getIndexType());
    Value perSM = arith::ConstantIndexOp::create(rewriter, loc,
                                                 schedule->getBlocksPerSm());
    maxBlocks = arith::MulIOp::create(rewriter, loc, count, perSM);
  }
  Value grid = arith::MinUIOp::create(rewriter, loc, numTiles, maxBlocks);

  auto walk = scf::ForallOp::create(rewriter, loc, ArrayRef<OpFoldResult>{grid},
                                    /*outputs=*/ValueRange(),
                                    /*mapping=*/std::nullopt);
  walk->setAttr(RMSNormDialect::kScheduleAttrName, *schedule);
  rewriter.setInsertionPointToStart(walk.getBody());
  auto loop = scf::ForOp::create(rewriter, loc, walk.getInductionVar(0),
                                 numTiles, grid);
  rewriter.eraseOp(forall.getTerminator());
  rewriter.inlineBlockBefore(forall.getBody(), loop.getBody()->getTerminator(),
                             loop.getInductionVar());
  rewriter.eraseOp(forall);
  return success();
}

namespace {
struct WalkRows final : rmsnorm::impl::WalkRowsBase<WalkRows> {
  using WalkRowsBase::WalkRowsBase;

  void runOnOperation() override {
    for (scf::ForallOp forall : getRowLoops(getOperation()))
      if (failed(walkRows(forall)))
        return signalPassFailure();
  }
};
} // namespace
