// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GeneralizeElementwise.cpp - rmsnorm-generalize-elementwise --------===//

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Source/Elementwise.h"
#include "RMSNorm/Source/Passes.h"

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_GENERALIZEELEMENTWISE
#define GEN_PASS_DEF_RESTOREELEMENTWISE
#include "RMSNorm/Source/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
struct Inserted final : RewriterBase::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    if (isa<linalg::GenericOp>(op))
      generics.insert(op);
  }
  llvm::SetVector<Operation *> generics;
};
} // namespace

llvm::SetVector<Operation *> rmsnorm::generalizeElementwise(Operation *root) {
  Inserted inserted;
  RewritePatternSet patterns(root->getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  walkAndApplyPatterns(root, std::move(patterns), &inserted);
  // Upstream takes an operand for the destination if it has the type: here
  // that would say that it is overwritten.
  IRRewriter rewriter(root->getContext());
  for (Operation *op : inserted.generics) {
    rewriter.setInsertionPoint(op);
    for (OpOperand &init : cast<linalg::GenericOp>(op).getDpsInitsMutable()) {
      if (init.get().getDefiningOp<tensor::EmptyOp>())
        continue;
      Value empty = tensor::EmptyOp::create(
          rewriter, op->getLoc(),
          tensor::getMixedSizes(rewriter, op->getLoc(), init.get()),
          getElementTypeOrSelf(init.get().getType()));
      rewriter.modifyOpInPlace(op, [&] { init.set(empty); });
    }
  }
  return std::move(inserted.generics);
}

/// Erases what defines `value` if nobody needs it, and what only that needed.
static void eraseDead(RewriterBase &rewriter, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isOpTriviallyDead(op))
    return;
  SetVector<Value> operands(op->operand_begin(), op->operand_end());
  rewriter.eraseOp(op);
  for (Value operand : operands)
    eraseDead(rewriter, operand);
}

void rmsnorm::restoreElementwise(RewriterBase &rewriter,
                                 linalg::GenericOp generic) {
  Block *body = generic.getBody();
  Operation *scalar = &body->front();
  if (scalar->getNextNode() != body->getTerminator() ||
      body->getTerminator()->getOperands() != scalar->getResults())
    return;
  IRMapping tensors;
  for (OpOperand &operand : generic->getOpOperands()) {
    if (isa<RankedTensorType>(operand.get().getType()) &&
        !generic.getMatchingIndexingMap(&operand).isIdentity())
      return;
    tensors.map(generic.getMatchingBlockArgument(&operand), operand.get());
  }
  rewriter.setInsertionPoint(generic);
  Operation *op = rewriter.clone(*scalar, tensors);
  for (auto [result, type] :
       llvm::zip_equal(op->getResults(), generic->getResultTypes()))
    result.setType(type);
  OperandRange dest = generic.getDpsInits();
  SetVector<Value> inits(dest.begin(), dest.end());
  rewriter.replaceOp(generic, op);
  for (Value init : inits)
    eraseDead(rewriter, init);
}

namespace {
struct GeneralizeElementwise final
    : rmsnorm::impl::GeneralizeElementwiseBase<GeneralizeElementwise> {
  using GeneralizeElementwiseBase::GeneralizeElementwiseBase;

  void runOnOperation() override {
    if (restorable) {
      for (Operation *op : generalizeElementwise(getOperation()))
        op->setAttr(RMSNormDialect::kElementwiseAttrName,
                    UnitAttr::get(&getContext()));
      return;
    }
    RewritePatternSet scaling(&getContext());
    arith::populateExpandScalingExtTruncPatterns(scaling);
    walkAndApplyPatterns(getOperation(), std::move(scaling));
    // Of a maximum with its place often only the maximum is used.
    SmallVector<Operation *> ops;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics() && op.hasIndexSemantics() &&
          llvm::any_of(op->getResults(),
                       [](Value result) { return result.use_empty(); }))
        ops.push_back(op);
    });
    RewritePatternSet unused(&getContext());
    linalg::populateEraseUnusedOperandsAndResultsPatterns(unused);
    (void)applyOpPatternsGreedily(ops, std::move(unused));
    generalizeElementwise(getOperation());
  }
};

struct RestoreElementwise final
    : rmsnorm::impl::RestoreElementwiseBase<RestoreElementwise> {
  using RestoreElementwiseBase::RestoreElementwiseBase;

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (op->removeAttr(RMSNormDialect::kElementwiseAttrName))
        ops.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (linalg::GenericOp op : ops)
      restoreElementwise(rewriter, op);
  }
};
} // namespace
