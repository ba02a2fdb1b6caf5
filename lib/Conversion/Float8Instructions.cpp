// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Float8Instructions.cpp - chips' conversions of f8 ------------------===//

#include "DeviceOps.h"
#include "ExpandFloat8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::rmsnorm;

using Mode = arith::RoundingMode;

static bool isOcp(FloatType type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

static bool isFnuz(FloatType type) { return isa<Float8E4M3FNUZType>(type); }

static bool isOcpOrF4(FloatType type) {
  return isOcp(type) || isa<Float4E2M1FNType>(type);
}

/// Beside those the powers of two, which have no instruction that rounds to
/// nearest.
static bool isMx(FloatType type) {
  return isOcpOrF4(type) || isa<Float8E8M0FNUType>(type);
}

static bool roundsToMx(FloatType type, Mode mode) {
  return isOcpOrF4(type) || (isa<Float8E8M0FNUType>(type) &&
                             (mode == Mode::upward || mode == Mode::downward ||
                              mode == Mode::toward_zero));
}

template <bool (*hasType)(FloatType)> static bool rounds(FloatType type, Mode) {
  return hasType(type);
}

static Value createI32(ImplicitLocOpBuilder &b, int32_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

//===----------------------------------------------------------------------===//
// NVIDIA
//===----------------------------------------------------------------------===//

static StringRef getPairName(FloatType type) {
  return isa<Float4E2M1FNType>(type)    ? "e2m1x2"
         : isa<Float8E8M0FNUType>(type) ? "ue8m0x2"
         : isa<Float8E5M2Type>(type)    ? "e5m2x2"
                                        : "e4m3x2";
}

/// The rest of an intrinsic's name. Without `.satfinite` a power of two that is
/// too large is NaN, as for arith.truncf.
static StringRef getRounding(FloatType type, Mode mode) {
  if (isa<Float4E2M1FNType>(type))
    return ".rn.satfinite";
  if (isa<Float8E8M0FNUType>(type))
    return mode == Mode::upward ? ".rp" : ".rz";
  return ".rn";
}

/// A power of two has no sign: its instruction drops that of a number (the
/// rounding in software beside it, cuda_fp8.hpp), where arith.truncf has NaN.
static Value dropNegative(ImplicitLocOpBuilder &b, Value value) {
  auto number = [&](const APFloat &constant) {
    return arith::ConstantOp::create(b,
                                     b.getFloatAttr(b.getF32Type(), constant));
  };
  const llvm::fltSemantics &f32 = APFloat::IEEEsingle();
  Value isNegative = arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, value,
                                           number(APFloat::getZero(f32)));
  return arith::SelectOp::create(b, isNegative, number(APFloat::getQNaN(f32)),
                                 value);
}

/// An instruction takes two numbers, the one for the upper part first. f4
/// saturates, as arith.truncf does. No specification says which f4 a NaN
/// becomes.
static Value truncateNvidia(ImplicitLocOpBuilder &b, ArrayRef<Value> values,
                            FloatType type, Mode mode) {
  const std::string name =
      ("llvm.nvvm.ff.to." + getPairName(type) + getRounding(type, mode)).str();
  Value word;
  for (size_t i = 0; i < values.size(); i += 2) {
    Value low = values[i], high = values[i + 1];
    if (isa<Float8E8M0FNUType>(type)) {
      low = dropNegative(b, low);
      high = dropNegative(b, high);
    }
    Value pair = createIntrinsic(b, b.getI16Type(), name, {high, low});
    pair = arith::ExtUIOp::create(b, b.getI32Type(), pair);
    if (i > 0)
      pair = arith::ShLIOp::create(b, pair,
                                   createI32(b, int32_t(i * type.getWidth())));
    word = word ? arith::OrIOp::create(b, word, pair).getResult() : pair;
  }
  return word;
}

static SmallVector<Value> extendNvidia(ImplicitLocOpBuilder &b, Value word,
                                       FloatType type) {
  const bool isPower = isa<Float8E8M0FNUType>(type);
  const std::string name = ("llvm.nvvm." + getPairName(type) +
                            (isPower ? ".to.bf16x2" : ".to.f16x2.rn"))
                               .str();
  Type element = isPower ? Type(b.getBF16Type()) : Type(b.getF16Type());
  SmallVector<Value> values;
  for (int32_t shift = 0; shift < 32; shift += 2 * int32_t(type.getWidth())) {
    Value half = arith::TruncIOp::create(
        b, b.getI16Type(),
        arith::ShRUIOp::create(b, word, createI32(b, shift)));
    Value pair = createIntrinsic(b, VectorType::get({2}, element), name, half);
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

static Value createImmediate(ImplicitLocOpBuilder &b, int64_t value) {
  return LLVM::ConstantOp::create(b, b.getI32IntegerAttr(int32_t(value)));
}

static Value createOne(ImplicitLocOpBuilder &b) {
  return LLVM::ConstantOp::create(b, b.getF32FloatAttr(1));
}

/// An instruction writes two elements of a word. Too large numbers become those
/// of arith.truncf (MODE.FP16_OVFL is 0 where a kernel starts). f4 is scaled,
/// by 1; it rounds to nearest even and saturates, as ROCm's amd_hip_fp4.h takes
/// it for cudaRoundNearest.
static Value truncateAmd(ImplicitLocOpBuilder &b, ArrayRef<Value> values,
                         FloatType type, Mode) {
  Value word = LLVM::ConstantOp::create(b, b.getI32IntegerAttr(0));
  for (size_t i = 0; i < values.size(); i += 2)
    word = isa<Float4E2M1FNType>(type)
               ? createIntrinsic(b, b.getI32Type(),
                                 "llvm.amdgcn.cvt.scalef32.pk.fp4.f32",
                                 {word, values[i], values[i + 1], createOne(b),
                                  createImmediate(b, i / 2)})
               : createIntrinsic(
                     b, b.getI32Type(),
                     "llvm.amdgcn.cvt.pk." + getAmdName(type) + ".f32",
                     {values[i], values[i + 1], word, createBool(b, i > 0)});
  return word;
}

static SmallVector<Value> extendAmd(ImplicitLocOpBuilder &b, Value word,
                                    FloatType type) {
  SmallVector<Value> values;
  Type two = VectorType::get({2}, b.getF32Type());
  for (int64_t i = 0, e = 16 / int64_t(type.getWidth()); i < e; ++i) {
    Value pair =
        isa<Float4E2M1FNType>(type)
            ? createIntrinsic(b, two, "llvm.amdgcn.cvt.scalef32.pk.f32.fp4",
                              {word, createOne(b), createImmediate(b, i)})
            : createIntrinsic(b, two,
                              "llvm.amdgcn.cvt.pk.f32." + getAmdName(type),
                              {word, createBool(b, i > 0)});
    for (int64_t element : {0, 1})
      values.push_back(vector::ExtractOp::create(b, pair, element));
  }
  return values;
}

//===----------------------------------------------------------------------===//
// By chip
//===----------------------------------------------------------------------===//

std::optional<Float8Instructions>
rmsnorm::getFloat8Instructions(const ChipInfo &chip) {
  const bool isNvidia = chip.vendor == Vendor::Nvidia;
  Float8Instructions instructions = {rounds<isOcp>, isOcp,
                                     /*saturate=*/isNvidia,
                                     isNvidia ? truncateNvidia : truncateAmd,
                                     isNvidia ? extendNvidia : extendAmd};
  switch (chip.float8) {
  case Float8Conversions::None:
    return std::nullopt;
  case Float8Conversions::Ocp:
    break;
  case Float8Conversions::Fnuz:
    instructions.truncates = rounds<isFnuz>;
    instructions.extends = isFnuz;
    break;
  case Float8Conversions::OcpAndF4:
    instructions.truncates = isNvidia ? roundsToMx : rounds<isOcpOrF4>;
    instructions.extends = isNvidia ? isMx : isOcpOrF4;
    break;
  }
  return instructions;
}
