// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Float8Instructions.cpp - chips' conversions of f8 ------------------===//

#include "DeviceOps.h"
#include "ExpandFloat8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static bool isOcp(FloatType type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

static bool isFnuz(FloatType type) { return isa<Float8E4M3FNUZType>(type); }

//===----------------------------------------------------------------------===//
// NVIDIA
//===----------------------------------------------------------------------===//

static StringRef getPairName(FloatType type) {
  return isa<Float8E5M2Type>(type) ? "e5m2x2" : "e4m3x2";
}

/// An instruction takes two numbers, the one for the upper byte first.
static Value truncateNvidia(ImplicitLocOpBuilder &b, ArrayRef<Value> values,
                            FloatType type) {
  auto convert = [&](Value low, Value high) -> Value {
    Value pair = createIntrinsic(b, b.getI16Type(),
                                 "llvm.nvvm.ff.to." + getPairName(type) + ".rn",
                                 {high, low});
    return arith::ExtUIOp::create(b, b.getI32Type(), pair);
  };
  Value half = arith::ConstantOp::create(b, b.getI32IntegerAttr(16));
  Value upper = arith::ShLIOp::create(b, convert(values[2], values[3]), half);
  return arith::OrIOp::create(b, convert(values[0], values[1]), upper);
}

static SmallVector<Value> extendNvidia(ImplicitLocOpBuilder &b, Value word,
                                       FloatType type) {
  SmallVector<Value> values;
  for (int32_t shift : {0, 16}) {
    Value amount = arith::ConstantOp::create(b, b.getI32IntegerAttr(shift));
    Value half = arith::TruncIOp::create(
        b, b.getI16Type(), arith::ShRUIOp::create(b, word, amount));
    Value pair = createIntrinsic(
        b, VectorType::get({2}, b.getF16Type()),
        "llvm.nvvm." + getPairName(type) + ".to.f16x2.rn", half);
    for (int64_t i : {0, 1})
      values.push_back(arith::ExtFOp::create(
          b, b.getF32Type(),
          vector::ExtractOp::create(b, pair, i).getResult()));
  }
  return values;
}

//===----------------------------------------------------------------------===//
// AMD
//===----------------------------------------------------------------------===//

static StringRef getAmdName(FloatType type) {
  return isa<Float8E5M2Type>(type) ? "bf8" : "fp8";
}

static Value createBool(ImplicitLocOpBuilder &b, bool value) {
  return LLVM::ConstantOp::create(b, b.getBoolAttr(value));
}

/// An instruction writes two bytes of a word. What is too large becomes what
/// arith.truncf says (MODE.FP16_OVFL is 0 where a kernel starts).
static Value truncateAmd(ImplicitLocOpBuilder &b, ArrayRef<Value> values,
                         FloatType type) {
  Value word = LLVM::ConstantOp::create(b, b.getI32IntegerAttr(0));
  for (bool upper : {false, true})
    word = createIntrinsic(
        b, b.getI32Type(), "llvm.amdgcn.cvt.pk." + getAmdName(type) + ".f32",
        {values[2 * upper], values[2 * upper + 1], word, createBool(b, upper)});
  return word;
}

static SmallVector<Value> extendAmd(ImplicitLocOpBuilder &b, Value word,
                                    FloatType type) {
  SmallVector<Value> values;
  for (bool upper : {false, true}) {
    Value pair = createIntrinsic(b, VectorType::get({2}, b.getF32Type()),
                                 "llvm.amdgcn.cvt.pk.f32." + getAmdName(type),
                                 {word, createBool(b, upper)});
    for (int64_t i : {0, 1})
      values.push_back(vector::ExtractOp::create(b, pair, i));
  }
  return values;
}

//===----------------------------------------------------------------------===//
// By chip
//===----------------------------------------------------------------------===//

std::optional<Float8Instructions>
rmsnorm::getFloat8Instructions(const ChipInfo &chip) {
  if (chip.float8 == Float8Conversions::None)
    return std::nullopt;
  auto *convert = chip.float8 == Float8Conversions::Ocp ? isOcp : isFnuz;
  if (chip.vendor == Vendor::Nvidia)
    return Float8Instructions{convert, /*saturate=*/true, truncateNvidia,
                              extendNvidia};
  return Float8Instructions{convert, /*saturate=*/false, truncateAmd,
                            extendAmd};
}
