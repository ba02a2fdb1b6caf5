// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HardViews.cpp - views that MLIR takes for others ------------------===//

#include "RMSNorm/IR/HardViews.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static void replace(RewriterBase &rewriter, memref::ExpandShapeOp op) {
  auto isSeveral = [&](const ReassociationIndices &group) {
    return llvm::count_if(group, [&](int64_t part) {
             return op.getResultType().isDynamicDim(part);
           }) > 1;
  };
  if (llvm::none_of(op.getReassociationIndices(), isSeveral))
    return;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  SmallVector<OpFoldResult> strides(sizes.size());
  auto source =
      memref::ExtractStridedMetadataOp::create(rewriter, loc, op.getSrc());
  SmallVector<OpFoldResult> outer = source.getConstifiedMixedStrides();
  AffineExpr a, b;
  bindSymbols(rewriter.getContext(), a, b);
  for (auto [dim, group] : llvm::enumerate(op.getReassociationIndices())) {
    OpFoldResult stride = outer[dim];
    for (int64_t part : llvm::reverse(group)) {
      strides[part] = stride;
      stride = affine::makeComposedFoldedAffineApply(rewriter, loc, a * b,
                                                     {stride, sizes[part]});
    }
  }
  rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
      op, op.getResultType(), source.getBaseBuffer(),
      source.getConstifiedMixedOffset(), sizes, strides);
}

llvm::SmallBitVector rmsnorm::getDroppedDims(memref::SubViewOp op) {
  llvm::SmallBitVector dropped(op.getSourceType().getRank());
  auto mask =
      computeRankReductionMask(op.getStaticSizes(), op.getType().getShape());
  if (!mask)
    return op.getDroppedDims();
  for (unsigned dim : *mask)
    dropped.set(dim);
  return dropped;
}

static void replace(RewriterBase &rewriter, memref::SubViewOp op) {
  const llvm::SmallBitVector dropped = getDroppedDims(op);
  auto getSizes = [&](const llvm::SmallBitVector &without) {
    SmallVector<OpFoldResult> sizes;
    for (auto [dim, size] : llvm::enumerate(op.getMixedSizes()))
      if (!without.test(dim))
        sizes.push_back(size);
    return sizes;
  };
  const SmallVector<OpFoldResult> sizes = getSizes(dropped);
  if (sizes == getSizes(op.getDroppedDims()))
    return;
  Location loc = op.getLoc();
  rewriter.setInsertionPoint(op);
  auto source =
      memref::ExtractStridedMetadataOp::create(rewriter, loc, op.getSource());
  OpFoldResult offset = source.getConstifiedMixedOffset();
  SmallVector<OpFoldResult> strides;
  AffineExpr a, b, c;
  bindSymbols(rewriter.getContext(), a, b, c);
  for (auto [dim, begin, step, stride] :
       llvm::enumerate(op.getMixedOffsets(), op.getMixedStrides(),
                       source.getConstifiedMixedStrides())) {
    offset = affine::makeComposedFoldedAffineApply(rewriter, loc, a + b * c,
                                                   {offset, begin, stride});
    if (dropped.test(dim))
      continue;
    strides.push_back(affine::makeComposedFoldedAffineApply(
        rewriter, loc, a * b, {step, stride}));
  }
  rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
      op, op.getType(), source.getBaseBuffer(), offset, sizes, strides);
}

void rmsnorm::replaceHardViews(FunctionOpInterface function) {
  IRRewriter rewriter(function.getContext());
  function->walk([&](Operation *op) {
    if (auto expand = dyn_cast<memref::ExpandShapeOp>(op))
      replace(rewriter, expand);
    else if (auto slice = dyn_cast<memref::SubViewOp>(op))
      replace(rewriter, slice);
  });
}
