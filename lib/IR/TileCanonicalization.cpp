// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileCanonicalization.cpp - what accesses to tiles fold -------------===//

#include "RMSNorm/IR/AccessMap.h"
#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// Accesses what a cast only forgets static sizes, strides or offsets of.
template <typename OpTy> struct FoldBaseCast : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto cast = op.getBase().template getDefiningOp<memref::CastOp>();
    if (!cast || !memref::CastOp::canFoldIntoConsumerOp(cast))
      return rewriter.notifyMatchFailure(op, "base is no cast to less");
    rewriter.modifyOpInPlace(
        op, [&] { op.getBaseMutable().assign(cast.getSource()); });
    return success();
  }
};

/// Folds the subview of one whole row into the op that accesses it:
///
///   %i:2 = affine.delinearize_index %row into (%m, 8)
///   %s = memref.subview %base[%i#0, %i#1, 0] [1, 1, 4096] [1, 1, 1]
///   rmsnorm.tile_load tile %s[%c0]
/// ->
///   rmsnorm.tile_load tile %base[%row]
///
/// so that the passes below see the buffer with its strides, and nothing is
/// copied to make a row contiguous.
template <typename OpTy> struct FoldRowSubview : OpRewritePattern<OpTy> {
  using OpRewritePattern<OpTy>::OpRewritePattern;

  LogicalResult matchAndRewrite(OpTy op,
                                PatternRewriter &rewriter) const override {
    auto subview = op.getBase().template getDefiningOp<memref::SubViewOp>();
    if (!subview)
      return rewriter.notifyMatchFailure(op, "base is not a subview");
    // Of one row the number may be a constant.
    if (op->getParentOp()->hasAttr(RMSNormDialect::kRowsAttrName) &&
        subview->getBlock() != op->getBlock())
      return rewriter.notifyMatchFailure(op, "not a row of the loop");
    MemRefType source = subview.getSourceType();
    if (source.getRank() != subview.getType().getRank())
      return rewriter.notifyMatchFailure(op, "rank-reducing subview");
    if (op.getRow() && !isConstantIntValue(op.getRow(), 0))
      return rewriter.notifyMatchFailure(op, "not the subview's first row");
    const AccessMap access = op.getAccess();
    const int64_t numRowDims = access.getNumRowDims();
    SmallVector<int64_t> rowDims;
    for (int64_t dim = 0; dim < numRowDims; ++dim)
      rowDims.push_back(access.getPlace(dim));
    if (llvm::is_contained(rowDims, -1))
      return rewriter.notifyMatchFailure(op, "rows are not counted in it");
    if (op.getKind() == TileKind::column)
      return rewriter.notifyMatchFailure(op, "per-column operands have no row");
    for (int64_t dim = 0; dim < source.getRank(); ++dim) {
      if (!isOneInteger(subview.getMixedStrides()[dim]))
        return rewriter.notifyMatchFailure(op, "strided subview");
      OpFoldResult offset = subview.getMixedOffsets()[dim];
      OpFoldResult size = subview.getMixedSizes()[dim];
      if (!llvm::is_contained(rowDims, dim)) {
        // The columns must be whole: their number stays the base's.
        if (!isZeroInteger(offset) ||
            !(traceSize(size) == traceDim(subview.getSource(), dim)))
          return rewriter.notifyMatchFailure(op, "subview of columns");
        continue;
      }
      if (!isOneInteger(size))
        return rewriter.notifyMatchFailure(op, "subview of several rows");
    }
    if (op.getKind() == TileKind::tile && !op.getColumns() &&
        source.isDynamicDim(source.getRank() - 1))
      return rewriter.notifyMatchFailure(op, "columns of a dynamic buffer");
    rewriter.setInsertionPoint(op);
    OpFoldResult flatRow = getFlatRow(rewriter, op.getLoc(), subview, rowDims);
    if (!flatRow)
      return rewriter.notifyMatchFailure(
          op, "offsets are not those of one flattened row");
    if (!op.getRow() && numRowDims > 0)
      return rewriter.notifyMatchFailure(op, "no row to fold into");
    Value row =
        op.getRow()
            ? getValueOrCreateConstantIndexOp(rewriter, op.getLoc(), flatRow)
            : Value();
    rewriter.modifyOpInPlace(op, [&] {
      op.getBaseMutable().assign(subview.getSource());
      if (row)
        op.getRowMutable().assign(row);
    });
    return success();
  }

  /// The row that the offsets of `subview` lead to, or null. Rows are counted
  /// over the dimensions `dims` of its source, so those have to be the basis of
  /// the delinearisation that the offsets come from. Dimensions of size 1 do
  /// not count, and canonicalization has dropped them from the basis. Where the
  /// source has only some of the basis, or in another order, its rows are
  /// counted in those.
  static OpFoldResult getFlatRow(OpBuilder &builder, Location loc,
                                 memref::SubViewOp subview,
                                 ArrayRef<int64_t> dims) {
    SmallVector<OpFoldResult> indices;
    SmallVector<DimSource> sizes;
    for (int64_t dim : dims) {
      OpFoldResult offset = subview.getMixedOffsets()[dim];
      DimSource size = traceDim(subview.getSource(), dim);
      if (size.size == 1 && isZeroInteger(offset))
        continue;
      indices.push_back(offset);
      sizes.push_back(size);
    }
    if (indices.empty())
      return builder.getIndexAttr(0);
    if (indices.size() == 1)
      return indices.front();
    auto first = dyn_cast<Value>(indices.front());
    auto delinearize =
        first ? first.getDefiningOp<affine::AffineDelinearizeIndexOp>()
              : affine::AffineDelinearizeIndexOp();
    if (!delinearize)
      return {};
    SmallVector<OpFoldResult> basis = delinearize.getPaddedBasis();
    SmallVector<OpFoldResult> own, all;
    for (auto [result, size] : llvm::zip(delinearize.getResults(), basis))
      if (!size || !isOneInteger(size))
        all.push_back(result);
    for (auto [index, known] : llvm::zip(indices, sizes)) {
      auto result = dyn_cast<Value>(index);
      if (!result || result.getDefiningOp() != delinearize.getOperation())
        return {};
      own.push_back(basis[cast<OpResult>(result).getResultNumber()]);
      if (own.size() > 1 && !(traceSize(own.back()) == known))
        return {};
    }
    if (indices == all)
      return OpFoldResult(delinearize.getLinearIndex());
    // No affine.linearize_index, which canonicalization merges with a part of
    // the delinearisation.
    Value row = cast<Value>(indices.front());
    for (size_t i = 1; i < indices.size(); ++i)
      row = arith::AddIOp::create(
          builder, loc,
          arith::MulIOp::create(
              builder, loc, row,
              getValueOrCreateConstantIndexOp(builder, loc, own[i])),
          cast<Value>(indices[i]));
    return row;
  }
};
} // namespace

void TileLoadOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                             MLIRContext *context) {
  patterns.add<FoldBaseCast<TileLoadOp>, FoldRowSubview<TileLoadOp>>(context);
}

void TileStoreOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<FoldBaseCast<TileStoreOp>, FoldRowSubview<TileStoreOp>>(context);
}
