// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fragments.cpp - fragments as accesses, addresses and words --------===//

#include "Fragments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static Value constantI32(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

static int64_t elementBytes(Type type) {
  return llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

//===----------------------------------------------------------------------===//
// AccessPlan
//===----------------------------------------------------------------------===//

AccessPlan::AccessPlan(VectorType fragment, int64_t alignment)
    : fragment(fragment) {
  int64_t element = elementBytes(fragment.getElementType());
  int64_t total = fragment.getNumElements() * element;
  bytes = std::min<int64_t>(alignment, 16);
  while (total % bytes != 0)
    bytes /= 2;
  bytes = std::max(bytes, element);
  count = total / bytes;
  piece = VectorType::get({bytes / element}, fragment.getElementType());
}

Value AccessPlan::extract(ImplicitLocOpBuilder &b, Value value,
                          int64_t i) const {
  if (count == 1)
    return value;
  return vector::ExtractStridedSliceOp::create(
      b, value, ArrayRef<int64_t>{i * elements()},
      ArrayRef<int64_t>{elements()}, ArrayRef<int64_t>{1});
}

Value AccessPlan::assemble(ImplicitLocOpBuilder &b, ValueRange pieces) const {
  if (count == 1)
    return pieces.front();
  Value result =
      arith::ConstantOp::create(b, fragment, b.getZeroAttr(fragment));
  for (auto [i, value] : llvm::enumerate(pieces))
    result = vector::InsertStridedSliceOp::create(
        b, value, result, ArrayRef<int64_t>{int64_t(i) * elements()},
        ArrayRef<int64_t>{1});
  return result;
}

Value AccessPlan::predicate(ImplicitLocOpBuilder &b, Value valid,
                            int64_t i) const {
  return arith::CmpIOp::create(b, arith::CmpIPredicate::sgt, valid,
                               constantI32(b, i * elements()));
}

//===----------------------------------------------------------------------===//
// FragmentAddress
//===----------------------------------------------------------------------===//

int64_t rmsnorm::peelConstant(Value &column) {
  int64_t constant = 0;
  while (auto add = column.getDefiningOp<arith::AddIOp>()) {
    APInt addend;
    if (!bitEnumContainsAll(add.getOverflowFlags(),
                            arith::IntegerOverflowFlags::nuw) ||
        !matchPattern(add.getRhs(), m_ConstantInt(&addend)))
      break;
    constant += addend.getZExtValue();
    column = add.getLhs();
  }
  return constant;
}

FragmentAddress::FragmentAddress(ImplicitLocOpBuilder &b, Value base, Value row,
                                 Value column, Type element, bool inBounds)
    : inBounds(inBounds) {
  int64_t bytes = elementBytes(element);
  constant = peelConstant(column) * bytes;
  // The byte offset stays a 32-bit value (N <= 2^30, so that it fits): AMD
  // encodes a scalar base plus a 32-bit vector offset, if it sees one.
  offset = column;
  if (bytes > 1)
    offset =
        arith::ShLIOp::create(b, column, constantI32(b, llvm::Log2_64(bytes)),
                              arith::IntegerOverflowFlags::nuw);
  auto flags =
      inBounds ? LLVM::GEPNoWrapFlags::inbounds : LLVM::GEPNoWrapFlags::none;
  rowAddress = LLVM::GEPOp::create(b, base.getType(), element, base,
                                   ValueRange{row}, flags);
}

Value FragmentAddress::get(ImplicitLocOpBuilder &b, int64_t extra,
                           Value predicate) const {
  auto flags =
      inBounds ? LLVM::GEPNoWrapFlags::inbounds : LLVM::GEPNoWrapFlags::none;
  Type i8 = b.getI8Type();
  auto advance = [&](Value address, Value bytes) -> Value {
    Value wide = arith::ExtUIOp::create(b, b.getI64Type(), bytes);
    return LLVM::GEPOp::create(b, address.getType(), i8, address,
                               ValueRange{wide}, flags);
  };
  int64_t immediate = constant + extra;
  if (predicate) {
    Value bytes = offset;
    if (immediate != 0)
      bytes = arith::AddIOp::create(b, bytes, constantI32(b, immediate),
                                    arith::IntegerOverflowFlags::nuw);
    bytes = arith::SelectOp::create(b, predicate, bytes, constantI32(b, 0));
    return advance(rowAddress, bytes);
  }
  Value address = advance(rowAddress, offset);
  if (immediate == 0)
    return address;
  // One constant step of its own, which folds into the instruction.
  Value step = arith::ConstantOp::create(b, b.getI64IntegerAttr(immediate));
  return LLVM::GEPOp::create(b, address.getType(), i8, address,
                             ValueRange{step}, flags);
}

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

SmallVector<Value> rmsnorm::toWords(ImplicitLocOpBuilder &b, Value fragment) {
  auto type = cast<VectorType>(fragment.getType());
  int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
  if (bits < 32) {
    Value narrow = LLVM::BitcastOp::create(b, b.getIntegerType(bits), fragment);
    return {LLVM::ZExtOp::create(b, b.getI32Type(), narrow)};
  }
  Value words = LLVM::BitcastOp::create(
      b, VectorType::get({bits / 32}, b.getI32Type()), fragment);
  SmallVector<Value> result;
  for (int64_t i = 0; i < bits / 32; ++i)
    result.push_back(vector::ExtractOp::create(b, words, i));
  return result;
}

Value rmsnorm::fromWords(ImplicitLocOpBuilder &b, ValueRange words,
                         VectorType fragment) {
  int64_t bits = fragment.getNumElements() * fragment.getElementTypeBitWidth();
  if (bits < 32) {
    Value narrow =
        LLVM::TruncOp::create(b, b.getIntegerType(bits), words.front());
    return LLVM::BitcastOp::create(b, fragment, narrow);
  }
  Value packed = vector::FromElementsOp::create(
      b, VectorType::get({bits / 32}, b.getI32Type()), words);
  return LLVM::BitcastOp::create(b, fragment, packed);
}
