// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileOps.cpp - tile level ------------------------------------------===//

#include "EnumFormat.h"

#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// row_reduce's `add(%a), maximumf(%b)`.
static ParseResult
parseReductions(OpAsmParser &parser, ArrayAttr &kinds,
                SmallVectorImpl<OpAsmParser::UnresolvedOperand> &inputs) {
  SmallVector<Attribute> attributes;
  auto parseOne = [&]() -> ParseResult {
    StringRef keyword;
    SMLoc loc = parser.getCurrentLocation();
    if (parser.parseKeyword(&keyword))
      return failure();
    std::optional<ReduceKind> kind = symbolizeReduceKind(keyword);
    if (!kind)
      return parser.emitError(loc) << "expected a reduction kind (add, "
                                      "maximumf, minimumf, mul, maxnumf, "
                                      "minnumf), got '"
                                   << keyword << "'";
    attributes.push_back(ReduceKindAttr::get(parser.getContext(), *kind));
    return failure(parser.parseLParen() ||
                   parser.parseOperand(inputs.emplace_back()) ||
                   parser.parseRParen());
  };
  if (parser.parseCommaSeparatedList(parseOne))
    return failure();
  kinds = parser.getBuilder().getArrayAttr(attributes);
  return success();
}

static void printReductions(OpAsmPrinter &printer, Operation *, ArrayAttr kinds,
                            OperandRange inputs) {
  llvm::interleaveComma(llvm::zip(kinds, inputs), printer, [&](auto reduction) {
    auto [kind, input] = reduction;
    printer << stringifyReduceKind(cast<ReduceKindAttr>(kind).getValue()) << "("
            << input << ")";
  });
}

#define GET_OP_CLASSES
#include "RMSNorm/IR/RMSNormTileOps.cpp.inc"

//===----------------------------------------------------------------------===//
// tile_load, tile_store
//===----------------------------------------------------------------------===//

SmallVector<int64_t> TileStoreOp::getGroupDims() {
  return llvm::filter_to_vector(
      llvm::seq<int64_t>(0, cast<ShapedType>(getBase().getType()).getRank()),
      [&](int64_t dim) { return !llvm::is_contained(*getRowDims(), dim); });
}

/// (C8) of rmsnorm.tile_store
static LogicalResult verifyRowDims(TileStoreOp op, VectorType vector) {
  auto base = cast<ShapedType>(op.getBase().getType());
  ArrayRef<int64_t> dims = *op.getRowDims();
  const llvm::SmallDenseSet<int64_t> seen(dims.begin(), dims.end());
  if (op.getKind() != TileKind::group || !op.getRow() || op.getColumns() ||
      dims.empty() || seen.size() != dims.size() ||
      llvm::any_of(
          dims, [&](int64_t dim) { return dim < 0 || dim >= base.getRank(); }))
    return op.emitOpError("expected 'row_dims' of a 'group' with a row, and "
                          "different dimensions of ")
           << base << ", got " << op.getRowDimsAttr();
  const SmallVector<int64_t> groups = llvm::map_to_vector(
      op.getGroupDims(), [&](int64_t dim) { return base.getDimSize(dim); });
  if (!ShapedType::isDynamicShape(groups) &&
      ShapedType::getNumElements(groups) == vector.getDimSize(1))
    return success();
  return op.emitOpError("expected as many groups of a vector as the base has "
                        "in its dimensions that are not 'row_dims', got ")
         << vector << " and " << base;
}

/// Constraints (C1) to (C5), which the two ops share.
template <typename OpTy>
static LogicalResult verifyTile(OpTy op, VectorType vector) {
  auto base = cast<ShapedType>(op.getBase().getType());
  const int64_t rank = base.getRank();
  bool isGathered = false;
  if constexpr (std::is_same_v<OpTy, TileLoadOp>)
    isGathered = bool(op.getGather());
  // (C1)
  if (base.getElementType() != vector.getElementType())
    return op.emitOpError("expected the vector's element type to be ")
           << base.getElementType() << ", got " << vector.getElementType();
  if constexpr (std::is_same_v<OpTy, TileStoreOp>)
    if (op.getRowDims())
      return verifyRowDims(op, vector);
  switch (op.getKind()) {
  case TileKind::column: // (C2)
    if (rank != 1 || op.getRow() || vector.getDimSize(0) != 1)
      return op.emitOpError("expected 'column' to take a base of rank 1, no "
                            "row, and a 1xN vector, got rank ")
             << rank << " and " << vector;
    break;
  case TileKind::row: // (C3)
    if (vector.getDimSize(1) != 1 || op.getColumns() ||
        bool(op.getRow()) != (rank > 0 && !isGathered))
      return op.emitOpError("expected 'row' to take an Rx1 vector, a row "
                            "unless the base has rank 0, and no columns, got ")
             << vector << " and rank " << rank;
    return success();
  case TileKind::group:
    if (rank < 1 || bool(op.getRow()) != (rank > 1) || op.getColumns() ||
        base.getShape().back() != vector.getDimSize(1))
      return op.emitOpError("expected 'group' to take a row unless the base "
                            "has rank 1, no columns, and as many groups of a "
                            "vector as the base has in its last dimension, "
                            "got ")
             << vector << " and " << base;
    return success();
  case TileKind::tile: // (C4)
    if (rank < 1 || bool(op.getRow()) != (rank > 1 && !isGathered))
      return op.emitOpError("expected 'tile' to take a row unless the base "
                            "has rank 1, got rank ")
             << rank;
    break;
  }
  // (C5)
  int64_t columns = base.getDimSize(rank - 1);
  int64_t expected = op.getColumns() ? kDynamicColumns : columns;
  // It has the bound, and verifies that it, or a part of it, is the base's.
  if (auto rows = op->template getParentOfType<RowsOp>();
      rows && !op.getColumns() &&
      (rows.getDynamicColumns() || ShapedType::isDynamic(expected) ||
       expected > rows.getColumns()))
    expected = rows.getColumns();
  if (ShapedType::isDynamic(expected))
    return op.emitOpError("expected 'columns', as the base has a dynamic last "
                          "dimension");
  const bool repeats = isa<TileLoadOp>(op) &&
                       op.getKind() == TileKind::column && !op.getColumns() &&
                       expected > 0 && vector.getDimSize(1) % expected == 0;
  if (vector.getDimSize(1) != expected && !repeats)
    return op.emitOpError("expected a vector of ")
           << expected << " columns, got " << vector;
  return success();
}

LogicalResult TileLoadOp::verify() {
  // (C6), the rest of it in rmsnorm.rows
  if (getDims() && (!getRow() || !(*this)->getParentOfType<RowsOp>()))
    return emitOpError("expected 'dims' in rmsnorm.rows only, and with a row");
  // (C8)
  if (Value indices = getGather()) {
    const int64_t rank = cast<ShapedType>(getBase().getType()).getRank();
    const bool isTile = getKind() == TileKind::tile;
    if (getRow() || rank != (isTile ? 2 : 1) ||
        (!isTile && getKind() != TileKind::row) ||
        cast<VectorType>(indices.getType()).getShape() !=
            ArrayRef<int64_t>{getType().getDimSize(0), 1})
      return emitOpError("expected 'gather' to take a tile of a base of rank 2 "
                         "or a row of one of rank 1, no row, and an index for "
                         "each row of the vector, got ")
             << stringifyTileKind(getKind()) << ", " << getBase().getType()
             << " and " << indices.getType();
  }
  return verifyTile(*this, getType());
}

/// Whether `value`, one for each row, is the same for several rows.
static bool isSharedByRows(Value value) {
  Operation *op = value.getDefiningOp();
  auto load = dyn_cast_or_null<TileLoadOp>(op);
  if (load && !load.getGather())
    return !load.getRow() || load.getDims();
  return !op || llvm::all_of(op->getOperands(), isSharedByRows);
}

bool TileLoadOp::isShared() {
  return getKind() == TileKind::column ||
         (getKind() == TileKind::tile &&
          (getDims() || (getGather() && isSharedByRows(getGather()))));
}

LogicalResult TileStoreOp::verify() {
  if (failed(verifyTile(*this, cast<VectorType>(getValue().getType()))))
    return failure();
  // (C7)
  bool tensor = isa<RankedTensorType>(getBase().getType());
  if (tensor != bool(getResult()) ||
      (tensor && getResult().getType() != getBase().getType()))
    return emitOpError("expected a result of the base's type if and only if "
                       "that is a tensor, got base ")
           << getBase().getType();
  return success();
}

void TileLoadOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (isa<MemRefType>(getBase().getType()))
    effects.emplace_back(MemoryEffects::Read::get(), &getBaseMutable());
}

void TileStoreOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (isa<MemRefType>(getBase().getType()))
    effects.emplace_back(MemoryEffects::Write::get(), &getBaseMutable());
}

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
    int64_t numRowDims =
        source.getRank() - (op.getKind() == TileKind::row ? 0 : 1);
    auto rowDims = llvm::to_vector(llvm::seq<int64_t>(0, numRowDims));
    if constexpr (std::is_same_v<OpTy, TileStoreOp>)
      if (op.getRowDims())
        rowDims.assign(op.getRowDims()->begin(), op.getRowDims()->end());
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
        source.isDynamicDim(numRowDims))
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

//===----------------------------------------------------------------------===//
// row_reduce
//===----------------------------------------------------------------------===//

LogicalResult RowReduceOp::verify() {
  // (C1)
  if (getInputs().empty() || getKinds().size() != getInputs().size() ||
      getNumResults() != getInputs().size())
    return emitOpError("expected as many kinds and results as inputs, at least "
                       "one, got ")
           << getKinds().size() << " kinds, " << getInputs().size()
           << " inputs, " << getNumResults() << " results";
  auto first = cast<VectorType>(getInputs().front().getType());
  for (auto [input, result] : llvm::zip(getInputs(), getResults())) {
    auto type = cast<VectorType>(input.getType());
    auto expected =
        VectorType::get({type.getDimSize(0), 1}, type.getElementType());
    // (C2)
    if (type.getShape() != first.getShape() ||
        !isa<FloatType>(type.getElementType()))
      return emitOpError("expected float inputs of one shape, got ")
             << first << " and " << type;
    if (result.getType() != expected)
      return emitOpError("expected a result of type ")
             << expected << ", got " << result.getType();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// group_reduce, group_broadcast
//===----------------------------------------------------------------------===//

/// (C2): `groups`, RxK, has groups of the columns of `tile`, RxN.
static LogicalResult verifyGroups(Operation *op, VectorType tile,
                                  VectorType groups) {
  const int64_t columns = tile.getDimSize(1), count = groups.getDimSize(1);
  if (tile.getDimSize(0) == groups.getDimSize(0) && count > 1 &&
      count < columns && columns % count == 0)
    return success();
  return op->emitOpError("expected RxN and RxK elements, where K divides N and "
                         "1 < K < N, got ")
         << tile << " and " << groups;
}

LogicalResult GroupReduceOp::verify() {
  auto type = cast<VectorType>(getInput().getType());
  // (C1)
  if (!type.getElementType().isF32())
    return emitOpError("expected elements of f32, got ") << type;
  return verifyGroups(*this, type, cast<VectorType>(getResult().getType()));
}

LogicalResult GroupBroadcastOp::verify() {
  return verifyGroups(*this, cast<VectorType>(getResult().getType()),
                      cast<VectorType>(getValue().getType()));
}
