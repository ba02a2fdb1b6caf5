// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpsCanonicalization.cpp - folds of the operator level -------------===//
//
// Folding tensor.cast into operands and dims of results into dims of inits
// comes with the tensor dialect, for every destination-style op.
//
//===----------------------------------------------------------------------===//

#include "Norms.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::rmsnorm;

LogicalResult rmsnorm::foldMemRefCasts(Operation *op) {
  bool changed = false;
  for (OpOperand &operand : op->getOpOperands()) {
    auto cast = operand.get().getDefiningOp<memref::CastOp>();
    if (!cast || !memref::CastOp::canFoldIntoConsumerOp(cast))
      continue;
    operand.set(cast.getSource());
    changed = true;
  }
  return success(changed);
}

namespace {

/// Drops the destination of a second result without a use (rstd, dweight).
template <typename OpTy> struct DropUnusedResult : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumResults() < 2 || !op->getResult(1).use_empty())
      return rewriter.notifyMatchFailure(op, "no second result, or it is used");
    // An operation cannot lose a result: a copy loses the operand and is then
    // copied with one result.
    auto copy = cast<OpTy>(rewriter.clone(*op));
    getSecondInit(copy).clear();
    Operation *narrow = mlir::clone(
        rewriter, copy.getOperation(),
        TypeRange(copy->getResultTypes()).take_front(1), copy->getOperands());
    rewriter.eraseOp(copy);
    rewriter.replaceAllUsesWith(op->getResult(0), narrow->getResult(0));
    rewriter.eraseOp(op);
    return success();
  }

private:
  static MutableOperandRange getSecondInit(ForwardOp op) {
    return op.getRstdMutable();
  }
  static MutableOperandRange getSecondInit(BackwardOp op) {
    return op.getDweightMutable();
  }
};

/// A size that one operand's type tells is static in all of them.
template <typename OpTy> struct InferStaticSizes : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics())
      return rewriter.notifyMatchFailure(op, "not on tensors");
    auto inputType = cast<RankedTensorType>(op.getInput().getType());
    SmallVector<int64_t> shape(inputType.getShape());
    for (OpOperand &operand : op->getOpOperands())
      for (auto [size, theirs] :
           llvm::zip(getSizes(op, shape, operand),
                     cast<ShapedType>(operand.get().getType()).getShape()))
        if (ShapedType::isDynamic(size))
          size = theirs;

    SmallVector<Value> operands;
    for (OpOperand &operand : op->getOpOperands()) {
      auto type = cast<RankedTensorType>(operand.get().getType());
      auto refined = type.clone(getSizes(op, shape, operand));
      operands.push_back(operand.get());
      if (type != refined)
        operands.back() = tensor::CastOp::create(rewriter, op.getLoc(), refined,
                                                 operand.get());
    }
    if (llvm::equal(operands, op->getOperands()))
      return rewriter.notifyMatchFailure(op, "nothing to infer");
    SmallVector<Type> types;
    for (OpOperand &init : op.getDpsInitsMutable())
      types.push_back(operands[init.getOperandNumber()].getType());
    Operation *refined =
        mlir::clone(rewriter, op.getOperation(), types, operands);
    SmallVector<Value> results;
    for (auto [result, type] :
         llvm::zip(refined->getResults(), op->getResultTypes())) {
      results.push_back(result);
      if (result.getType() != type)
        results.back() =
            tensor::CastOp::create(rewriter, op.getLoc(), type, result);
    }
    rewriter.replaceOp(op, results);
    return success();
  }

private:
  /// The part of input's shape that `operand` has: all, the leading dimensions
  /// (rstd) or the last one.
  static MutableArrayRef<int64_t>
  getSizes(OpTy op, MutableArrayRef<int64_t> shape, OpOperand &operand) {
    if (operand.get() == op.getWeight() || operand.get() == op.getDweight())
      return shape.take_back();
    if (operand.get() == op.getRstd())
      return shape.drop_back();
    return shape;
  }
};

/// Multiplying by exactly 1 changes nothing, in any casting mode.
template <typename OpTy> struct DropUnitWeight : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    DenseElementsAttr weight;
    if (!op.getWeight() || !matchPattern(op.getWeight(), m_Constant(&weight)) ||
        !weight.isSplat())
      return rewriter.notifyMatchFailure(op, "weight is not a splat constant");
    if (op.getDweight())
      return rewriter.notifyMatchFailure(op, "its gradient is asked for");
    APFloat value = weight.template getSplatValue<APFloat>();
    bool losesInfo;
    value.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
    value.add(op.getOffset(), APFloat::rmNearestTiesToEven);
    if (!value.isExactlyValue(1.0))
      return rewriter.notifyMatchFailure(op, "weight + offset is not 1");
    rewriter.modifyOpInPlace(op, [&] {
      op.getWeightMutable().clear();
      op.setOffset(APFloat(0.0f));
    });
    return success();
  }
};

template <typename OpTy>
void addPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropUnusedResult<OpTy>, InferStaticSizes<OpTy>,
               DropUnitWeight<OpTy>>(context);
}

} // namespace

void ForwardOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  addPatterns<ForwardOp>(patterns, context);
}

void BackwardOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  addPatterns<BackwardOp>(patterns, context);
}
