// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandFloat8.cpp - conversions of f8 and f4 types ------------------===//

#include "ExpandFloat8.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace mlir::rmsnorm;

bool rmsnorm::isFloat8(Type type) {
  return isa<Float8E4M3FNType, Float8E4M3FNUZType, Float8E5M2Type,
             Float8E8M0FNUType, Float4E2M1FNType>(getElementTypeOrSelf(type));
}

Type rmsnorm::withElement(Type type, Type element) {
  auto shaped = dyn_cast<ShapedType>(type);
  return shaped ? shaped.clone(element) : element;
}

namespace {
/// Arithmetic on scalars or vectors alike, with splat constants.
struct Words {
  Words(ImplicitLocOpBuilder &b, Type shape)
      : b(b), words(withElement(shape, b.getI32Type())),
        floats(withElement(shape, b.getF32Type())) {}

  Value word(int64_t value) {
    return createScalarOrSplatConstant(b, b.getLoc(), words, value);
  }
  Value bits(Value value) { return arith::BitcastOp::create(b, words, value); }
  Value number(Value value) {
    return arith::BitcastOp::create(b, floats, value);
  }
  Value above(Value value, int64_t limit) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ugt, value,
                                 word(limit));
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }

  ImplicitLocOpBuilder &b;
  Type words, floats;
};

/// The meaning of the bits of an f8 type.
struct Layout8 {
  explicit Layout8(FloatType type)
      : mantissa(int(type.getFPMantissaWidth()) - 1),
        minExponent(
            llvm::APFloat::semanticsMinExponent(type.getFloatSemantics())),
        largest(llvm::APFloat::getLargest(type.getFloatSemantics())),
        hasInfinity(llvm::APFloat::semanticsHasInf(type.getFloatSemantics())),
        hasNegativeZero(llvm::APFloat::getZero(type.getFloatSemantics(), true)
                            .isNegative()) {
    if (llvm::APFloat::semanticsHasNaN(type.getFloatSemantics()))
      nan = llvm::APFloat::getQNaN(type.getFloatSemantics())
                .bitcastToAPInt()
                .getZExtValue();
    largestBits = largest.bitcastToAPInt().getZExtValue();
  }

  /// The number to add to the exponent of an f32, in units of f8's last place.
  int64_t rebias() const { return int64_t(126 + minExponent) << mantissa; }
  /// The f32 bits of 2^`exponent`.
  static int64_t power(int exponent) { return int64_t(exponent + 127) << 23; }

  int mantissa, minExponent;
  llvm::APFloat largest;
  bool hasInfinity, hasNegativeZero;
  int64_t nan = 0, largestBits;
};
} // namespace

//===----------------------------------------------------------------------===//
// In integers
//===----------------------------------------------------------------------===//

/// The bits of `value`, f32, rounded to `type`, as i8.
static Value expandTruncation(ImplicitLocOpBuilder &b, Value value,
                              FloatType type) {
  const Layout8 f8(type);
  Words w(b, value.getType());
  const int shift = 23 - f8.mantissa;
  Value all = w.bits(value);
  Value size = arith::AndIOp::create(b, all, w.word(0x7fffffff));
  // To nearest even in the last place that stays: half of it, less one if it is
  // even, may carry into the exponent.
  Value places = arith::ShRUIOp::create(b, size, w.word(shift));
  Value odd = arith::AndIOp::create(b, places, w.word(1));
  Value half =
      arith::AddIOp::create(b, odd, w.word((int64_t(1) << (shift - 1)) - 1));
  Value normal = arith::ShRUIOp::create(b, arith::AddIOp::create(b, size, half),
                                        w.word(shift));
  normal = arith::SubIOp::create(b, normal, w.word(f8.rebias()));
  // Below the smallest normal number: added to that whose last place in f32 is
  // that of f8 there, f32 rounds.
  const int64_t magic = Layout8::power(f8.minExponent + shift);
  Value moved =
      arith::AddFOp::create(b, w.number(size), w.number(w.word(magic)));
  Value subnormal = arith::SubIOp::create(b, w.bits(moved), w.word(magic));
  Value result = w.select(w.above(size, Layout8::power(f8.minExponent) - 1),
                          normal, subnormal);
  const int64_t overflow = f8.hasInfinity ? f8.largestBits + 1 : f8.nan;
  result = w.select(w.above(result, f8.largestBits), w.word(overflow), result);
  if (f8.hasInfinity)
    result = w.select(w.above(size, 0x7f800000), w.word(f8.nan), result);
  Value sign = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, all, w.word(24)), w.word(0x80));
  if (!f8.hasNegativeZero) {
    // The bits of -0 are NaN: neither zero nor NaN has a sign.
    Value isNumber = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ult,
        arith::SubIOp::create(b, result, w.word(1)), w.word(f8.largestBits));
    sign = w.select(isNumber, sign, w.word(0));
  }
  result = arith::OrIOp::create(b, result, sign);
  return arith::TruncIOp::create(b, withElement(value.getType(), b.getI8Type()),
                                 result);
}

/// `bytes`, the bits of numbers of `type`, as f32.
static Value expandExtension(ImplicitLocOpBuilder &b, Value bytes,
                             FloatType type) {
  const Layout8 f8(type);
  Words w(b, bytes.getType());
  const int shift = 23 - f8.mantissa;
  Value all = arith::ExtUIOp::create(b, w.words, bytes);
  Value size = arith::AndIOp::create(b, all, w.word(0x7f));
  Value places = arith::ShLIOp::create(b, size, w.word(shift));
  Value normal = arith::AddIOp::create(b, places, w.word(f8.rebias() << shift));
  // Without a leading one: with one, less that one.
  const int64_t smallest = Layout8::power(f8.minExponent);
  Value subnormal = w.bits(arith::SubFOp::create(
      b, w.number(arith::AddIOp::create(b, places, w.word(smallest))),
      w.number(w.word(smallest))));
  Value result =
      w.select(w.above(size, (1 << f8.mantissa) - 1), normal, subnormal);
  if (f8.hasInfinity)
    result =
        w.select(w.above(size, f8.largestBits),
                 arith::OrIOp::create(b, places, w.word(0x7f800000)), result);
  else if (f8.hasNegativeZero)
    result =
        w.select(w.above(size, f8.largestBits), w.word(0x7fc00000), result);
  Value sign = arith::ShLIOp::create(
      b, arith::AndIOp::create(b, all, w.word(0x80)), w.word(24));
  result = arith::OrIOp::create(b, result, sign);
  if (!f8.hasNegativeZero) {
    Value isNaN =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, all, w.word(f8.nan));
    result = w.select(isNaN, w.word(0x7fc00000), result);
  }
  return w.number(result);
}

/// `bits`, i4, of f4E2M1FN, as f32.
static Value expandFloat4(ImplicitLocOpBuilder &b, Value bits) {
  Words w(b, bits.getType());
  return extendFloat4(
      b, arith::ShLIOp::create(b, arith::ExtUIOp::create(b, w.words, bits),
                               w.word(28)));
}

/// The exponent, f8E8M0FNU, of `value`, f32: 2^-127, whose bits are zero, for
/// smaller numbers; NaN for negative numbers, for too large ones and for NaN.
static Value expandToExponent(ImplicitLocOpBuilder &b, Value value,
                              arith::RoundingMode mode) {
  Words w(b, value.getType());
  Value all = w.bits(value);
  Value size = arith::AndIOp::create(b, all, w.word(0x7fffffff));
  // The mantissas that carry into the exponent: all but the power itself, half
  // of it and more (a number of one bit is odd), or none. 2^-127 and numbers
  // below 2^-126 have the exponent 0 in f32, and one bit less after the first.
  auto carry = [&](int64_t normal, int64_t subnormal) {
    Value least = w.word(0x00800000);
    Value isSubnormal =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, size, least);
    size = arith::AddIOp::create(
        b, size, w.select(isSubnormal, w.word(subnormal), w.word(normal)));
  };
  if (mode == arith::RoundingMode::upward)
    carry(0x007fffff, 0x003fffff);
  else if (mode == arith::RoundingMode::to_nearest_even ||
           mode == arith::RoundingMode::to_nearest_away)
    carry(0x00400000, 0x00200000);
  Value result = arith::MinUIOp::create(
      b, arith::ShRUIOp::create(b, size, w.word(23)), w.word(0xff));
  result = w.select(w.above(all, 0x80000000), w.word(0xff), result);
  return arith::TruncIOp::create(b, withElement(value.getType(), b.getI8Type()),
                                 result);
}

/// The powers of two, f32, whose exponents are `bytes`, i8.
static Value expandExponent(ImplicitLocOpBuilder &b, Value bytes) {
  Words w(b, bytes.getType());
  Value all = arith::ExtUIOp::create(b, w.words, bytes);
  Value result = arith::ShLIOp::create(b, all, w.word(23));
  // Neither 0 nor infinity.
  result = arith::MaxUIOp::create(b, result, w.word(0x00400000));
  return w.number(w.select(w.above(all, 0xfe), w.word(0x7fc00000), result));
}

Value rmsnorm::roundToFloat4(ImplicitLocOpBuilder &b, Value value) {
  Words w(b, value.getType());
  // Of |x| the number is 2 |x| up to 2, |x| + 2 up to 4 and |x| / 2 + 4 beyond:
  // the least of three lines. Numbers of f32 from kFloat4Base on have the step
  // 1, so that each is rounded once, where it is added; rounding is monotone,
  // and the least one rounded the rounded least. As integers they compare as
  // they do as numbers; NaN is above all.
  const double base = llvm::bit_cast<float>(uint32_t(kFloat4Base));
  auto line = [&](double slope, double offset) {
    auto number = [&](double constant) {
      return createScalarOrSplatConstant(b, b.getLoc(), w.floats,
                                         APFloat(float(constant)));
    };
    return w.bits(math::FmaOp::create(b, math::AbsFOp::create(b, value),
                                      number(slope), number(base + offset)));
  };
  Value least = arith::MinUIOp::create(b, line(2, 0), line(1, 2));
  least = arith::MinUIOp::create(b, least, line(0.5, 4));
  return arith::MinUIOp::create(b, least, w.word(kFloat4Base + 7));
}

Value rmsnorm::extendFloat4(ImplicitLocOpBuilder &b, Value words) {
  Words w(b, words.getType());
  // The sign and, where an f32 has the lowest bits of its exponent and the
  // highest one of its mantissa, the rest: 2^-126 times the number, also of
  // those without a leading one.
  Value shifted = arith::ShRSIOp::create(b, words, w.word(6));
  Value small = w.number(arith::AndIOp::create(b, shifted, w.word(0x81c00000)));
  return arith::MulFOp::create(b, small, w.number(w.word(Layout8::power(126))));
}

/// The bits of `value`, f32, rounded to f4E2M1FN, as i4.
static Value expandToFloat4(ImplicitLocOpBuilder &b, Value value) {
  Words w(b, value.getType());
  Value result = arith::AndIOp::create(b, roundToFloat4(b, value), w.word(7));
  Value sign = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, w.bits(value), w.word(28)), w.word(8));
  result = arith::OrIOp::create(b, result, sign);
  return arith::TruncIOp::create(
      b, withElement(value.getType(), b.getIntegerType(4)), result);
}

Value rmsnorm::toF32(ImplicitLocOpBuilder &b, Value value) {
  Type f32 = withElement(value.getType(), b.getF32Type());
  return value.getType() == f32
             ? value
             : arith::ExtFOp::create(b, f32, value).getResult();
}

Value rmsnorm::fromF32(ImplicitLocOpBuilder &b, Value value, Type type) {
  const unsigned width = getElementTypeOrSelf(type).getIntOrFloatBitWidth();
  if (width < 32)
    return arith::TruncFOp::create(b, type, value);
  return width > 32 ? arith::ExtFOp::create(b, type, value).getResult() : value;
}

namespace {
struct ExpandTruncation : OpRewritePattern<arith::TruncFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::TruncFOp op,
                                PatternRewriter &rewriter) const override {
    if (!isFloat8(op.getType()) ||
        getElementTypeOrSelf(op.getIn().getType()).isF64())
      return rewriter.notifyMatchFailure(op, "not from f32 or less to f8");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto type = cast<FloatType>(getElementTypeOrSelf(op.getType()));
    Value in = toF32(b, op.getIn());
    Value bytes =
        isa<Float8E8M0FNUType>(type)
            ? expandToExponent(b, in,
                               op.getRoundingmode().value_or(
                                   arith::RoundingMode::to_nearest_even))
        : isa<Float4E2M1FNType>(type) ? expandToFloat4(b, in)
                                      : expandTruncation(b, in, type);
    rewriter.replaceOpWithNewOp<arith::BitcastOp>(op, op.getType(), bytes);
    return success();
  }
};

struct ExpandExtension : OpRewritePattern<arith::ExtFOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(arith::ExtFOp op,
                                PatternRewriter &rewriter) const override {
    Type type = op.getIn().getType();
    if (!isFloat8(type))
      return rewriter.notifyMatchFailure(op, "not from f8");
    ImplicitLocOpBuilder b(op.getLoc(), rewriter);
    auto element = cast<FloatType>(getElementTypeOrSelf(type));
    Value bytes = arith::BitcastOp::create(
        b, withElement(type, b.getIntegerType(element.getWidth())), op.getIn());
    Value wide = isa<Float8E8M0FNUType>(element) ? expandExponent(b, bytes)
                 : isa<Float4E2M1FNType>(element)
                     ? expandFloat4(b, bytes)
                     : expandExtension(b, bytes, element);
    rewriter.replaceOp(op, fromF32(b, wide, op.getType()));
    return success();
  }
};
} // namespace

void rmsnorm::populateExpandFloat8Patterns(RewritePatternSet &patterns) {
  patterns.add<ExpandTruncation, ExpandExtension>(patterns.getContext());
}
