// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Multiples.cpp - what must be aligned -------------------------------===//

#include "Multiples.h"

#include "RMSNorm/IR/Disjoint.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

void Multiples::add(OpFoldResult count, int64_t unit) {
  if (std::optional<int64_t> constant = getConstantIntValue(count)) {
    isPossible &= *constant * unit % bytes == 0;
    return;
  }
  Value value = cast<Value>(count);
  if (unit % bytes == 0)
    return;
  if (unit != 1)
    value = arith::MulIOp::create(builder, loc, value, emitIndex(unit));
  bits = bits ? arith::OrIOp::create(builder, loc, bits, value) : value;
}

/// The alignment that the buffer's memory certainly has.
static int64_t getKnownAlignment(Value buffer) {
  // Every view has the address of its source and an offset, except for
  // memref.view.
  while (Value viewed = getViewedBuffer(buffer)) {
    if (buffer.getDefiningOp<memref::ViewOp>())
      return 1;
    buffer = viewed;
  }
  if (auto alloc = buffer.getDefiningOp<memref::AllocOp>())
    return alloc.getAlignment().value_or(1);
  if (auto alloca = buffer.getDefiningOp<memref::AllocaOp>())
    return alloca.getAlignment().value_or(1);
  if (auto get = buffer.getDefiningOp<memref::GetGlobalOp>())
    if (auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
            get, get.getNameAttr()))
      return global.getAlignment().value_or(1);
  return 1;
}

void Multiples::addAddress(Value buffer) {
  if (getKnownAlignment(buffer) % bytes == 0)
    return;
  add(memref::ExtractAlignedPointerAsIndexOp::create(builder, loc, buffer)
          .getResult(),
      1);
}

void Multiples::addRows(Value buffer) {
  auto type = cast<MemRefType>(buffer.getType());
  const int64_t unit = llvm::divideCeil(type.getElementTypeBitWidth(), 8);
  addAddress(buffer);
  auto [strides, offset] = type.getStridesAndOffset();
  memref::ExtractStridedMetadataOp metadata;
  auto get = [&](int64_t known, auto pick) -> OpFoldResult {
    if (!ShapedType::isDynamic(known))
      return builder.getIndexAttr(known);
    if (!metadata)
      metadata = memref::ExtractStridedMetadataOp::create(builder, loc, buffer);
    return OpFoldResult(Value(pick()));
  };
  add(get(offset, [&] { return metadata.getOffset(); }), unit);
  auto getSize = [&](int64_t dim) {
    return get(type.getDimSize(dim), [&] { return metadata.getSizes()[dim]; });
  };
  const int64_t last = type.getRank() - 1;
  for (int64_t dim = 0; dim < last; ++dim) {
    // The stride of a dimension of size 1 says nothing.
    const int64_t size = type.getDimSize(dim);
    const bool isMultiple = !ShapedType::isDynamic(strides[dim]) &&
                            strides[dim] * unit % bytes == 0;
    if (isMultiple || size == 0 || size == 1)
      continue;
    OpFoldResult stride =
        get(strides[dim], [&] { return metadata.getStrides()[dim]; });
    if (ShapedType::isDynamic(size)) {
      Value more = arith::SubIOp::create(
          builder, loc, cast<Value>(getSize(dim)), emitIndex(1));
      more = arith::MinUIOp::create(builder, loc, more, emitIndex(1));
      stride = arith::MulIOp::create(
                   builder, loc, more,
                   getValueOrCreateConstantIndexOp(builder, loc, stride))
                   .getResult();
    }
    add(stride, unit);
  }
  add(getSize(last), unit);
}

Value Multiples::emitCondition() {
  if (!bits)
    return {};
  Value low = arith::AndIOp::create(builder, loc, bits, emitIndex(bytes - 1));
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, low,
                               emitIndex(0));
}
