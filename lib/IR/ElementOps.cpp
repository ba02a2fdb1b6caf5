// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ElementOps.cpp - what programs compute of elements ----------------===//

#include "RMSNorm/IR/ElementOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// See ElementOps.def.
enum class Types { none, numbers, stored, integers, bits, conversions };
} // namespace

static Types getTypes(Operation *op) {
  static const llvm::DenseMap<TypeID, Types> types = {
#define RMSNORM_ELEMENT_OP(Op, types) {TypeID::get<Op>(), Types::types},
#define RMSNORM_NO_ELEMENT_OP(name, instead)
#include "RMSNorm/IR/ElementOps.def"
  };
  return types.lookup(op->getName().getTypeID());
}

/// What is computed instead of an op that no kernel has.
static StringRef getInstead(StringRef name) {
  llvm::StringSwitch<StringRef> instead(name);
#define RMSNORM_ELEMENT_OP(Op, types)
#define RMSNORM_NO_ELEMENT_OP(name_, instead_) instead.Case(name_, instead_);
#include "RMSNorm/IR/ElementOps.def"
  return instead.Default("");
}

static bool isNumber(Type type) {
  return type.isF16() || type.isBF16() || type.isF32();
}

static bool isNarrow(Type type) {
  return isa<Float4E2M1FNType, Float8E4M3FNType, Float8E4M3FNUZType,
             Float8E5M2Type, Float8E8M0FNUType>(type);
}

static bool isInteger(Type type) {
  return type.isInteger(8) || type.isInteger(16) || type.isInteger(32) ||
         type.isInteger(64);
}

bool rmsnorm::isStorable(Type type) {
  return isNumber(type) || isNarrow(type) || type.isInteger(1) ||
         isInteger(type);
}

/// Whether `op`, on `types`, may have a value of `type`.
static bool isAllowed(Types types, Type type) {
  if (isa<FloatType>(type))
    return isNumber(type) || (types != Types::numbers && isNarrow(type));
  const bool hasBits = types == Types::bits || types == Types::conversions;
  return isInteger(type) || type.isIndex() || (hasBits && type.isInteger(1));
}

static StringRef getExpected(Types types, Type got) {
  if (!isa<FloatType>(got))
    return types == Types::bits || types == Types::conversions
               ? "i1, i8, i16, i32 or i64"
               : "i8, i16, i32 or i64";
  return types == Types::numbers ? "f16, bf16 or f32"
                                 : "f16, bf16, f32, f8E4M3FN, f8E4M3FNUZ, "
                                   "f8E5M2, f8E8M0FNU or f4E2M1FN";
}

/// Whether the bits of `type` are known to the oracle: as IEEE's, or an
/// exponent.
static bool hasKnownBits(Type type) {
  return !isNarrow(type) || isa<Float8E5M2Type, Float8E8M0FNUType>(type);
}

std::string rmsnorm::whyNotComputable(Operation *op) {
  const Types types = getTypes(op);
  if (types == Types::none) {
    const StringRef instead = getInstead(op->getName().getStringRef());
    return "is computed by no kernel" +
           (instead.empty() ? "" : ": expected " + instead).str();
  }
  // Nothing is computed in f64, but numbers may be written in it.
  if (op->hasTrait<OpTrait::ConstantLike>())
    return "";
  auto check = [&](Type type, bool isFlag) -> std::string {
    type = getElementTypeOrSelf(type);
    if (!(isFlag && type.isInteger(1)) && !isAllowed(types, type))
      return llvm::formatv("expected {0}, got '{1}'", getExpected(types, type),
                           type);
    if (isa<arith::BitcastOp>(op) && !hasKnownBits(type))
      return llvm::formatv("expected the bits of f16, bf16, f32, f8E5M2 or "
                           "f8E8M0FNU, got those of '{0}'",
                           type);
    return "";
  };
  if (!isa<arith::TruncFOp>(op) ||
      !matchPattern(op->getOperand(0), m_Constant()))
    for (Type type : op->getOperandTypes())
      if (std::string reason = check(type, /*isFlag=*/false); !reason.empty())
        return reason;
  // A comparison or a classification gives i1, whatever it is of.
  for (Type type : op->getResultTypes())
    if (std::string reason = check(type, /*isFlag=*/true); !reason.empty())
      return reason;
  auto truncation = dyn_cast<arith::TruncFOp>(op);
  using Mode = arith::RoundingMode;
  const Mode mode =
      truncation ? truncation.getRoundingmode().value_or(Mode::to_nearest_even)
                 : Mode::to_nearest_even;
  // Powers of two have every mode.
  if (mode != Mode::to_nearest_even &&
      !isa<Float8E8M0FNUType>(getElementTypeOrSelf(truncation.getType())))
    return llvm::formatv("expected rounding to nearest even, got '{0}'",
                         stringifyRoundingMode(mode));
  return "";
}

/// The number of products is that of the exponent's bits, their error that many
/// roundings as it counts: beyond this, a logarithm errs no more.
static constexpr int64_t kLargestPower = 64;

std::optional<int64_t> rmsnorm::getPowerOfProducts(Operation *op) {
  if (!isa<math::FPowIOp, math::PowFOp>(op))
    return std::nullopt;
  Attribute attribute;
  if (!matchPattern(op->getOperand(1), m_Constant(&attribute)))
    return std::nullopt;
  if (auto splat = dyn_cast<SplatElementsAttr>(attribute))
    attribute = splat.getSplatValue<Attribute>();
  std::optional<int64_t> power;
  if (auto integer = dyn_cast<IntegerAttr>(attribute))
    power = integer.getValue().getSExtValue();
  else if (auto number = dyn_cast<FloatAttr>(attribute);
           number && number.getValue().isInteger() &&
           std::abs(number.getValueAsDouble()) <= double(kLargestPower))
    power = static_cast<int64_t>(number.getValueAsDouble());
  if (!power || *power < -kLargestPower || *power > kLargestPower)
    return std::nullopt;
  return power;
}
