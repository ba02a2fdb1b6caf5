// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AccessVerifier.cpp - what rmsnorm.rows does with its buffers ------===//

#include "AccessVerifier.h"

#include "RMSNorm/IR/TileTypes.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;

LogicalResult AccessVerifier::verifyShape(Operation *op, Value buffer,
                                          TileKind kind,
                                          std::optional<ArrayRef<int64_t>> dims,
                                          std::optional<int64_t> part) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return op->emitOpError("expected a strided buffer, got ") << type;
  SmallVector<int64_t> sizes(rows.getStaticSizes());
  ArrayRef<int64_t> leading = type.getShape();
  if (kind != TileKind::row) {
    if (strides.empty() || strides.back() != 1)
      return op->emitOpError("expected an inner stride of 1, got ") << type;
    leading = leading.drop_back();
    // With `dynamic_columns` a buffer's type may still know their number.
    const int64_t last = type.getShape().back();
    const int64_t columns = part.value_or(rows.getColumns());
    const bool isGroups = !rows.getDynamicColumns() &&
                          !ShapedType::isDynamic(last) &&
                          (kind == TileKind::group ||
                           (kind == TileKind::column && isa<TileLoadOp>(op)));
    if (isGroups                   ? rows.getColumns() % last != 0
        : rows.getDynamicColumns() ? last > columns
                                   : last != columns)
      return op->emitOpError("expected a buffer with the columns of "
                             "rmsnorm.rows, got ")
             << type;
  }
  if (auto load = dyn_cast<TileLoadOp>(op); load && load.getGather())
    return success();
  if (dims) {
    // tile_load (C6)
    const int64_t count = sizes.size();
    if (dims->size() != leading.size() ||
        !llvm::is_sorted(*dims, std::less_equal<>()) ||
        (!dims->empty() && (dims->front() < 0 || dims->back() >= count)))
      return op->emitOpError("expected increasing 'dims' from 0 to ")
             << count - 1 << ", one for each of the " << leading.size()
             << " leading dimensions of " << type;
    sizes = llvm::map_to_vector(
        *dims, [&](int64_t dim) { return rows.getStaticSizes()[dim]; });
  } else if (kind == TileKind::column ||
             (leading.empty() &&
              (rows.hasSingleRow() ||
               (kind != TileKind::tile && isa<TileLoadOp>(op))))) {
    // One value for all rows may be read.
    return success();
  } else if (leading.size() == 1) { // all rows, flattened
    sizes.assign(1, ShapedType::isDynamicShape(sizes)
                        ? ShapedType::kDynamic
                        : ShapedType::getNumElements(sizes));
  }
  if (failed(verifyCompatibleShape(sizes, leading)))
    return op->emitOpError("expected a buffer with the leading sizes of "
                           "rmsnorm.rows, got ")
           << type;
  return success();
}

/// tile_store (C8)
LogicalResult AccessVerifier::verifyRowDims(TileStoreOp op) {
  auto type = cast<MemRefType>(op.getBase().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return op.emitOpError("expected a strided buffer, got ") << type;
  ArrayRef<int64_t> sizes = rows.getStaticSizes();
  const SmallVector<int64_t> own = llvm::map_to_vector(
      *op.getRowDims(), [&](int64_t dim) { return type.getDimSize(dim); });
  const bool isCounted =
      !ShapedType::isDynamicShape(ArrayRef(own).drop_front());
  if (!isCounted && failed(verifyCompatibleShape(own, sizes)))
    return op.emitOpError("expected 'row_dims' of static sizes but for the "
                          "first, or of the leading sizes of rmsnorm.rows, "
                          "got ")
           << type;
  if (!ShapedType::isDynamicShape(own) && !ShapedType::isDynamicShape(sizes) &&
      ShapedType::getNumElements(own) < ShapedType::getNumElements(sizes))
    return op.emitOpError("expected a buffer of at least ")
           << ShapedType::getNumElements(sizes) << " rows, got " << type;
  const int64_t groups =
      cast<VectorType>(op.getValue().getType()).getDimSize(1);
  if (rows.getDynamicColumns() || rows.getColumns() % groups != 0)
    return op.emitOpError("expected groups of the columns of rmsnorm.rows, "
                          "got ")
           << op.getValue().getType();
  return success();
}

Region *mlir::rmsnorm::getTilesRegion(Operation *op) {
  Region *region = op->getParentRegion();
  while (region && !isa<TilesOp, RowsOp>(region->getParentOp()))
    region = region->getParentRegion();
  return region && isa<TilesOp>(region->getParentOp()) ? region : nullptr;
}

template <typename OpTy>
LogicalResult AccessVerifier::verifyAccess(OpTy op, VectorType tile,
                                           bool writes, bool isPlaced) {
  if (!llvm::is_contained(rows.getBufferArguments(), op.getBase()))
    return op.emitOpError("expected a buffer of the rmsnorm.rows it is in");
  if (op.getColumns())
    return op.emitOpError("expected no 'columns', as rmsnorm.rows says how "
                          "many there are");
  AccessAttr access = rows.getAccess(op.getBase());
  if (writes ? !access.writes() : !access.reads())
    return op.emitOpError("expected a buffer that rmsnorm.rows ")
           << (writes ? "writes" : "reads") << ", got '"
           << stringifyAccessKind(access.getKind()) << "'";
  if (Value row = op.getRow()) {
    Region *region = getTilesRegion(op);
    if (!region || row != region->getArgument(0))
      return op.emitOpError("expected the number of the tile, the first "
                            "argument of the region of rmsnorm.tiles");
  }
  const int64_t count = tile.getDimSize(0);
  ScheduleAttr schedule = rows.getScheduleAttr();
  const int64_t expected = schedule ? schedule.getTileRows() : 1;
  // One value for all rows.
  const bool hasRows = op.getKind() != TileKind::column && op.getRow();
  if (isPlaced && hasRows && count != expected)
    return op.emitOpError("expected a tile of ")
           << expected << " rows, as the schedule says, got " << tile;
  std::optional<ArrayRef<int64_t>> dims;
  Attribute dimsAttr;
  if constexpr (std::is_same_v<OpTy, TileLoadOp>) {
    dims = op.getDims();
    dimsAttr = op.getDimsAttr();
  } else {
    dimsAttr = op.getRowDimsAttr();
  }
  // Any rows of a table.
  if constexpr (std::is_same_v<OpTy, TileLoadOp>)
    if (op.getGather())
      return verifyShape(op, op.getBase(), op.getKind(), dims,
                         tile.getDimSize(1));
  auto [known, isNew] = accesses.try_emplace(
      op.getBase(), std::make_pair(bool(op.getRow()), dimsAttr));
  if (!isNew && known->second != std::make_pair(bool(op.getRow()), dimsAttr))
    return op.emitOpError("expected all accesses to a buffer to have the same "
                          "'dims' or 'row_dims', and a row or none");
  if constexpr (std::is_same_v<OpTy, TileStoreOp>)
    if (op.getRowDims())
      return verifyRowDims(op);
  if (op.getKind() == TileKind::row && !op.getRow() && !writes)
    return success();
  return verifyShape(op, op.getBase(), op.getKind(), dims, tile.getDimSize(1));
}

LogicalResult AccessVerifier::verify(TileLoadOp load, bool isPlaced) {
  return verifyAccess(load, load.getType(), /*writes=*/false, isPlaced);
}

LogicalResult AccessVerifier::verify(TileStoreOp store, bool isPlaced) {
  return verifyAccess(store, cast<VectorType>(store.getValue().getType()),
                      /*writes=*/true, isPlaced);
}

template <typename OpTy>
LogicalResult AccessVerifier::verifySum(OpTy op, Value dest, Value sum) {
  auto arguments = rows.getBufferArguments();
  if (!llvm::is_contained(arguments, dest) || !rows.getAccess(dest).writes())
    return op.emitOpError("expected a buffer that rmsnorm.rows writes");
  Value init = op.getInit();
  if (init &&
      (!llvm::is_contained(arguments, init) || !rows.getAccess(init).reads()))
    return op.emitOpError("expected 'init' to be a buffer that rmsnorm.rows "
                          "reads");
  // (C12)
  ArrayRef<int64_t> dims = op.getDims();
  const int64_t rank = dims.size();
  if (rank > 0 && dims != rows.getSegments())
    return op.emitOpError(
               "expected 'dims' to be the segments of rmsnorm.rows, ")
           << rows.getSegmentsAttr() << ", got " << op.getDimsAttr();
  const bool isValue = !isPerColumn(sum.getType());
  for (Value buffer : {init, dest}) {
    if (!buffer)
      continue;
    auto type = cast<MemRefType>(buffer.getType());
    const bool hasColumns = type.getRank() != rank || !isValue;
    if (type.getRank() != rank + hasColumns)
      return op.emitOpError("expected a buffer of rank ")
             << rank + hasColumns << ", got " << type;
    if (type.getRank() > 0 &&
        failed(verifyShape(op, buffer,
                           hasColumns ? TileKind::column : TileKind::row,
                           rank > 0 ? std::optional(dims) : std::nullopt,
                           isValue ? std::optional<int64_t>(1) : std::nullopt)))
      return failure();
  }
  return success();
}

template LogicalResult AccessVerifier::verifySum(AccumulateOp, Value, Value);
template LogicalResult AccessVerifier::verifySum(SumStoreOp, Value, Value);
