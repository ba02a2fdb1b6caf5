// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileOps.cpp - tile level ------------------------------------------===//

#include "AccessFormat.h"
#include "EnumFormat.h"

#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/IR/TileTypes.h"

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
                              unsigned numIndices,
                              std::optional<AffineMap> map) {
  const bool hasColumn = kind != TileKind::row;
  if (map)
    return AccessMap(*map, hasColumn);
  MLIRContext *context = base.getContext();
  if (numIndices == 1 && !hasRow) {
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
  return getAccessMap(getKind(), getBase(), bool(getRow()), getIndices().size(),
                      getMap());
}

AccessMap TileStoreOp::getAccess() {
  return getAccessMap(getKind(), getBase(), bool(getRow()), getIndices().size(),
                      getMap());
}

/// (C8) of rmsnorm.tile_store, of groups that lie anywhere.
static LogicalResult verifyGroupPlaces(Operation *op, const AccessMap &access,
                                       ShapedType base, VectorType vector) {
  const int64_t groups = getNumColumns(vector);
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

/// Whether the columns of `vector` are several indices of `base`, within its
/// sizes, each column's once and those of the innermost digit side by side.
static bool hasColumnsInDigits(const AccessMap &access, ShapedType base,
                               VectorType vector) {
  const int64_t columns = getNumColumns(vector);
  SmallVector<int64_t> sizes(access.getNumRowDims(), ShapedType::kDynamic);
  sizes.push_back(columns);
  bool fits = access.getColumnRun(columns) != 0 &&
              access.isInjective(access.getColumnDim(), sizes);
  SmallVector<int64_t> most(base.getRank());
  for (const AccessMap::Digit &digit : access.getDigits(access.getColumnDim()))
    most[digit.place] += digit.factor * (access.getRange(digit, sizes) - 1);
  for (auto [place, index] : llvm::enumerate(access.getIndices()))
    fits &= base.isDynamicDim(place) ||
            index.offset + most[place] < base.getDimSize(place);
  return fits;
}

/// Constraints (C1) to (C5), which the two ops share.
template <typename OpTy>
static LogicalResult verifyTile(OpTy op, VectorType vector) {
  auto base = cast<ShapedType>(op.getBase().getType());
  const int64_t rank = base.getRank();
  const bool isLoad = isa<TileLoadOp>(op);
  const unsigned numIndices = op.getIndices().size();
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
  if ((op.getMap() || numIndices != 0) &&
      (!fits || !access.isValid() ||
       access.getMap().getNumSymbols() != numIndices))
    return op.emitOpError("expected 'map' to have a sum of digits for each "
                          "dimension of ")
           << base << ", indices of rows if and only if there is a row, and a "
           << "symbol for each of 'at', got " << access.getText();
  for (auto [number, indices] : llvm::enumerate(op.getIndices())) {
    auto type = cast<VectorType>(indices.getType());
    if (type.getShape() != getPerRowType(vector).getShape() ||
        op.getKind() == TileKind::column ||
        (isLoad && op.getKind() == TileKind::group))
      return op.emitOpError("expected 'at' to give ")
             << (isLoad ? "a tile or a row" : "a tile, a row or groups")
             << " an index for each row of the vector, got "
             << stringifyTileKind(op.getKind()) << ", " << vector << " and "
             << type;
    if (access.getOperandPlace(number) < 0)
      return op.emitOpError("expected each of 'at' to be the index of one "
                            "dimension, got ")
             << access.getText();
  }
  // What is strided is in the map until rmsnorm-strided-buffers.
  auto rows = op->template getParentOfType<RowsOp>();
  const bool isStrided = !rows || rows.getScheduleAttr();
  switch (op.getKind()) {
  case TileKind::column: // (C3)
    if ((isStrided && access.hasColumnLast() ? rank != 1 : !fits) ||
        op.getRow() || vector.getDimSize(0) != 1)
      return op.emitOpError("expected 'column' to take a base of rank 1, no "
                            "row, and a 1xN vector, got rank ")
             << rank << " and " << vector;
    break;
  case TileKind::row: // (C3)
    if (getNumColumns(vector) != 1 || !fits)
      return op.emitOpError("expected 'row' to take an Rx1 vector, a row "
                            "unless the base has rank 0, and no columns, got ")
             << vector << " and rank " << rank;
    return success();
  case TileKind::group:
    if (isStrided && !isLoad && (hasRow || numIndices != 0) && fits &&
        !access.hasColumnLast())
      return verifyGroupPlaces(op, access, base, vector);
    if (rank < 1 || !fits ||
        (isStrided && access.hasColumnLast() &&
         base.getShape().back() != getNumColumns(vector)))
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
  if (!access.hasColumnLast() && rows &&
      hasColumnsInDigits(access, base, vector))
    return success();
  if (!access.hasColumnLast())
    return op.emitOpError("expected the last index of 'map' to be the column, "
                          "and no other to depend on it, or all of its digits "
                          "to be indices, the innermost one the last, got ")
           << access.getText();
  if (op.getKind() == TileKind::group)
    return success();
  // (C5)
  int64_t expected = base.getDimSize(rank - 1);
  // It has the bound, and verifies that it, or a part of it, is the base's.
  if (rows && (rows.getDynamicColumns() || ShapedType::isDynamic(expected) ||
               expected > int64_t(rows.getColumns())))
    expected = rows.getColumns();
  if (ShapedType::isDynamic(expected))
    return op.emitOpError("expected a static last dimension of the base, "
                          "got ")
           << base;
  if (getNumColumns(vector) != expected)
    return op.emitOpError("expected a vector of ")
           << expected << " columns, got " << vector;
  return success();
}

LogicalResult TileLoadOp::verify() { return verifyTile(*this, getType()); }

/// Whether `value`, one for each row, is the same for several rows.
static bool isSharedByRows(Value value) {
  Operation *op = value.getDefiningOp();
  auto load = dyn_cast_or_null<TileLoadOp>(op);
  if (load && load.getIndices().empty())
    return !load.getRow() || !load.getAccess().hasAllRows();
  return !op || llvm::all_of(op->getOperands(), isSharedByRows);
}

bool TileLoadOp::isShared() {
  return getKind() == TileKind::column ||
         (getKind() == TileKind::tile &&
          (getIndices().empty()
               ? !getAccess().hasAllRows()
               : llvm::all_of(getIndices(), isSharedByRows) &&
                     (!getRow() || !getAccess().hasAllRows())));
}

LogicalResult TileStoreOp::verify() {
  if (failed(verifyTile(*this, cast<VectorType>(getValue().getType()))))
    return failure();
  // (C9)
  if (getSkipNegative() && getIndices().empty())
    return emitOpError(
        "expected 'skip_negative' only where 'at' gives indices");
  // (C8)
  const AccessMap access = getAccess();
  for (unsigned dim = 0; dim < access.getNumRowDims(); ++dim)
    if (getIndices().empty() && access.getDigits(dim).empty())
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
    const VectorType expected = getPerRowType(type);
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
// group_reduce
//===----------------------------------------------------------------------===//

LogicalResult GroupReduceOp::verify() {
  auto type = cast<VectorType>(getInput().getType());
  auto groups = cast<VectorType>(getResult().getType());
  // (C1)
  if (!type.getElementType().isF32())
    return emitOpError("expected elements of f32, got ") << type;
  // (C2)
  const auto own = getColumnShape(groups), whole = getColumnShape(type);
  if (groups.getDimSize(0) == type.getDimSize(0) && isPerColumn(groups) &&
      own != whole && hasGroups(own, whole))
    return success();
  return emitOpError("expected a result with the rows and the outermost digits "
                     "of the input, and size 1 for the others, got ")
         << type << " and " << groups;
}

//===----------------------------------------------------------------------===//
// take, put
//===----------------------------------------------------------------------===//

/// (C1)
static LogicalResult verifyPart(Operation *op, VectorType part, VectorType row,
                                ArrayRef<int64_t> at) {
  bool fits = part.getRank() == row.getRank() &&
              part.getDimSize(0) == row.getDimSize(0) &&
              at.size() == getColumnShape(row).size();
  if (fits)
    for (auto [begin, own, whole] :
         llvm::zip(at, getColumnShape(part), getColumnShape(row)))
      fits &= begin >= 0 && begin <= whole - own;
  if (fits)
    return success();
  InFlightDiagnostic error = op->emitOpError(
      "expected a part with the rows of the row, and for each digit where it "
      "begins and indices that the row has, got ");
  error << part << " of " << row << " at [";
  llvm::interleaveComma(at, error);
  return error << "]";
}

LogicalResult TakeOp::verify() {
  // (C2)
  if (!isPerColumn(getType()) && isPerColumn(getRow().getType()))
    return emitOpError("expected several columns of a row to be taken, got ")
           << getRow().getType() << " and " << getType();
  return verifyPart(*this, cast<VectorType>(getResult().getType()),
                    cast<VectorType>(getRow().getType()), getAt());
}

LogicalResult PutOp::verify() {
  return verifyPart(*this, cast<VectorType>(getPart().getType()),
                    cast<VectorType>(getRow().getType()), getAt());
}

/// Whether all of the columns of `type` at `at` are among those of `other` at
/// `begin`; none if some are.
static std::optional<bool> areAmong(Type type, ArrayRef<int64_t> at, Type other,
                                    ArrayRef<int64_t> begin) {
  bool isIn = true;
  for (auto [own, first, size, otherFirst] :
       llvm::zip(getColumnShape(cast<VectorType>(type)), at,
                 getColumnShape(cast<VectorType>(other)), begin)) {
    if (first + own <= otherFirst || otherFirst + size <= first)
      return false;
    isIn &= otherFirst <= first && first + own <= otherFirst + size;
  }
  return isIn ? std::optional<bool>(true) : std::nullopt;
}

OpFoldResult TakeOp::fold(FoldAdaptor adaptor) {
  if (getRow().getType() == getType())
    return getRow();
  if (auto splat = dyn_cast_if_present<SplatElementsAttr>(adaptor.getRow()))
    return splat.resizeSplat(cast<ShapedType>(getType()));
  if (auto taken = getRow().getDefiningOp<TakeOp>()) {
    SmallVector<int64_t> at(getAt());
    for (auto [own, begin] : llvm::zip(at, taken.getAt()))
      own += begin;
    setAt(at);
    getRowMutable().assign(taken.getRow());
    return getResult();
  }
  // What was put into the row, or the row that it was put into.
  auto put = getRow().getDefiningOp<PutOp>();
  if (!put)
    return {};
  std::optional<bool> isPut =
      areAmong(getType(), getAt(), put.getPart().getType(), put.getAt());
  if (!isPut)
    return {};
  if (*isPut) {
    SmallVector<int64_t> at(getAt());
    for (auto [own, begin] : llvm::zip(at, put.getAt()))
      own -= begin;
    setAt(at);
  }
  getRowMutable().assign(*isPut ? put.getPart() : put.getRow());
  return getResult();
}

OpFoldResult PutOp::fold(FoldAdaptor adaptor) {
  if (getPart().getType() == getType())
    return getPart();
  auto part = dyn_cast_if_present<SplatElementsAttr>(adaptor.getPart());
  auto row = dyn_cast_if_present<SplatElementsAttr>(adaptor.getRow());
  if (part && row &&
      part.getSplatValue<Attribute>() == row.getSplatValue<Attribute>())
    return getRow();
  auto taken = getPart().getDefiningOp<TakeOp>();
  if (taken && taken.getRow() == getRow() && taken.getAt() == getAt())
    return getRow();
  return {};
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
        getNumColumns(after) == 1 && after.getElementType().isF32();
    return (isPerRow || getColumnShape(after) == getColumnShape(kept)) &&
           (rows == own || rows == 1 || own == 1);
  };
  if (after ? after.getRank() == kept.getRank() && isAfter() : type.isIndex())
    return success();
  return emitOpError("expected 'after' of ")
         << kept << " to be a tile's number, per-row values in f32 or a tile "
         << "of the same columns, and of as many rows unless one has 1, got "
         << type;
}
