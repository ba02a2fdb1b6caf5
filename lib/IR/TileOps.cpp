// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileOps.cpp - tile level ------------------------------------------===//

#include "AccessFormat.h"
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

/// The map of an access: `map`, or the one that is not written.
static AccessMap getAccessMap(TileKind kind, Value base, bool hasRow,
                              bool hasIndex, std::optional<AffineMap> map) {
  const bool hasColumn = kind != TileKind::row;
  if (map)
    return AccessMap(*map, hasColumn);
  MLIRContext *context = base.getContext();
  if (hasIndex) {
    SmallVector<AffineExpr> results{getAffineSymbolExpr(0, context)};
    if (hasColumn)
      results.push_back(getAffineDimExpr(0, context));
    return AccessMap(AffineMap::get(hasColumn, 1, results, context), hasColumn);
  }
  const int64_t leading =
      cast<ShapedType>(base.getType()).getRank() - hasColumn;
  const unsigned rows = hasRow && leading > 0 ? leading : 0;
  return AccessMap(AccessMap::getPlain(context, rows, hasColumn), hasColumn);
}

AccessMap TileLoadOp::getAccess() {
  return getAccessMap(getKind(), getBase(), bool(getRow()), bool(getIndex()),
                      getMap());
}

AccessMap TileStoreOp::getAccess() {
  return getAccessMap(getKind(), getBase(), bool(getRow()), /*hasIndex=*/false,
                      getMap());
}

/// (C8) of rmsnorm.tile_store, of groups that lie anywhere.
static LogicalResult verifyGroupPlaces(Operation *op, const AccessMap &access,
                                       ShapedType base, VectorType vector) {
  const int64_t groups = vector.getDimSize(1);
  SmallVector<int64_t> sizes(access.getNumRowDims(), ShapedType::kDynamic);
  sizes.push_back(groups);
  bool isRight = access.isInjective(access.getColumnDim(), sizes);
  int64_t count = 1;
  for (int64_t place : access.getPlacesWithoutRow()) {
    isRight &= !base.isDynamicDim(place);
    count *= base.getDimSize(place);
  }
  for (const AccessMap::Digit &digit : access.getDigits(access.getColumnDim()))
    isRight &= digit.modulus == 0
                   ? digit.divisor != 0 && groups % digit.divisor == 0
                   : digit.modulus == base.getDimSize(digit.place);
  if (isRight && count == groups)
    return success();
  return op->emitOpError("expected as many groups of a vector as the base has "
                         "in its dimensions without a row, got ")
         << vector << " and " << base << " with the map " << access.getText();
}

/// Constraints (C1) to (C5), which the two ops share.
template <typename OpTy>
static LogicalResult verifyTile(OpTy op, VectorType vector) {
  auto base = cast<ShapedType>(op.getBase().getType());
  const int64_t rank = base.getRank();
  const bool isLoad = isa<TileLoadOp>(op);
  bool hasIndex = false;
  if constexpr (std::is_same_v<OpTy, TileLoadOp>)
    hasIndex = bool(op.getIndex());
  // (C1)
  if (base.getElementType() != vector.getElementType())
    return op.emitOpError("expected the vector's element type to be ")
           << base.getElementType() << ", got " << vector.getElementType();
  // (C2)
  const bool hasColumn = op.getKind() != TileKind::row;
  if (op.getMap() && op.getMap()->getNumDims() < hasColumn)
    return op.emitOpError("expected 'map' to have a column, got ")
           << op.getMapAttr();
  const AccessMap access = op.getAccess();
  const bool hasRow = access.getNumRowDims() > 0;
  const bool fits = static_cast<int64_t>(access.getIndices().size()) == rank &&
                    bool(op.getRow()) == hasRow;
  if (op.getMap() &&
      (!fits || !access.isValid() || op.getMap()->getNumSymbols() != hasIndex))
    return op.emitOpError("expected 'map' to have a sum of digits for each "
                          "dimension of ")
           << base << ", indices of rows if and only if there is a row, and a "
           << "symbol if and only if there is 'at', got " << access.getText();
  // What is strided is in the map until rmsnorm-strided-buffers.
  auto rows = op->template getParentOfType<RowsOp>();
  const bool isStrided = !rows || rows.getScheduleAttr();
  switch (op.getKind()) {
  case TileKind::column: // (C3)
    if ((isStrided ? rank != 1 : !fits) || op.getRow() ||
        vector.getDimSize(0) != 1)
      return op.emitOpError("expected 'column' to take a base of rank 1, no "
                            "row, and a 1xN vector, got rank ")
             << rank << " and " << vector;
    break;
  case TileKind::row: // (C3)
    if (vector.getDimSize(1) != 1 || !fits)
      return op.emitOpError("expected 'row' to take an Rx1 vector, a row "
                            "unless the base has rank 0, and no columns, got ")
             << vector << " and rank " << rank;
    return success();
  case TileKind::group:
    if (isStrided && !isLoad && op.getRow() && fits && !access.hasColumnLast())
      return verifyGroupPlaces(op, access, base, vector);
    if (rank < 1 || !fits ||
        (isStrided && base.getShape().back() != vector.getDimSize(1)))
      return op.emitOpError("expected 'group' to take a row unless the base "
                            "has rank 1, no columns, and as many groups of a "
                            "vector as the base has in its last dimension, "
                            "got ")
             << vector << " and " << base;
    break;
  case TileKind::tile:
    if (rank < 1 || !fits)
      return op.emitOpError("expected 'tile' to take a row unless the base "
                            "has rank 1, or 2 with 'at', got rank ")
             << rank;
    break;
  }
  if (!isStrided)
    return success();
  // (C4)
  const int64_t period =
      isLoad && op.getKind() == TileKind::column ? access.getPeriod() : 0;
  if (period == 0 && !access.hasColumnLast())
    return op.emitOpError("expected the last index of 'map' to be the column, "
                          "and no other to depend on it, got ")
           << access.getText();
  if (op.getKind() == TileKind::group)
    return success();
  // (C5)
  int64_t expected = base.getDimSize(rank - 1);
  if (period != 0) {
    if (expected == period && vector.getDimSize(1) % period == 0)
      return success();
    return op.emitOpError("expected columns that are repeated to be all of the "
                          "base, and to divide those of the vector, got ")
           << access.getText() << ", " << base << " and " << vector;
  }
  // It has the bound, and verifies that it, or a part of it, is the base's.
  if (rows && (rows.getDynamicColumns() || ShapedType::isDynamic(expected) ||
               expected > int64_t(rows.getColumns())))
    expected = rows.getColumns();
  if (ShapedType::isDynamic(expected))
    return op.emitOpError("expected a static last dimension of the base, "
                          "got ")
           << base;
  if (vector.getDimSize(1) != expected)
    return op.emitOpError("expected a vector of ")
           << expected << " columns, got " << vector;
  return success();
}

LogicalResult TileLoadOp::verify() {
  // (C8)
  if (Value indices = getIndex()) {
    const bool isOfRows =
        getKind() == TileKind::tile || getKind() == TileKind::row;
    if (getRow() || !isOfRows ||
        cast<VectorType>(indices.getType()).getShape() !=
            ArrayRef<int64_t>{getType().getDimSize(0), 1})
      return emitOpError("expected 'at' to give a tile or a row an index for "
                         "each row of the vector, and no row, got ")
             << stringifyTileKind(getKind()) << ", " << getType() << " and "
             << indices.getType();
    const AccessMap access = getAccess();
    if (access.getOperandPlace() < 0)
      return emitOpError("expected 'at' to be the index of one dimension, got ")
             << access.getText();
  }
  return verifyTile(*this, getType());
}

/// Whether `value`, one for each row, is the same for several rows.
static bool isSharedByRows(Value value) {
  Operation *op = value.getDefiningOp();
  auto load = dyn_cast_or_null<TileLoadOp>(op);
  if (load && !load.getIndex())
    return !load.getRow() || !load.getAccess().hasAllRows();
  return !op || llvm::all_of(op->getOperands(), isSharedByRows);
}

bool TileLoadOp::isShared() {
  return getKind() == TileKind::column ||
         (getKind() == TileKind::tile &&
          (!getAccess().hasAllRows() ||
           (getIndex() && isSharedByRows(getIndex()))));
}

LogicalResult TileStoreOp::verify() {
  if (failed(verifyTile(*this, cast<VectorType>(getValue().getType()))))
    return failure();
  // (C8)
  const AccessMap access = getAccess();
  for (unsigned dim = 0; dim < access.getNumRowDims(); ++dim)
    if (access.getDigits(dim).empty())
      return emitOpError("expected 'map' to lead each row to elements of its "
                         "own, got ")
             << access.getText();
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
  // A rmsnorm.rows on tensors reads them as they were.
  auto rows = (*this)->getParentOfType<RowsOp>();
  if (isa<MemRefType>(getBase().getType()) && !(rows && rows.hasTensors()))
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
