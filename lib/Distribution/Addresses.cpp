// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Addresses.cpp - where the rows of a tile are ----------------------===//

#include "Addresses.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::rmsnorm;

void Addresses::emitTile() {
  const int64_t tileRows = kernel.layout.getTileRows();
  if (tileRows == 1) {
    firstRow = tile;
    return;
  }
  ImplicitLocOpBuilder &builder = kernel.builder;
  Value size = kernel.getConstant(tileRows);
  firstRow = arith::MulIOp::create(builder, tile, size);
  Value left = arith::SubIOp::create(builder, kernel.getNumRows(), firstRow);
  liveRows = arith::MinUIOp::create(builder, left, size);
}

void Addresses::emit(Block &block) {
  llvm::SmallDenseMap<Value, Operation *> accesses;
  bool accumulates = false;
  block.walk([&](Operation *op) {
    auto load = dyn_cast<TileLoadOp>(op);
    if (load && !load.getGather())
      accesses[load.getBase()] = load;
    else if (auto store = dyn_cast<TileStoreOp>(op))
      accesses[store.getBase()] = store;
    accumulates |= isa<AccumulateOp>(op);
  });
  for (Value buffer : kernel.rows.getBufferArguments()) {
    Operation *access = accesses.lookup(buffer);
    if (auto load = dyn_cast_or_null<TileLoadOp>(access))
      emitAccess(buffer, load.getKind(), bool(load.getRow()), load.getDims());
    else if (auto store = dyn_cast_or_null<TileStoreOp>(access))
      emitAccess(buffer, store.getKind(), bool(store.getRow()), {},
                 store.getRowDims());
  }
  if (accumulates)
    emitLive();
}

void Addresses::emitGather(TileLoadOp load,
                           function_ref<Value(int64_t u)> getIndex) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  SmallVector<Value> rows;
  for (int64_t u = 0; u < kernel.getNumRows(load.getType()); ++u) {
    Value stride = kernel.getStride(load.getBase(), 0);
    Value elements = arith::MulIOp::create(builder, getIndex(u), stride);
    rows.push_back(
        arith::IndexCastOp::create(builder, builder.getI64Type(), elements));
  }
  offsets[load.getResult()] = std::move(rows);
}

/// Tile row u * G + g belongs to row group g.
void Addresses::emitLive() {
  if (!liveRows || !live.empty())
    return;
  ImplicitLocOpBuilder &builder = kernel.builder;
  Value count = kernel.emitCast(liveRows);
  for (int64_t u = 0; u < kernel.layout.getRowsPerGroup(); ++u) {
    Value tileRow =
        arith::AddIOp::create(builder, kernel.threads.rowGroup,
                              kernel.emitI32(u * kernel.layout.getRowGroups()));
    live.push_back(arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                         tileRow, count));
  }
}

/// The number of row `u`. Rows that do not exist read the last one that does.
Value Addresses::emitRow(int64_t u) {
  if (!liveRows)
    return kernel.emitRowOfAll(firstRow);
  ImplicitLocOpBuilder &builder = kernel.builder;
  Value tileRow =
      arith::AddIOp::create(builder, kernel.threads.rowGroup,
                            kernel.emitI32(u * kernel.layout.getRowGroups()));
  Value wide =
      arith::IndexCastUIOp::create(builder, builder.getIndexType(), tileRow);
  Value last = arith::SubIOp::create(builder, liveRows, kernel.emitIndex(1));
  return kernel.emitRowOfAll(arith::AddIOp::create(
      builder, firstRow, arith::MinUIOp::create(builder, wide, last)));
}

void Addresses::emitAccess(Value buffer, TileKind kind, bool hasRow,
                           std::optional<ArrayRef<int64_t>> dims,
                           std::optional<ArrayRef<int64_t>> rowDims) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  if (kind != TileKind::row && kernel.rows.getDynamicColumns() && !columns)
    columns =
        kernel.emitCast(kernel.getScalar(kernel.rows.getColumnsArgument()));
  if (hasRow)
    emitLive();
  SmallVector<Value> &rowOffsets = offsets[buffer];
  if (!rowOffsets.empty())
    return;
  // Which leading size each of the buffer's dimensions has; of one that counts
  // all rows, it does not matter.
  auto type = cast<MemRefType>(buffer.getType());
  const int64_t rank = rowDims
                           ? rowDims->size()
                           : type.getRank() - (kind == TileKind::row ? 0 : 1);
  SmallVector<int64_t> leading =
      dims ? llvm::to_vector(*dims)
           : llvm::to_vector(llvm::seq<int64_t>(0, rank));
  const int64_t numSizes =
      dims ? kernel.rows.getStaticSizes().size() : leading.size();
  // Rows of a tile share what has none of the sizes that count them (us, norm
  // and rotation of 32 heads of 32768 tokens on an H200: 148, so 142).
  int64_t counted = 1;
  const int64_t last = leading.empty() ? -1 : leading.back();
  for (int64_t dim = numSizes - 1; dims && dim > last; --dim) {
    const int64_t size = kernel.rows.getStaticSizes()[dim];
    if (ShapedType::isDynamic(size))
      break;
    counted *= size;
  }
  const bool isShared =
      counted % kernel.layout.getTileRows() == 0 && kernel.hasWholeSegments();
  for (int64_t u = 0; u < kernel.layout.getRowsPerGroup(); ++u) {
    if (u > 0 && isShared) {
      rowOffsets.push_back(rowOffsets.front());
      continue;
    }
    Value elements = kernel.emitIndex(0);
    Value row = hasRow ? emitRow(u) : Value();
    for (int64_t dim = numSizes - 1; hasRow && dim >= 0; --dim) {
      const auto *place = llvm::find(leading, dim);
      Value index = row;
      if (dim > 0) {
        // Rows may be counted over sizes of the buffer's own.
        const int64_t own =
            rowDims ? type.getDimSize((*rowDims)[dim]) : ShapedType::kDynamic;
        std::tie(row, index) = kernel.emitDivision(row, dim, own);
      }
      if (place == leading.end())
        continue;
      const int64_t number = place - leading.begin();
      Value stride =
          kernel.getStride(buffer, rowDims ? (*rowDims)[number] : number);
      elements = arith::AddIOp::create(
          builder, elements, arith::MulIOp::create(builder, index, stride));
    }
    rowOffsets.push_back(
        arith::IndexCastOp::create(builder, builder.getI64Type(), elements));
  }
}
