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

namespace {
/// Turns one loop over tiles into blocks that walk theirs.
class RowWalker {
public:
  /// `margin`: multiprocessors to leave free; `resident`: how many blocks one
  /// has the threads for, of interest with a margin only.
  RowWalker(scf::ForallOp tiles, ScheduleAttr schedule, int64_t margin,
            int64_t resident)
      : tiles(tiles), schedule(schedule), margin(margin), resident(resident),
        loc(tiles.getLoc()), rewriter(tiles.getContext()),
        sums(tiles.getBody()->getOps<AccumulateOp>()) {}

  LogicalResult run();

private:
  LogicalResult check();
  Value getGrid(Value numTiles);
  Value getNumStrips();
  Value createWorkspace(AccumulateOp sum, Value grid);
  void storePartials(AccumulateOp sum, Value accumulator, Value workspace,
                     Value block);

  VectorType getAccumulatorType(AccumulateOp sum) {
    return VectorType::get(
        {schedule.getRowGroups(), sum.getSource().getType().getDimSize(1)},
        rewriter.getF32Type());
  }

  scf::ForallOp tiles;
  ScheduleAttr schedule;
  int64_t margin, resident;
  Location loc;
  IRRewriter rewriter;
  SmallVector<AccumulateOp> sums;
};
} // namespace

LogicalResult RowWalker::check() {
  if (!tiles.isNormalized() || tiles.getRank() != 1 ||
      tiles.getNumResults() != 0)
    return tiles.emitOpError("expected a bufferized loop over tiles from 0 "
                             "with step 1");
  if (getProgramBlock(tiles) != tiles.getBody())
    return tiles.emitOpError("expected tiles that are not walked yet");
  for (AccumulateOp sum : sums) {
    if (schedule.getBlocksPerSm() == 0)
      return sum.emitOpError("expected a schedule with blocks_per_sm >= 1, as "
                             "a persistent block adds up its rows");
    auto isOutside = [&](Value value) {
      return !value ||
             !tiles->isAncestor(value.getParentBlock()->getParentOp());
    };
    if (!isOutside(sum.getDest()) || !isOutside(sum.getColumns()))
      return sum.emitOpError("expected dest and columns from outside of the "
                             "loop over tiles");
  }
  return success();
}

/// The strips of columns that the grid is divided into, or null.
Value RowWalker::getNumStrips() {
  if (schedule.getColumnSums() != ColumnSums::strips)
    return {};
  AccumulateOp sum = sums.front();
  return createStripCount(rewriter, loc, schedule,
                          sum.getSource().getType().getDimSize(1),
                          sum.getColumns());
}

Value RowWalker::getGrid(Value numTiles) {
  Value maxBlocks;
  int64_t blocksPerSM = schedule.getBlocksPerSm();
  if (blocksPerSM == 0 && margin > 0)
    blocksPerSM = resident;
  if (blocksPerSM == 0) {
    maxBlocks = arith::ConstantIndexOp::create(
        rewriter, loc,
        getMaxBlocks(schedule.getBlockThreads()) / schedule.getCluster());
  } else {
    Value count =
        MultiprocessorCountOp::create(rewriter, loc, rewriter.getIndexType());
    if (margin > 0) {
      Value free = arith::ConstantIndexOp::create(rewriter, loc, margin);
      Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
      count = arith::MaxSIOp::create(
          rewriter, loc, arith::SubIOp::create(rewriter, loc, count, free),
          one);
    }
    Value perSM = arith::ConstantIndexOp::create(rewriter, loc, blocksPerSM);
    maxBlocks = arith::MulIOp::create(rewriter, loc, count, perSM);
    if (schedule.getCluster() > 1) {
      // Whole clusters, one at least, and no more than are resident together:
      // the others would follow in a second wave and take twice the time (H200,
      // backward of 32768x32768 over clusters of 4: 0.60 of the ceiling).
      maxBlocks = arith::DivUIOp::create(
          rewriter, loc, maxBlocks,
          arith::ConstantIndexOp::create(rewriter, loc, schedule.getCluster()));
      maxBlocks = arith::MinUIOp::create(
          rewriter, loc, maxBlocks,
          ResidentClustersOp::create(rewriter, loc, rewriter.getIndexType()));
      maxBlocks = arith::MaxUIOp::create(
          rewriter, loc, maxBlocks,
          arith::ConstantIndexOp::create(rewriter, loc, 1));
    }
  }
  // Several blocks walk the same rows, each a strip of them. No more runs than
  // fit at once, or some blocks would run behind all others.
  if (Value strips = getNumStrips())
    maxBlocks = arith::MaxUIOp::create(
        rewriter, loc, arith::DivUIOp::create(rewriter, loc, maxBlocks, strips),
        arith::ConstantIndexOp::create(rewriter, loc, 1));
  return arith::MinUIOp::create(rewriter, loc, numTiles, maxBlocks);
}

/// A row of f32 for each block.
Value RowWalker::createWorkspace(AccumulateOp sum, Value grid) {
  SmallVector<Value> sizes{grid};
  int64_t columns = sum.getSource().getType().getDimSize(1);
  if (Value count = sum.getColumns()) {
    columns = ShapedType::kDynamic;
    sizes.push_back(count);
  }
  auto type =
      MemRefType::get({ShapedType::kDynamic, columns}, rewriter.getF32Type());
  return WorkspaceOp::create(rewriter, sum.getLoc(), type, sizes);
}

/// Row `block` of the workspace: the sum over the row groups.
void RowWalker::storePartials(AccumulateOp sum, Value accumulator,
                              Value workspace, Value block) {
  auto type = cast<VectorType>(accumulator.getType());
  Value total = accumulator;
  if (type.getDimSize(0) != 1)
    total = ColumnReduceOp::create(
        rewriter, sum.getLoc(),
        VectorType::get({1, type.getDimSize(1)}, type.getElementType()),
        accumulator);
  TileStoreOp::create(rewriter, sum.getLoc(), /*result=*/Type(), TileKind::tile,
                      total, workspace, block, /*rows=*/Value(),
                      sum.getColumns());
}

LogicalResult RowWalker::run() {
  if (failed(check()))
    return failure();
  rewriter.setInsertionPoint(tiles);
  Value numTiles = getValueOrCreateConstantIndexOp(
      rewriter, loc, tiles.getMixedUpperBound().front());
  Value grid = getGrid(numTiles);
  SmallVector<Value> workspaces;
  for (AccumulateOp sum : sums)
    workspaces.push_back(createWorkspace(sum, grid));

  auto walk = scf::ForallOp::create(rewriter, loc, ArrayRef<OpFoldResult>{grid},
                                    /*outputs=*/ValueRange(),
                                    /*mapping=*/std::nullopt);
  walk->setAttr(RMSNormDialect::kScheduleAttrName, schedule);
  Value block = walk.getInductionVar(0);
  rewriter.setInsertionPointAfter(walk);
  for (auto [sum, workspace] : llvm::zip(sums, workspaces))
    SumRowsOp::create(rewriter, sum.getLoc(), workspace, sum.getDest(),
                      schedule.getSumLanes(), schedule.getSumWalkers());

  rewriter.setInsertionPointToStart(walk.getBody());
  SmallVector<Value> zeros;
  for (AccumulateOp sum : sums)
    zeros.push_back(arith::ConstantOp::create(
        rewriter, sum.getLoc(), rewriter.getZeroAttr(getAccumulatorType(sum))));
  auto loop = scf::ForOp::create(
      rewriter, loc, block, numTiles, grid, zeros,
      [](OpBuilder &nested, Location nestedLoc, Value, ValueRange carried) {
        scf::YieldOp::create(nested, nestedLoc, carried);
      });
  for (auto [sum, accumulator, workspace] :
       llvm::zip(sums, loop.getResults(), workspaces))
    storePartials(sum, accumulator, workspace, block);

  rewriter.eraseOp(tiles.getTerminator());
  Operation *yield = loop.getBody()->getTerminator();
  rewriter.inlineBlockBefore(tiles.getBody(), yield, loop.getInductionVar());
  for (auto [sum, carried, next] :
       llvm::zip(sums, loop.getRegionIterArgs(), yield->getOpOperands())) {
    rewriter.setInsertionPoint(sum);
    next.set(AccumulateOp::create(rewriter, sum.getLoc(), carried.getType(),
                                  sum.getSource(), carried, sum.getRows(),
                                  /*columns=*/Value())
                 .getResult());
    rewriter.eraseOp(sum);
  }
  rewriter.eraseOp(tiles);
  return success();
}

namespace {
struct WalkRows final : rmsnorm::impl::WalkRowsBase<WalkRows> {
  using WalkRowsBase::WalkRowsBase;

  void runOnOperation() override {
    for (scf::ForallOp forall : getRowLoops(getOperation()))
      if (failed(walk(forall)))
        return signalPassFailure();
  }

  LogicalResult walk(scf::ForallOp forall) {
    FailureOr<ScheduleAttr> schedule = getSchedule(forall);
    if (failed(schedule))
      return failure();
    const int64_t margin = schedule->getSmMargin();
    int64_t resident = 0;
    if (margin > 0) {
      FailureOr<TargetAttr> target = getTarget(forall);
      if (failed(target))
        return failure();
      resident =
          std::max<int64_t>(1, target->getChipInfo().threadsPerMultiprocessor /
                                   schedule->getBlockThreads());
    }
    return RowWalker(forall, *schedule, margin, resident).run();
  }
};
} // namespace
