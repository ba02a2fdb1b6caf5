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
    if (auto load = dyn_cast<TileLoadOp>(op)) {
      if (load.getIndices().empty())
        accesses[load.getBase()] = load;
      else
        emitColumns(load.getAccess());
    } else if (auto store = dyn_cast<TileStoreOp>(op)) {
      if (store.getIndices().empty())
        accesses[store.getBase()] = store;
      else
        emitColumns(store.getAccess());
    }
    accumulates |= isa<AccumulateOp>(op);
  });
  for (Value buffer : kernel.rows.getBufferArguments()) {
    Operation *access = accesses.lookup(buffer);
    if (auto load = dyn_cast_or_null<TileLoadOp>(access))
      emitAccess(buffer, load.getAccess());
    else if (auto store = dyn_cast_or_null<TileStoreOp>(access))
      emitAccess(buffer, store.getAccess());
  }
  if (accumulates)
    emitLive();
}

template <typename OpTy>
void Addresses::emitIndexed(
    OpTy op, VectorType vector,
    function_ref<Value(Value indices, int64_t u)> getIndex) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  Value buffer = op.getBase();
  const AccessMap access = op.getAccess();
  if (isa<TileStoreOp>(op))
    emitLive();
  SmallVector<Value> rows;
  for (int64_t u = 0; u < kernel.getNumRows(vector); ++u) {
    Value elements;
    for (auto [number, indices] : llvm::enumerate(op.getIndices())) {
      Value stride = kernel.getStride(buffer, access.getOperandPlace(number));
      Value own = arith::MulIOp::create(builder, getIndex(indices, u), stride);
      elements = elements
                     ? arith::AddIOp::create(builder, elements, own).getResult()
                     : own;
    }
    rows.push_back(
        arith::IndexCastOp::create(builder, builder.getI64Type(),
                                   emitOffset(buffer, access, u, elements)));
  }
  offsets[getKey(op)] = std::move(rows);
}

template void
    Addresses::emitIndexed(TileLoadOp, VectorType,
                           function_ref<Value(Value indices, int64_t u)>);
template void
    Addresses::emitIndexed(TileStoreOp, VectorType,
                           function_ref<Value(Value indices, int64_t u)>);

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

/// `elements`, plus where row `u` begins as far as its number and constants
/// say.
Value Addresses::emitOffset(Value buffer, const AccessMap &access, int64_t u,
                            Value elements) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  const unsigned numDims = access.getNumRowDims();
  Value rest = numDims > 0 ? emitRow(u) : Value();
  for (unsigned dim = numDims; dim-- > 0;) {
    Value index = rest;
    if (dim > 0)
      std::tie(rest, index) = kernel.emitDivision(rest, dim);
    int64_t divisor = 1;
    for (const AccessMap::Digit &digit : access.getDigits(dim)) {
      if (digit.divisor != divisor)
        index = kernel.emitDivisionBy(index, digit.divisor / divisor).first;
      divisor = digit.divisor;
      Value place = index;
      if (digit.modulus != 0) {
        std::tie(index, place) = kernel.emitDivisionBy(index, digit.modulus);
        divisor *= digit.modulus;
      }
      if (digit.factor != 1)
        place = arith::MulIOp::create(builder, place,
                                      kernel.getConstant(digit.factor));
      Value stride = kernel.getStride(buffer, digit.place);
      elements = arith::AddIOp::create(
          builder, elements, arith::MulIOp::create(builder, place, stride));
    }
  }
  for (auto [place, index] : llvm::enumerate(access.getIndices()))
    if (index.offset != 0)
      elements = arith::AddIOp::create(
          builder, elements,
          arith::MulIOp::create(builder, kernel.getConstant(index.offset),
                                kernel.getStride(buffer, place)));
  return elements;
}

void Addresses::emitColumns(const AccessMap &access) {
  if (access.hasColumn() && kernel.rows.getDynamicColumns() && !columns)
    columns =
        kernel.emitCast(kernel.getScalar(kernel.rows.getColumnsArgument()));
}

void Addresses::emitAccess(Value buffer, const AccessMap &access) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  emitColumns(access);
  const unsigned numDims = access.getNumRowDims();
  if (numDims > 0)
    emitLive();
  SmallVector<Value> &rowOffsets = offsets[buffer.getAsOpaquePointer()];
  if (!rowOffsets.empty())
    return;
  // Rows of a tile share offsets that do not depend on the row's number in the
  // tile.
  int64_t counted = 1;
  for (unsigned dim = numDims; dim-- > 0 && access.getDigits(dim).empty();) {
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
    rowOffsets.push_back(arith::IndexCastOp::create(
        builder, builder.getI64Type(),
        emitOffset(buffer, access, u, kernel.emitIndex(0))));
  }
}
