// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitReductions.cpp - rmsnorm-split-reductions --------------------===//

#include "RMSNorm/Rows/Passes.h"
#include "RMSNorm/Rows/RowsProgram.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_SPLITREDUCTIONS
#include "RMSNorm/Rows/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// The ops of `block` that `root` needs, in their order, itself last.
static SetVector<Operation *> getSlice(Block &block, Operation *root) {
  SetVector<Operation *> needed;
  std::function<void(Operation *)> visit = [&](Operation *op) {
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *def = operand.getDefiningOp();
        if (def && def->getBlock() == &block && !needed.contains(def))
          visit(def);
      }
    });
    needed.insert(op);
  };
  visit(root);
  return needed;
}

/// Puts the ops of `body` into the order in which the reduced values need them,
/// so that few values are held at a time.
static void sortByUse(RewriterBase &rewriter, Block &body) {
  Operation *end = body.getTerminator();
  SetVector<Operation *> sorted = getSlice(body, end);
  for (Operation *op : sorted)
    rewriter.moveOpBefore(op, &body, body.end());
}

/// Moves `traverse` of the body to `begin`, with copies of its operands.
static void split(RewriterBase &rewriter, TilesOp tiles, TraverseOp traverse) {
  Block &body = tiles.getBody().front();
  Block &begin = tiles.getBegin().emplaceBlock();
  IRMapping mapping;
  for (BlockArgument argument :
       body.getArguments().take_front(1 + tiles.getCopies().size()))
    mapping.map(argument,
                begin.addArgument(argument.getType(), argument.getLoc()));
  rewriter.setInsertionPointToEnd(&begin);
  SmallVector<Operation *> slice;
  for (Operation *op : getSlice(body, traverse))
    slice.push_back(op);
  llvm::sort(slice,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  for (Operation *op : slice)
    rewriter.clone(*op, mapping);
  auto published = cast<TraverseOp>(mapping.lookup(traverse.getOperation()));
  sortByUse(rewriter, published.getBody().front());
  YieldOp::create(rewriter, traverse.getLoc(), published.getSums());

  SmallVector<Value> sums;
  for (auto [index, sum] : llvm::enumerate(traverse.getSums()))
    sums.push_back(body.insertArgument(1 + tiles.getCopies().size() + index,
                                       sum.getType(), sum.getLoc()));
  rewriter.setInsertionPoint(traverse);
  AwaitOp::create(rewriter, traverse.getLoc(), sums);
  rewriter.replaceOp(traverse, sums);
  // Drops ops that only the first half needed.
  eraseDeadOps(rewriter, body);
}

static LogicalResult splitReductions(RowsOp rows) {
  FailureOr<ScheduleAttr> schedule = rows.getRequiredSchedule();
  if (failed(schedule))
    return failure();
  if (!schedule->getSplit())
    return success();
  TilesOp tiles = rows.getTiles();
  SmallVector<TraverseOp> reductions;
  for (auto traverse : tiles.getBody().getOps<TraverseOp>())
    if (traverse.getNumReductions() != 0)
      reductions.push_back(traverse);
  if (!tiles.getBody().getOps<RowReduceOp>().empty()) {
    InFlightDiagnostic error = rows.emitOpError(
        "expected reductions to be those of traverses, to split them");
    error.attachNote() << "rmsnorm-place-tiles makes them so";
    return error;
  }
  // Nothing to split: a program that reduces nothing along a row.
  if (reductions.empty())
    return success();
  if (tiles.isSplit() || tiles.getStages() < 3)
    return tiles.emitOpError("expected 3 stages at least, and reductions that "
                             "are not split yet, to split them");
  // The exchanges of blocks are numbered in one order; a second reduction
  // between the halves would break it.
  if (reductions.size() != 1 || !reductions.front().getHeld().empty())
    return reductions.back().emitOpError("expected one reduction to split, "
                                         "which holds nothing, got ")
           << reductions.size();
  IRRewriter rewriter(rows.getContext());
  split(rewriter, tiles, reductions.front());
  return success();
}

namespace {
struct SplitReductions final
    : rmsnorm::impl::SplitReductionsBase<SplitReductions> {
  using SplitReductionsBase::SplitReductionsBase;

  void runOnOperation() override {
    for (RowsOp rows : getRows(getOperation()))
      if (failed(splitReductions(rows)))
        return signalPassFailure();
  }
};
} // namespace
