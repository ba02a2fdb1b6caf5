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
       expected > int64_t(rows.getColumns())))
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

//===----------------------------------------------------------------------===//
// keep
//===----------------------------------------------------------------------===//

LogicalResult KeepOp::verify() {
  auto kept = cast<VectorType>(getValue().getType());
  Type type = getAfter().getType();
  auto after = dyn_cast<VectorType>(type);
  // (C2)
  if (kept.getRank() == 1) {
    if (after ? after == VectorType::get(1, IntegerType::get(getContext(), 32))
              : !type.isIndex())
      return success();
    return emitOpError("expected 'after' of a fragment to be f32, i32 or "
                       "vector<1xi32>, got ")
           << type;
  }
  // (C1)
  auto isAfter = [&] {
    const int64_t rows = after.getDimSize(0), own = kept.getDimSize(0);
    const bool isPerRow =
        after.getDimSize(1) == 1 && after.getElementType().isF32();
    return (isPerRow || after.getDimSize(1) == kept.getDimSize(1)) &&
           (rows == own || rows == 1 || own == 1);
  };
  if (after ? after.getRank() == 2 && isAfter() : type.isIndex())
    return success();
  return emitOpError("expected 'after' of ")
         << kept << " to be a tile's number, per-row values in f32 or a tile "
         << "of as many columns, and of as many rows unless one has 1, got "
         << type;
}
