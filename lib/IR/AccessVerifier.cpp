// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AccessVerifier.cpp - what rmsnorm.rows does with its buffers ------===//

#include "AccessVerifier.h"

#include "RMSNorm/IR/TileTypes.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;

LogicalResult AccessVerifier::verifyStrides(Operation *op, Value buffer,
                                            bool hasColumn) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return op->emitOpError("expected a strided buffer, got ") << type;
  // Without a schedule rmsnorm-strided-buffers may copy it still.
  const bool isFinal = rows.getScheduleAttr() || isa<TilesOp>(op);
  if (hasColumn && isFinal && (strides.empty() || strides.back() != 1))
    return op->emitOpError("expected an inner stride of 1, got ") << type;
  return success();
}

LogicalResult AccessVerifier::verifyColumns(Operation *op, Value buffer,
                                            int64_t columns) {
  auto type = cast<MemRefType>(buffer.getType());
  // With `dynamic_columns` a buffer's type may still know their number.
  const int64_t last = type.getShape().back();
  if (rows.getDynamicColumns() ? last > columns : last != columns)
    return op->emitOpError("expected a buffer with the columns of "
                           "rmsnorm.rows, got ")
           << type;
  return success();
}

/// (C6) of tile_load, (C8) of tile_store
LogicalResult AccessVerifier::verifyRows(Operation *op, Value buffer,
                                         const AccessMap &access,
                                         int64_t columns, bool writes,
                                         bool isTile) {
  auto type = cast<MemRefType>(buffer.getType());
  // What is strided is in the map until rmsnorm-strided-buffers: a part of a
  // buffer may be accessed.
  const bool isStrided = bool(rows.getScheduleAttr());
  SmallVector<int64_t> sizes(rows.getStaticSizes());
  const unsigned count = access.getNumRowDims();
  // One value for all rows may be read.
  if (count == 0 && (rows.hasSingleRow() || (!writes && !isTile)))
    return success();
  if (count == 1) // the number of the row
    sizes.assign(1, ShapedType::isDynamicShape(sizes)
                        ? ShapedType::kDynamic
                        : ShapedType::getNumElements(sizes));
  bool fits = count == sizes.size();
  if (access.hasColumn())
    sizes.push_back(rows.getDynamicColumns() ? ShapedType::kDynamic : columns);
  for (auto [place, index] : llvm::enumerate(access.getIndices())) {
    const int64_t own = type.getDimSize(place);
    // Of what counts rows by sizes of its own there may be more.
    bool mayHaveMore = !isStrided || !index.getTerm();
    int64_t most = index.offset;
    for (const AccessTerm &term : index.terms) {
      if (!fits || term.isOperand || (isStrided && term.dim >= count))
        break;
      const int64_t range = access.getRange(term, sizes);
      if (ShapedType::isDynamic(range) || ShapedType::isDynamic(most)) {
        most = ShapedType::kDynamic;
        continue;
      }
      most += term.factor * (range - 1);
      mayHaveMore |=
          term.factor != 1 ||
          (writes && term.dim == 0 && term.modulus == 0 && !access.isPlain());
    }
    const bool hasRow = index.getTerm() ? !index.getTerm()->isOperand &&
                                              index.getTerm()->dim < count
                                        : true;
    if ((hasRow || !isStrided) && !ShapedType::isDynamic(own) &&
        !ShapedType::isDynamic(most))
      fits &= mayHaveMore ? own > most : own == most + 1;
  }
  if (!fits) {
    InFlightDiagnostic error = op->emitOpError(
        "expected a buffer with the leading sizes of rmsnorm.rows, got ");
    error << type;
    if (!access.isPlain())
      error << " with the map " << access.getText();
    return error;
  }
  const unsigned dims = isStrided ? count : sizes.size();
  for (unsigned dim = 0; writes && dim < dims; ++dim)
    if (!access.isInjective(dim, sizes))
      return op->emitOpError("expected 'map' to lead each row to elements of "
                             "its own, got ")
             << access.getText();
  return success();
}

LogicalResult AccessVerifier::verifyCopied(TilesOp op, Value buffer) {
  const int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  AffineMap plain = AccessMap::getPlain(
      op.getContext(), rank == 0 ? 0 : rank - 1, /*hasColumn=*/true);
  return failure(
      failed(verifyStrides(op, buffer, /*hasColumn=*/true)) ||
      failed(verifyColumns(op, buffer, rows.getColumns())) ||
      failed(verifyRows(op, buffer, AccessMap(plain, /*hasColumn=*/true),
                        rows.getColumns(), /*writes=*/false,
                        /*isTile=*/true)));
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
  // Any rows of a table.
  const bool hasIndex = !op.getIndices().empty();
  const int64_t count = tile.getDimSize(0);
  ScheduleAttr schedule = rows.getScheduleAttr();
  const int64_t expected = schedule ? schedule.getTileRows() : 1;
  // One value for all rows.
  const bool hasRows = op.getKind() != TileKind::column && op.getRow();
  if (isPlaced && hasRows && count != expected)
    return op.emitOpError("expected a tile of ")
           << expected << " rows, as the schedule says, got " << tile;
  const AccessMap map = op.getAccess();
  auto verifyRows = [&] {
    return hasIndex
               ? success()
               : this->verifyRows(op, op.getBase(), map, getNumColumns(tile),
                                  writes, op.getKind() == TileKind::tile);
  };
  if (failed(verifyStrides(op, op.getBase(),
                           map.getColumnRun(getNumColumns(tile)) != 0)))
    return failure();
  if (!schedule)
    return verifyRows();
  if (map.hasColumnLast() &&
      failed(verifyColumns(op, op.getBase(), getNumColumns(tile))))
    return failure();
  if (map.hasColumn() && !map.hasColumnLast() && rows.getDynamicColumns())
    return op.emitOpError("expected static columns of rmsnorm.rows for values "
                          "of groups, got ")
           << tile;
  if (hasIndex)
    return success();
  auto [known, isNew] = accesses.try_emplace(op.getBase(), map);
  if (!isNew && (known->second.getMap() != map.getMap() ||
                 known->second.hasColumn() != map.hasColumn()))
    return op.emitOpError("expected all accesses to a buffer to have the same "
                          "map, ")
           << known->second.getText() << ", got " << map.getText();
  return verifyRows();
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
  const SmallVector<int64_t> dims = op.getDims();
  const int64_t rank = dims.size();
  const bool isOfSegment = ArrayRef<int64_t>(dims) == rows.getSegments();
  if (op.getMap()) {
    const AccessMap map(*op.getMap(), /*hasColumn=*/true);
    if ((!isOfSegment && rows.getScheduleAttr()) ||
        map.getNumRowDims() != rows.getStaticSizes().size())
      return op.emitOpError("expected 'map' to have the indices of the "
                            "segments of rmsnorm.rows, ")
             << rows.getSegmentsAttr() << ", got " << map.getText();
    if (!rows.keepsRowsTogether(dims))
      return op.emitOpError(
                 "expected 'map' to have the indices of the first or "
                 "the last leading sizes of rmsnorm.rows, got ")
             << map.getText();
  } else if (!isOfSegment && isa<SumStoreOp>(op)) {
    return op.emitOpError("expected a sum of the rows of a segment, as a block "
                          "has no others, of rmsnorm.rows with segments ")
           << rows.getSegmentsAttr() << ", got one over all rows";
  }
  const bool isValue = !isPerColumn(sum.getType());
  for (Value buffer : {init, dest}) {
    if (!buffer)
      continue;
    auto type = cast<MemRefType>(buffer.getType());
    const bool hasColumns = type.getRank() != rank || !isValue;
    if (type.getRank() != rank + hasColumns)
      return op.emitOpError("expected a buffer of rank ")
             << rank + hasColumns << ", got " << type;
    if (failed(verifyStrides(op, buffer, hasColumns)) ||
        (hasColumns &&
         failed(verifyColumns(op, buffer, isValue ? 1 : rows.getColumns()))))
      return failure();
    for (auto [place, dim] : llvm::enumerate(dims))
      if (failed(verifyCompatibleShape({rows.getStaticSizes()[dim]},
                                       {type.getDimSize(place)})))
        return op.emitOpError("expected a buffer with the leading sizes of "
                              "rmsnorm.rows, got ")
               << type;
  }
  return success();
}

template LogicalResult AccessVerifier::verifySum(AccumulateOp, Value, Value);
template LogicalResult AccessVerifier::verifySum(SumStoreOp, Value, Value);
