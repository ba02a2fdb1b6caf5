// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandShapes.cpp - dimensions with several unknown parts ----------===//

#include "RMSNorm/IR/ExpandShapes.h"

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

void rmsnorm::expandSeveralSizes(FunctionOpInterface function) {
  IRRewriter rewriter(function.getContext());
  function->walk([&](memref::ExpandShapeOp op) { replace(rewriter, op); });
}
