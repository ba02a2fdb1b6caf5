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
    if (load && !load.getIndex())
      accesses[load.getBase()] = load;
    else if (auto store = dyn_cast<TileStoreOp>(op))
      accesses[store.getBase()] = store;
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

/// `elements` plus the constants of `access`.
Value Addresses::emitOffsets(Value buffer, const AccessMap &access,
                             Value elements) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  for (auto [place, index] : llvm::enumerate(access.getIndices()))
    if (index.offset != 0)
      elements = arith::AddIOp::create(
          builder, elements,
          arith::MulIOp::create(builder, kernel.getConstant(index.offset),
                                kernel.getStride(buffer, place)));
  return elements;
}

void Addresses::emitGather(TileLoadOp load,
                           function_ref<Value(int64_t u)> getIndex) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  SmallVector<Value> rows;
  const AccessMap access = load.getAccess();
  const int64_t place = access.getOperandPlace();
  for (int64_t u = 0; u < kernel.getNumRows(load.getType()); ++u) {
    Value stride = kernel.getStride(load.getBase(), place);
    Value elements = arith::MulIOp::create(builder, getIndex(u), stride);
    elements = emitOffsets(load.getBase(), access, elements);
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

void Addresses::emitAccess(Value buffer, const AccessMap &access) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  if (access.hasColumn() && kernel.rows.getDynamicColumns() && !columns)
    columns =
        kernel.emitCast(kernel.getScalar(kernel.rows.getColumnsArgument()));
  const unsigned numDims = access.getNumRowDims();
  if (numDims > 0)
    emitLive();
  SmallVector<Value> &rowOffsets = offsets[buffer];
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
    Value elements = kernel.emitIndex(0);
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
    elements = emitOffsets(buffer, access, elements);
    rowOffsets.push_back(
        arith::IndexCastOp::create(builder, builder.getI64Type(), elements));
  }
}
