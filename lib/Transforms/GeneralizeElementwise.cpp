// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GeneralizeElementwise.cpp - rmsnorm-generalize-elementwise --------===//

#include "RMSNorm/Transforms/Passes.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_GENERALIZEELEMENTWISE
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;

static bool isOnTensors(Operation *op) {
  return OpTrait::hasElementwiseMappableTraits(op) &&
         llvm::any_of(op->getOperandTypes(), llvm::IsaPred<RankedTensorType>);
}

namespace {
struct GeneralizeElementwise final
    : rmsnorm::impl::GeneralizeElementwiseBase<GeneralizeElementwise> {
  using GeneralizeElementwiseBase::GeneralizeElementwiseBase;

  void runOnOperation() override {
    RewritePatternSet scaling(&getContext());
    arith::populateExpandScalingExtTruncPatterns(scaling);
    walkAndApplyPatterns(getOperation(), std::move(scaling));
    SmallVector<Operation *> elementwise;
    llvm::DenseSet<Operation *> theirs;
    getOperation()->walk([&](Operation *op) {
      if (isOnTensors(op))
        elementwise.push_back(op);
      else if (isa<linalg::GenericOp>(op))
        theirs.insert(op);
    });
    if (elementwise.empty())
      return;
    RewritePatternSet patterns(&getContext());
    linalg::populateElementwiseToLinalgConversionPatterns(patterns);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal(
        [](Operation *op) { return !isOnTensors(op); });
    if (failed(
            applyPartialConversion(elementwise, target, std::move(patterns))))
      return signalPassFailure();
    // Upstream takes an operand for the destination if it has the type: here
    // that would say that it is overwritten.
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](linalg::GenericOp op) {
      if (theirs.contains(op))
        return;
      for (OpOperand &init : op.getDpsInitsMutable()) {
        if (init.get().getDefiningOp<tensor::EmptyOp>())
          continue;
        rewriter.setInsertionPoint(op);
        Value empty = tensor::EmptyOp::create(
            rewriter, op.getLoc(),
            tensor::getMixedSizes(rewriter, op.getLoc(), init.get()),
            getElementTypeOrSelf(init.get().getType()));
        rewriter.modifyOpInPlace(op, [&] { init.set(empty); });
      }
    });
  }
};
} // namespace
