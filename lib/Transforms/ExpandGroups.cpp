// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandGroups.cpp - rmsnorm-expand-groups --------------------------===//

#include "GroupReshapes.h"

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_EXPANDGROUPS
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;
using linalg::GenericOp;

static bool isNorm(Operation *op) {
  return isa_and_present<ForwardOp, BackwardOp>(op);
}

static bool isElementwise(Operation *op) {
  auto generic = dyn_cast_or_null<GenericOp>(op);
  return generic && generic.getNumParallelLoops() == generic.getNumLoops();
}

/// Whether a norm computes `value`, or elementwise work on what one computes.
static bool comesFromNorm(Value value) {
  Operation *op = value.getDefiningOp();
  return isNorm(op) ||
         (isElementwise(op) &&
          llvm::any_of(cast<GenericOp>(op).getInputs(), comesFromNorm));
}

/// Whether `value` is what a norm reads, or elementwise work for it.
static bool goesToNorm(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    return isNorm(user) || (isElementwise(user) &&
                            llvm::any_of(user->getResults(), goesToNorm));
  });
}

/// Whether a reshape folds into the generic at `use`: the source of the one, or
/// an operand of the other.
static bool folds(OpOperand *use) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(use->getOwner()))
    return isGroupReshape(expand) &&
           isElementwise(use->get().getDefiningOp()) &&
           !comesFromNorm(use->get()) && goesToNorm(expand.getResult());
  auto collapse = use->get().getDefiningOp<tensor::CollapseShapeOp>();
  return collapse && isGroupReshape(collapse) &&
         isElementwise(use->getOwner()) && comesFromNorm(collapse.getSrc());
}

namespace {
struct ExpandGroups final : rmsnorm::impl::ExpandGroupsBase<ExpandGroups> {
  using ExpandGroupsBase::ExpandGroupsBase;

  void runOnOperation() override {
    WalkResult walk = getOperation().walk([](Operation *op) {
      return WalkResult(failure(llvm::any_of(
          op->getOpOperands(), [](OpOperand &use) { return folds(&use); })));
    });
    if (!walk.wasInterrupted())
      return;
    RewritePatternSet patterns(&getContext());
    linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, folds);
    tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, &getContext());
    tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns,
                                                         &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
