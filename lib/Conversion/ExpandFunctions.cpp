// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandFunctions.cpp - functions by arithmetic ----------------------===//

#include "ExpandFunctions.h"

#include "RMSNorm/IR/ElementOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rmsnorm;

bool rmsnorm::isNative(Operation *op) {
  return isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
             math::CountLeadingZerosOp, math::CountTrailingZerosOp,
             math::CtPopOp, math::FloorOp, math::FmaOp, math::IsFiniteOp,
             math::IsNaNOp, math::RoundEvenOp, math::SqrtOp, math::TruncOp>(op);
}

/// Approximated by upstream's polynomials, within a few ulp of f32.
static bool isApproximated(StringRef name) {
  return llvm::is_contained<StringRef>(
      {"math.erfc", "math.expm1", "math.log1p", "math.asin", "math.acos"},
      name);
}

static Type getElement(Value value) {
  return getElementTypeOrSelf(value.getType());
}

namespace {

/// Arithmetic on values of one type, a float or vectors of one.
struct VectorMath {
  using Predicate = arith::CmpFPredicate;

  ImplicitLocOpBuilder b;
  Type type;

  Value constant(double value) {
    APFloat number(value);
    bool losesInfo;
    number.convert(
        cast<FloatType>(getElementTypeOrSelf(type)).getFloatSemantics(),
        APFloat::rmNearestTiesToEven, &losesInfo);
    return createScalarOrSplatConstant(b, b.getLoc(), type, number);
  }
  Value infinity() { return constant(HUGE_VAL); }
  Value mul(Value lhs, Value rhs) { return arith::MulFOp::create(b, lhs, rhs); }
  Value add(Value lhs, Value rhs) { return arith::AddFOp::create(b, lhs, rhs); }
  Value sub(Value lhs, Value rhs) { return arith::SubFOp::create(b, lhs, rhs); }
  Value div(Value lhs, Value rhs) { return arith::DivFOp::create(b, lhs, rhs); }
  Value neg(Value value) { return arith::NegFOp::create(b, value); }
  Value abs(Value value) { return math::AbsFOp::create(b, value); }
  Value floor(Value value) { return math::FloorOp::create(b, value); }
  Value exp2(Value value) { return math::Exp2Op::create(b, value); }
  Value copysign(Value value, Value sign) {
    return math::CopySignOp::create(b, value, sign);
  }
  Value fma(Value lhs, Value rhs, Value sum) {
    return math::FmaOp::create(b, lhs, rhs, sum);
  }
  /// A polynomial, by its coefficients from that of the highest power down.
  Value polynomial(Value value, ArrayRef<double> coefficients) {
    Value sum = constant(coefficients.front());
    for (double coefficient : coefficients.drop_front())
      sum = fma(sum, value, constant(coefficient));
    return sum;
  }
  Value compare(Predicate predicate, Value lhs, Value rhs) {
    return arith::CmpFOp::create(b, predicate, lhs, rhs);
  }
  Value isBelow(Value lhs, Value rhs) {
    return compare(Predicate::OLT, lhs, rhs);
  }
  Value isEqual(Value lhs, Value rhs) {
    return compare(Predicate::OEQ, lhs, rhs);
  }
  /// Whether the sign is that of a negative number: of -0, too.
  Value isMinus(Value value) {
    return isBelow(copysign(constant(1), value), constant(0));
  }
  Value both(Value lhs, Value rhs) {
    return arith::AndIOp::create(b, lhs, rhs);
  }
  Value either(Value lhs, Value rhs) {
    return arith::OrIOp::create(b, lhs, rhs);
  }
  Value select(Value condition, Value yes, Value no) {
    return arith::SelectOp::create(b, condition, yes, no);
  }
  Value selectBelow(double limit, Value value, Value below, Value above) {
    return select(isBelow(value, constant(limit)), below, above);
  }
  /// e^(factor * value).
  Value exp(Value value, double factor = 1) {
    return exp2(mul(value, constant(factor * llvm::numbers::log2e)));
  }
  /// e^(factor * value) / 2, which does not overflow before it must.
  Value halfExp(Value value, double factor) {
    return exp2(
        fma(value, constant(factor * llvm::numbers::log2e), constant(-1)));
  }
};

/// A rewriting of `Op`, of values whose first operand is `VectorMath::type`;
/// that is f32, or any float. Null where it does not apply.
template <typename Op> struct Expand final : OpRewritePattern<Op> {
  using Function = Value (*)(VectorMath &, Op);

  Expand(MLIRContext *context, Function function, bool isOfAnyFloat)
      : OpRewritePattern<Op>(context), function(function),
        isOfAnyFloat(isOfAnyFloat) {}

  LogicalResult matchAndRewrite(Op op,
                                PatternRewriter &rewriter) const override {
    Value first = op->getOperand(0);
    if (!isOfAnyFloat && !getElement(first).isF32())
      return rewriter.notifyMatchFailure(op, "not f32");
    VectorMath a{{op.getLoc(), rewriter}, first.getType()};
    Value result = function(a, op);
    if (!result)
      return rewriter.notifyMatchFailure(op, "not of this form");
    rewriter.replaceOp(op, result);
    return success();
  }

  Function function;
  bool isOfAnyFloat;
};

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

Value expandExp(VectorMath &a, math::ExpOp op) {
  return a.exp(op.getOperand());
}

/// 1 - 2 / (e^2|x| + 1), which cancels near 0, where Cephes' polynomial (tanhf,
/// |x| < 0.625) is taken.
Value expandTanh(VectorMath &a, math::TanhOp op) {
  Value x = op.getOperand();
  Value magnitude = a.abs(x);
  Value one = a.constant(1);
  Value quotient = a.div(one, a.add(one, a.exp(magnitude, /*factor=*/2)));
  Value large = a.copysign(a.fma(a.constant(-2), quotient, one), x);
  Value square = a.mul(x, x);
  Value sum = a.polynomial(square, {-5.70498872745e-3, 2.06390887954e-2,
                                    -5.37397155531e-2, 1.33314422036e-1,
                                    -3.33332819422e-1});
  Value small = a.fma(a.mul(sum, square), x, x);
  return a.selectBelow(0.625, magnitude, small, large);
}

/// (e^x - e^-x) / 2, which cancels near 0, where Taylor's polynomial errs by
/// 2.1e-8 at most.
Value expandSinh(VectorMath &a, math::SinhOp op) {
  Value x = op.getOperand();
  Value square = a.mul(x, x);
  Value sum =
      a.polynomial(square, {1.0 / 362880, 1.0 / 5040, 1.0 / 120, 1.0 / 6});
  Value small = a.fma(a.mul(sum, square), x, x);
  Value large = a.sub(a.halfExp(x, 1), a.halfExp(x, -1));
  return a.selectBelow(1, a.abs(x), small, large);
}

Value expandCosh(VectorMath &a, math::CoshOp op) {
  Value x = op.getOperand();
  return a.add(a.halfExp(x, 1), a.halfExp(x, -1));
}

/// 1 - 2^p(|x|), which cancels near 0, where x q(x^2) is taken. p and q are
/// minimax polynomials: of log2(erfc(x)) from 0.75 to 3.92, weighted by
/// erfc(x), and of erf(x) / x up to 0.75. p falls for ever: no x is too large.
Value expandErf(VectorMath &a, math::ErfOp op) {
  Value x = op.getOperand();
  Value magnitude = a.abs(x);
  Value complement = a.exp2(a.polynomial(
      magnitude, {-2.034471278e-03, 2.417350419e-02, -1.363319082e-01,
                  -9.320028831e-01, -1.620744753e+00, -1.476653894e-03}));
  Value large = a.copysign(a.sub(a.constant(1), complement), x);
  Value small =
      a.mul(a.polynomial(a.mul(x, x),
                         {4.158813049e-03, -2.636023427e-02, 1.127373496e-01,
                          -3.761192957e-01, 1.128379086e+00}),
            x);
  return a.selectBelow(0.75, magnitude, small, large);
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

/// The exponent e of a number in [sqrt(1/2), sqrt(2)) 2^e, and what that is
/// more than 1 without 2^e, exactly.
struct Parts {
  Value exponent, fraction;
};

Parts takeApart(VectorMath &a, Value x) {
  Type words = a.b.getI32Type();
  if (auto vector = dyn_cast<VectorType>(a.type))
    words = vector.clone(words);
  auto word = [&](int64_t value) {
    return createScalarOrSplatConstant(a.b, a.b.getLoc(), words, value);
  };
  Value one = a.constant(1), zero = a.constant(0);
  // Numbers that are not normal have no exponent.
  Value isSmall = a.isBelow(x, a.constant(0x1p-126));
  Value bits = arith::BitcastOp::create(
      a.b, words, a.select(isSmall, a.mul(x, a.constant(0x1p24)), x));
  Value exponent = arith::SIToFPOp::create(
      a.b, a.type, arith::ShRUIOp::create(a.b, bits, word(23)));
  Value fraction = arith::BitcastOp::create(
      a.b, a.type,
      arith::OrIOp::create(a.b,
                           arith::AndIOp::create(a.b, bits, word(0x7fffff)),
                           word(0x3f000000)));
  Value isLow = a.isBelow(fraction, a.constant(llvm::numbers::sqrt2 / 2));
  exponent =
      a.sub(exponent, a.select(isSmall, a.constant(126 + 24), a.constant(126)));
  exponent = a.sub(exponent, a.select(isLow, one, zero));
  fraction = a.add(a.sub(fraction, one), a.select(isLow, fraction, zero));
  return {exponent, fraction};
}

/// log(1 + fraction), by Cephes' polynomial (logf).
Value logOfOneMore(VectorMath &a, Value fraction) {
  Value square = a.mul(fraction, fraction);
  Value sum = a.polynomial(
      fraction, {7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1,
                 -1.2420140846e-1, 1.4249322787e-1, -1.6668057665e-1,
                 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1});
  Value rest =
      a.fma(a.constant(-0.5), square, a.mul(a.mul(sum, fraction), square));
  return a.add(fraction, rest);
}

/// `logarithm` of what is positive and finite; of other x what it must be.
Value logarithmOf(VectorMath &a, Value x, Value logarithm) {
  Value zero = a.constant(0);
  Value result = a.select(a.isEqual(x, a.infinity()), a.infinity(), logarithm);
  result = a.select(a.isEqual(x, zero), a.constant(-HUGE_VAL), result);
  return a.select(a.compare(VectorMath::Predicate::OGE, x, zero), result,
                  a.constant(NAN));
}

Value expandLog(VectorMath &a, math::LogOp op) {
  Parts parts = takeApart(a, op.getOperand());
  return logarithmOf(a, op.getOperand(),
                     a.fma(parts.exponent, a.constant(llvm::numbers::ln2),
                           logOfOneMore(a, parts.fraction)));
}

Value expandLog2(VectorMath &a, math::Log2Op op) {
  Parts parts = takeApart(a, op.getOperand());
  return logarithmOf(a, op.getOperand(),
                     a.fma(logOfOneMore(a, parts.fraction),
                           a.constant(llvm::numbers::log2e), parts.exponent));
}

Value expandLog10(VectorMath &a, math::Log10Op op) {
  return a.mul(math::LogOp::create(a.b, op.getOperand()),
               a.constant(1 / llvm::numbers::ln10));
}

/// Of squares above it there are none of f32; the logarithm of x + 1 is that of
/// x long before.
constexpr double kLargeSquare = 0x1p60;

/// log(2 x), of a large x.
Value logOfTwice(VectorMath &a, Value x) {
  return a.add(math::LogOp::create(a.b, x), a.constant(llvm::numbers::ln2));
}

/// log(|x| + sqrt(x^2 + 1)), in a form in which nothing cancels.
Value expandAsinh(VectorMath &a, math::AsinhOp op) {
  Value x = op.getOperand();
  Value magnitude = a.abs(x);
  Value square = a.mul(x, x);
  Value one = a.constant(1);
  Value root = math::SqrtOp::create(a.b, a.add(square, one));
  Value result = math::Log1pOp::create(
      a.b, a.add(magnitude, a.div(square, a.add(root, one))));
  return a.copysign(
      a.selectBelow(kLargeSquare, magnitude, result, logOfTwice(a, magnitude)),
      x);
}

/// log(x + sqrt(x^2 - 1)), by t = x - 1.
Value expandAcosh(VectorMath &a, math::AcoshOp op) {
  Value x = op.getOperand();
  Value t = a.sub(x, a.constant(1));
  Value root = math::SqrtOp::create(a.b, a.fma(t, t, a.add(t, t)));
  Value result =
      a.selectBelow(kLargeSquare, x, math::Log1pOp::create(a.b, a.add(t, root)),
                    logOfTwice(a, x));
  return a.selectBelow(1, x, a.constant(NAN), result);
}

/// log((1 + |x|) / (1 - |x|)) / 2.
Value expandAtanh(VectorMath &a, math::AtanhOp op) {
  Value x = op.getOperand();
  Value magnitude = a.abs(x);
  Value quotient =
      a.div(a.add(magnitude, magnitude), a.sub(a.constant(1), magnitude));
  return a.copysign(
      a.mul(math::Log1pOp::create(a.b, quotient), a.constant(0.5)), x);
}

//===----------------------------------------------------------------------===//
// Powers
//===----------------------------------------------------------------------===//

/// `base` to a constant power, by the bits of it from the lowest up.
Value powerOfProducts(VectorMath &a, Value base, int64_t power) {
  if (power == 0)
    return a.constant(1);
  // The reciprocal first: a power of `base` may be too large, or too small to
  // be inverted, where that of the reciprocal is not.
  if (power < 0)
    base = a.div(a.constant(1), base);
  Value result;
  for (uint64_t bits = std::abs(power);;) {
    if (bits & 1)
      result = result ? a.mul(base, result) : base;
    if ((bits >>= 1) == 0)
      return result;
    base = a.mul(base, base);
  }
}

/// A number as the sum of two, of which the second is too small to change the
/// first.
struct TwoSum {
  Value sum, rest;
};

/// The logarithm to base 2 of a positive finite number, within 2^-29 of itself:
/// a power is as far off as it is, times the power's own logarithm. By
/// log(m) = 2 atanh(q), q = (m - 1) / (m + 1), in which q and q^3 are sums of
/// two; the minimax polynomial of (atanh(q) / q - 1) / q^2 errs by 2^-36.
TwoSum log2InTwo(VectorMath &a, Value x) {
  Parts parts = takeApart(a, x);
  Value fraction = parts.fraction;
  Value two = a.constant(2);
  Value divisor = a.add(fraction, two);
  Value q = a.div(fraction, divisor);
  Value qRest =
      a.div(a.fma(q, a.neg(fraction), a.fma(q, a.neg(two), fraction)), divisor);
  Value square = a.mul(q, q);
  Value squareRest = a.fma(q, a.add(qRest, qRest), a.fma(q, q, a.neg(square)));
  Value cube = a.mul(square, q);
  Value cubeRest =
      a.fma(square, qRest, a.fma(squareRest, q, a.fma(square, q, a.neg(cube))));
  Value factor = a.polynomial(
      square, {1.1709911151e-1, 1.4273541797e-1, 2.0000076322e-1, 1.0 / 3});
  Value rest = a.fma(factor, cube, a.fma(factor, cubeRest, qRest));
  // 2 / log(2), in two.
  constexpr double scale = 2 * llvm::numbers::log2e;
  Value high = a.constant(float(scale));
  Value product = a.mul(q, high);
  Value productRest = a.fma(q, high, a.neg(product));
  productRest = a.fma(q, a.constant(scale - float(scale)), productRest);
  productRest = a.fma(rest, high, productRest);
  // The exponent is zero, or larger than the product.
  Value sum = a.add(parts.exponent, product);
  Value sumRest =
      a.add(a.sub(product, a.sub(sum, parts.exponent)), productRest);
  Value result = a.add(sum, sumRest);
  return {result, a.sub(sumRest, a.sub(result, sum))};
}

/// |x|^y with the sign of x, if y is odd: 2^(y log2|x|). 1 where the logarithm
/// is zero, however large y is.
Value powerOfLogarithm(VectorMath &a, Value x, Value y, Value isOdd) {
  Value magnitude = a.abs(x);
  Value zero = a.constant(0), one = a.constant(1);
  TwoSum logarithm = log2InTwo(a, magnitude);
  Value log2 = logarithmOf(a, magnitude, logarithm.sum);
  Value exponent = a.mul(y, log2);
  Value rest = a.fma(y, logarithm.rest, a.fma(y, log2, a.neg(exponent)));
  // 2^128 is infinite, but not if the rest is negative.
  Value less = a.selectBelow(64, exponent, zero, one);
  Value power = a.exp2(a.sub(exponent, less));
  Value more = a.fma(power, a.mul(rest, a.constant(llvm::numbers::ln2)), power);
  // From -161 to 129; beyond that it is zero or infinite, whatever the rest is.
  Value distance = a.abs(a.add(exponent, a.constant(16)));
  power = a.selectBelow(145, distance, more, power);
  power = a.fma(power, less, power);
  // Not of a y that is NaN.
  Value isOne = a.both(a.isEqual(magnitude, one), a.isEqual(y, y));
  power = a.select(isOne, one, power);
  power = a.select(a.both(a.isMinus(x), isOdd), a.neg(power), power);
  return a.select(a.isEqual(y, a.constant(0)), one, power);
}

/// As pow of C.
Value expandPowF(VectorMath &a, math::PowFOp op) {
  Value x = op.getLhs(), y = op.getRhs();
  if (std::optional<int64_t> power = getPowerOfProducts(op))
    return powerOfProducts(a, x, *power);
  Value half = a.mul(y, a.constant(0.5));
  Value isInteger = a.isEqual(a.floor(y), y);
  // An infinity is even.
  Value isOdd = a.both(
      isInteger, a.compare(VectorMath::Predicate::ONE, a.floor(half), half));
  Value power = powerOfLogarithm(a, x, y, isOdd);
  // A root of a negative number, which is NaN unless that is infinite.
  Value isFinite =
      a.compare(VectorMath::Predicate::OGT, x, a.constant(-HUGE_VAL));
  Value isNegative = a.both(a.isBelow(x, a.constant(0)), isFinite);
  Value isRoot =
      a.both(isNegative, a.compare(VectorMath::Predicate::ONE, a.floor(y), y));
  power = a.select(isRoot, a.constant(NAN), power);
  // Of a y that is NaN, too.
  Value one = a.constant(1);
  return a.select(a.isEqual(x, one), one, power);
}

Value expandFPowI(VectorMath &a, math::FPowIOp op) {
  Value x = op.getLhs(), exponent = op.getRhs();
  if (std::optional<int64_t> power = getPowerOfProducts(op))
    return powerOfProducts(a, x, *power);
  auto integer = [&](int64_t value) {
    return createScalarOrSplatConstant(a.b, a.b.getLoc(), exponent.getType(),
                                       value);
  };
  // Of a float above 2^24 the lowest bit is lost.
  Value bit = arith::AndIOp::create(a.b, exponent, integer(1));
  Value isOdd =
      arith::CmpIOp::create(a.b, arith::CmpIPredicate::ne, bit, integer(0));
  Value y = arith::SIToFPOp::create(a.b, a.type, exponent);
  return powerOfLogarithm(a, x, y, isOdd);
}

/// 2^(log2|x| / 3), and a step of Newton's; of 2^48 |x| where x is so small
/// that the step's error had few bits.
Value expandCbrt(VectorMath &a, math::CbrtOp op) {
  Value x = op.getOperand();
  Value isSmall = a.isBelow(a.abs(x), a.constant(0x1p-100));
  Value one = a.constant(1);
  Value magnitude = a.mul(a.abs(x), a.select(isSmall, a.constant(0x1p48), one));
  Value root =
      a.exp2(a.mul(math::Log2Op::create(a.b, magnitude), a.constant(1.0 / 3)));
  Value square = a.mul(root, root);
  Value error = a.fma(square, root, a.neg(magnitude));
  root = a.sub(root, a.div(error, a.mul(square, a.constant(3))));
  // 0 and infinity are their own roots, without a slope.
  Value isOwn = a.either(a.isEqual(magnitude, a.constant(0)),
                         a.isEqual(magnitude, a.infinity()));
  root = a.select(isOwn, magnitude, root);
  return a.copysign(a.mul(root, a.select(isSmall, a.constant(0x1p-16), one)),
                    x);
}

//===----------------------------------------------------------------------===//
// Angles
//===----------------------------------------------------------------------===//

/// From here on multiples of a quarter of a turn are not told apart: the
/// result is some number from -1 to 1.
constexpr double kLargestAngle = 0x1p20;

/// sin(x + quarters * pi / 2). The multiple of pi / 2 next to x is subtracted
/// in three parts (Cody and Waite), each by an fma. Then Cephes' polynomials
/// (sinf, cosf).
Value sinOf(VectorMath &a, Value x, double quarters) {
  Value count =
      math::RoundEvenOp::create(a.b, a.mul(x, a.constant(0.63661977236758134)));
  Value rest = x;
  for (double part :
       {1.5707963705062866, -4.371138828673793e-08, -1.7151245100058819e-15})
    rest = a.fma(count, a.constant(-part), rest);
  // NaN of infinities, small of what is too large to be exact.
  rest = a.select(a.isBelow(a.abs(rest), a.constant(1)), rest,
                  a.mul(rest, a.constant(0)));
  if (quarters != 0)
    count = a.add(count, a.constant(quarters));
  // No integer holds all counts.
  auto modulo = [&](double divisor) {
    return a.fma(a.floor(a.mul(count, a.constant(1 / divisor))),
                 a.constant(-divisor), count);
  };
  Value isOdd = a.isEqual(modulo(2), a.constant(1));
  Value isMinus =
      a.compare(VectorMath::Predicate::OGE, modulo(4), a.constant(2));
  Value square = a.mul(rest, rest);
  Value sine =
      a.fma(a.mul(a.polynomial(square, {-1.9515295891e-4, 8.3321608736e-3,
                                        -1.6666654611e-1}),
                  square),
            rest, rest);
  Value cosine =
      a.polynomial(square, {2.443315711809948e-5, -1.388731625493765e-3,
                            4.166664568298827e-2, -0.5, 1});
  Value result = a.select(isOdd, cosine, sine);
  return a.select(isMinus, a.neg(result), result);
}

Value expandSin(VectorMath &a, math::SinOp op) {
  return sinOf(a, op.getOperand(), 0);
}
Value expandCos(VectorMath &a, math::CosOp op) {
  return sinOf(a, op.getOperand(), 1);
}
Value expandTan(VectorMath &a, math::TanOp op) {
  return a.div(sinOf(a, op.getOperand(), 0), sinOf(a, op.getOperand(), 1));
}

/// The angle of (x, y), neither of which is negative: the arc tangent of the
/// smaller one by the larger one, at most 1, or of what that is turned back by
/// an eighth of a turn; by Cephes' polynomial (atanf).
Value angleOf(VectorMath &a, Value y, Value x) {
  Value isSteep = a.isBelow(x, y);
  Value lesser = a.select(isSteep, x, y), greater = a.select(isSteep, y, x);
  Value one = a.constant(1);
  // 0 / 0 is 0, and infinity by infinity 1.
  greater = a.select(a.isEqual(greater, a.constant(0)), one, greater);
  Value areInfinite =
      a.both(a.isEqual(lesser, a.infinity()), a.isEqual(greater, a.infinity()));
  lesser = a.select(areInfinite, one, lesser);
  greater = a.select(areInfinite, one, greater);
  // A division flushes divisors that are not normal, and those near infinity.
  Value factor =
      a.selectBelow(0x1p-64, greater, a.constant(0x1p64),
                    a.selectBelow(0x1p64, greater, one, a.constant(0x1p-64)));
  lesser = a.mul(lesser, factor);
  greater = a.mul(greater, factor);
  Value isNear =
      a.isBelow(a.mul(greater, a.constant(0.41421356237309503)), lesser);
  Value ratio = a.div(a.select(isNear, a.sub(lesser, greater), lesser),
                      a.select(isNear, a.add(lesser, greater), greater));
  Value square = a.mul(ratio, ratio);
  Value sum = a.polynomial(square, {8.05374449538e-2, -1.38776856032e-1,
                                    1.99777106478e-1, -3.33329491539e-1});
  Value angle = a.fma(a.mul(sum, square), ratio, ratio);
  angle = a.add(angle, a.select(isNear, a.constant(llvm::numbers::pi / 4),
                                a.constant(0)));
  return a.select(isSteep, a.sub(a.constant(llvm::numbers::pi / 2), angle),
                  angle);
}

Value expandAtan(VectorMath &a, math::AtanOp op) {
  Value x = op.getOperand();
  return a.copysign(angleOf(a, a.abs(x), a.constant(1)), x);
}

Value expandAtan2(VectorMath &a, math::Atan2Op op) {
  Value y = op.getLhs(), x = op.getRhs();
  Value angle = angleOf(a, a.abs(y), a.abs(x));
  angle = a.select(a.isMinus(x), a.sub(a.constant(llvm::numbers::pi), angle),
                   angle);
  return a.copysign(angle, y);
}

//===----------------------------------------------------------------------===//
// Roundings, remainders, classes
//===----------------------------------------------------------------------===//

/// To the nearest integer, half away from zero.
Value expandRound(VectorMath &a, math::RoundOp op) {
  Value x = op.getOperand();
  Value integer = math::TruncOp::create(a.b, x);
  Value away = a.add(integer, a.copysign(a.constant(1), x));
  return a.selectBelow(0.5, a.abs(a.sub(x, integer)), integer,
                       // Of a NaN the integer is one.
                       a.select(a.isEqual(x, x), away, integer));
}

/// Bits of a quotient that are taken away at a time. A division errs by 5
/// 2^-24, so that the integer part is known up to 1.
constexpr int kQuotientBits = 20;

/// What is left of x after y times the integer part of their quotient, exactly.
/// From above, multiples of y by powers of two are subtracted as often as they
/// fit; each difference has no more bits than y.
Value expandRemF(VectorMath &a, arith::RemFOp op) {
  Value x = op.getLhs(), y = op.getRhs();
  Value rest = a.abs(x), divisor = a.abs(y);
  Value one = a.constant(1), zero = a.constant(0);
  // From the largest number by the smallest one.
  auto isOfF16 = [](Value value) {
    auto extension = value.getDefiningOp<arith::ExtFOp>();
    return extension && getElement(extension.getIn()).isF16();
  };
  const int bits = isOfF16(x) && isOfF16(y) ? 16 + 24 : 128 + 149;
  SmallVector<Value> multiples = {divisor};
  for (int done = kQuotientBits; done < bits; done += kQuotientBits)
    multiples.push_back(
        a.mul(multiples.back(), a.constant(std::ldexp(1, kQuotientBits))));
  for (Value multiple : llvm::reverse(multiples)) {
    // A division flushes divisors that are not normal, and those near infinity.
    Value isSmall = a.isBelow(multiple, a.constant(0x1p-64));
    Value isLarge = a.isBelow(a.constant(0x1p64), multiple);
    auto scale = [&](double up) {
      return a.select(isSmall, a.constant(up),
                      a.select(isLarge, a.constant(1 / up), one));
    };
    Value factor = scale(0x1p64);
    Value scaled = a.mul(multiple, factor), dividend = a.mul(rest, factor);
    // The integer part, or one more.
    Value times = a.floor(a.add(a.div(dividend, scaled), a.constant(0.375)));
    Value less = a.fma(a.neg(times), scaled, dividend);
    less = a.select(a.isBelow(less, zero), a.add(less, scaled), less);
    rest = a.select(a.compare(VectorMath::Predicate::OGE, rest, multiple),
                    a.mul(less, scale(0x1p-64)), rest);
  }
  Value isNumber =
      a.both(a.isBelow(a.abs(x), a.infinity()), a.isBelow(zero, divisor));
  return a.select(isNumber, a.copysign(rest, x), a.constant(NAN));
}

/// A NaN stays one.
Value expandClampF(VectorMath &a, math::ClampFOp op) {
  Value least = arith::MaximumFOp::create(a.b, op.getValue(), op.getMin());
  return arith::MinimumFOp::create(a.b, least, op.getMax());
}

Value expandIsInf(VectorMath &a, math::IsInfOp op) {
  return a.isEqual(a.abs(op.getOperand()), a.infinity());
}

Value expandIsNormal(VectorMath &a, math::IsNormalOp op) {
  Value magnitude = a.abs(op.getOperand());
  const llvm::fltSemantics &format =
      cast<FloatType>(getElementTypeOrSelf(a.type)).getFloatSemantics();
  Value least = createScalarOrSplatConstant(
      a.b, a.b.getLoc(), a.type, APFloat::getSmallestNormalized(format));
  return a.both(a.isBelow(magnitude, a.infinity()),
                a.compare(VectorMath::Predicate::OGE, magnitude, least));
}

//===----------------------------------------------------------------------===//
// To i8
//===----------------------------------------------------------------------===//

/// A number added to this one, up to 2^22 in magnitude, is rounded to an
/// integer in the lowest bits: ulp(1.5 * 2^23) = 1.
constexpr double kRounder = 12582912.0;

/// `value`, which has integers only, before it was rounded to them, to even;
/// null if it is no such value.
Value getUnrounded(ImplicitLocOpBuilder &b, Value value) {
  Operation *op = value.getDefiningOp();
  if (auto rounding = dyn_cast_or_null<math::RoundEvenOp>(op))
    return rounding.getOperand();
  // Rounding and a clamp to integers commute.
  FloatAttr scalar;
  DenseFPElementsAttr splat;
  if (!isa_and_present<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                       arith::MinNumFOp>(op) ||
      !(matchPattern(op->getOperand(1), m_Constant(&scalar)) ||
        (matchPattern(op->getOperand(1), m_Constant(&splat)) &&
         splat.isSplat())))
    return {};
  const APFloat bound =
      scalar ? scalar.getValue() : splat.getSplatValue<APFloat>();
  Value in = bound.isInteger() ? getUnrounded(b, op->getOperand(0)) : Value();
  if (!in)
    return {};
  Operation *clamp = b.clone(*op);
  clamp->setOperand(0, in);
  return clamp->getResult(0);
}

/// An addition and the lowest byte, in place of a conversion, which takes GPUs
/// four times as long; they permute four bytes at a time. The value has
/// integers only; those that are no i8 are poison.
Value expandToI8(VectorMath &a, arith::FPToSIOp op) {
  if (!getElement(op.getResult()).isSignlessInteger(8))
    return {};
  Value in = getUnrounded(a.b, op.getIn());
  if (!in)
    return {};
  Type words = a.b.getI32Type();
  if (auto vector = dyn_cast<VectorType>(a.type))
    words = vector.clone(words);
  Value bits =
      arith::BitcastOp::create(a.b, words, a.add(in, a.constant(kRounder)));
  return arith::TruncIOp::create(a.b, op.getType(), bits);
}

//===----------------------------------------------------------------------===//
// Narrow types
//===----------------------------------------------------------------------===//

/// Whether `op`, on f16 or bf16, is computed in f32. Classes are of the type
/// itself. fma of f16 is an instruction everywhere.
bool isWidened(Operation *op) {
  if (isa<math::FmaOp>(op))
    return getElement(op->getOperand(0)).isBF16();
  if (isa<arith::MaxNumFOp, arith::MinNumFOp, arith::RemFOp, math::SqrtOp>(op))
    return true;
  return isa_and_present<math::MathDialect>(op->getDialect()) &&
         !isNative(op) &&
         !isa<math::ClampFOp, math::IsInfOp, math::IsNormalOp>(op);
}

struct Widen final : RewritePattern {
  explicit Widen(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/2, context) {}

  LogicalResult matchAndRewrite(Operation *op,
                                PatternRewriter &rewriter) const override {
    if (op->getNumOperands() == 0 || op->getNumResults() != 1 || !isWidened(op))
      return rewriter.notifyMatchFailure(op, "of any type");
    Type narrow = op->getResult(0).getType();
    if (!getElementTypeOrSelf(narrow).isF16() &&
        !getElementTypeOrSelf(narrow).isBF16())
      return rewriter.notifyMatchFailure(op, "not narrow");
    auto wide = [&](Type type) -> Type {
      if (auto vector = dyn_cast<VectorType>(type))
        return vector.clone(rewriter.getF32Type());
      return rewriter.getF32Type();
    };
    SmallVector<Value> operands(op->getOperands());
    // A constant stays one, which a power may be by.
    for (Value &operand : operands)
      if (isa<FloatType>(getElement(operand)))
        operand = rewriter.createOrFold<arith::ExtFOp>(
            op->getLoc(), wide(operand.getType()), operand);
    Operation *inF32 = rewriter.clone(*op);
    inF32->setOperands(operands);
    inF32->getResult(0).setType(wide(narrow));
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, narrow,
                                                 inF32->getResult(0));
    return success();
  }
};

template <typename... Ops>
void addExpansions(RewritePatternSet &patterns, bool isOfAnyFloat,
                   Value (*...functions)(VectorMath &, Ops)) {
  (patterns.add<Expand<Ops>>(patterns.getContext(), functions, isOfAnyFloat),
   ...);
}

bool isExpanded(Operation *op) {
  if (isa<arith::FPToSIOp, arith::RemFOp, arith::CeilDivSIOp,
          arith::CeilDivUIOp, arith::FloorDivSIOp>(op))
    return true;
  if (isa_and_present<math::MathDialect>(op->getDialect()) && !isNative(op))
    return true;
  return op->getNumResults() == 1 && isWidened(op) &&
         !getElement(op->getResult(0)).isF32();
}

} // namespace

LogicalResult rmsnorm::expandFunctions(gpu::GPUModuleOp module) {
  WalkResult walk = module.walk([](Operation *op) {
    return isExpanded(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  if (!walk.wasInterrupted())
    return success();
  RewritePatternSet patterns(module.getContext());
  addExpansions(patterns, /*isOfAnyFloat=*/false, expandAcosh, expandAsinh,
                expandAtan, expandAtan2, expandAtanh, expandCbrt, expandCos,
                expandCosh, expandErf, expandExp, expandFPowI, expandLog,
                expandLog2, expandLog10, expandPowF, expandRemF, expandRound,
                expandSin, expandSinh, expandTan, expandTanh, expandToI8);
  addExpansions(patterns, /*isOfAnyFloat=*/true, expandClampF, expandIsInf,
                expandIsNormal);
  patterns.add<Widen>(module.getContext());
  populateMathPolynomialApproximationPatterns(patterns, isApproximated);
  arith::populateCeilFloorDivExpandOpsPatterns(patterns);
  // Keeps the kernels' blocks as they are.
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  return applyPatternsGreedily(module, std::move(patterns), config);
}
