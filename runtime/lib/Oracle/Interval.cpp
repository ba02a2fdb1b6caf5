//===- Interval.cpp - arithmetic of the oracle ----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ends are sound for this reason: if f is monotone and correctly rounded,
// the result for anything in [lo, hi] lies in [f(lo), f(hi)], both rounded to
// nearest. So exact operands give an exact result. Where the contract allows an
// error, the ends go outwards by it. Of a value known to be an f32, the ends
// may be rounded to nearest f32, too.
//
//===----------------------------------------------------------------------===//

#include "Interval.h"

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <cstring>
#include <utility>

namespace rmsnorm::runtime::oracle {

namespace {

/// Half an ulp of f32, relative; hence an ulp is 2 u.
constexpr double u = 0x1p-24;
/// Results below this may be flushed to zero where an error is allowed, and so
/// may the operand of a function.
constexpr double smallestNormal = 0x1p-126;
/// Not inlined: of two of them side by side GCC 12 makes vectors, and then
/// nothing.
#ifdef __GNUC__
__attribute__((noinline))
#endif
double
f32(double x) {
  return double(float(x));
}
Interval f32(Interval a) { return {f32(a.lo), f32(a.hi)}; }

/// Widened to 0 where that may be a number that is no normal one.
Interval flush(Interval a) {
  if (a.lo > 0 && a.lo < smallestNormal)
    a.lo = 0;
  if (a.hi < 0 && a.hi > -smallestNormal)
    a.hi = 0;
  return a;
}

/// Widened by errors relative to the ends, and flushed.
Interval widen(Interval a, double relative) {
  if (isUnknown(a))
    return a;
  a.lo -= std::isinf(a.lo) ? 0 : std::fabs(a.lo) * relative;
  a.hi += std::isinf(a.hi) ? 0 : std::fabs(a.hi) * relative;
  return f32(flush(a));
}

//===----------------------------------------------------------------------===//
// Floating point
//===----------------------------------------------------------------------===//

Interval add(Interval a, Interval b) {
  Interval sum = f32(Interval{a.lo + b.lo, a.hi + b.hi});
  return sum.lo <= sum.hi ? sum : undefined(a, b);
}

Interval neg(Interval a) { return {-a.hi, -a.lo}; }
Interval sub(Interval a, Interval b) { return add(a, neg(b)); }

/// A product that may have been rounded, or not yet.
Interval rounded(Interval exact) {
  return {std::min(exact.lo, f32(exact.lo)), std::max(exact.hi, f32(exact.hi))};
}

Interval mul(Interval a, Interval b) {
  Interval product = corners(a, b, [](double x, double y) { return x * y; });
  return isNaN(product) ? undefined(a, b) : rounded(product);
}

Interval abs(Interval a) {
  if (isUnknown(a) || a.lo >= 0)
    return a;
  return a.hi <= 0 ? neg(a) : Interval{0, std::max(-a.lo, a.hi)};
}

Interval copysign(Interval a, Interval b) {
  if (isUnknown(a))
    return a;
  a = abs(a);
  // The signs of zeros and NaNs are not specified.
  if (isUnknown(b) || contains(b, 0))
    return {-a.hi, a.hi};
  return b.lo > 0 ? a : neg(a);
}

Interval square(Interval a) {
  if (isUnknown(a))
    return a;
  a = abs(a);
  return rounded({a.lo * a.lo, a.hi * a.hi});
}

/// 2.5 ulp: AMD's fdiv.fast; 2 for NVIDIA's div.full.f32 (PTX ISA). Zero for
/// divisors above 2^126 (div.approx.f32).
Interval div(Interval a, Interval b) {
  if (isNaN(a) || isNaN(b))
    return nan;
  if (isAnything(a) || isAnything(b))
    return anything;
  // The sign of a zero is not specified: inf or -inf.
  if (contains(b, 0))
    return isPoint(a) && a.lo == 0 && isPoint(b) ? nan : anything;
  Interval quotient = corners(a, b, [](double x, double y) { return x / y; });
  if (isUnknown(quotient))
    return quotient;
  // An infinity is multiplied by that zero.
  if (std::max(-b.lo, b.hi) > 0x1p126)
    quotient = std::isinf(a.lo) || std::isinf(a.hi) ? anything
                                                    : hull(quotient, {0, 0});
  return widen(quotient, 5 * u);
}

/// x - trunc(x / y) * y, with a quotient as above and the product rounded or
/// not; exact where that is done by subtractions (fmod).
Interval rem(Interval a, Interval b) {
  Interval quotient = div(a, b);
  if (isUnknown(quotient) || std::isinf(a.lo) || std::isinf(a.hi) ||
      std::isinf(b.lo) || std::isinf(b.hi))
    return isNaN(quotient) || (isPoint(a) && std::isinf(a.lo)) ? nan : anything;
  double times = std::trunc(quotient.lo);
  double slop = 2 * u * std::max(std::fabs(a.lo), std::fabs(a.hi));
  if (times != std::trunc(quotient.hi)) {
    // The quotient's error times y, too.
    double most = std::max(std::fabs(b.lo), std::fabs(b.hi)) + 4 * slop;
    return f32(Interval{-most, most});
  }
  if (times == 0)
    slop = 0;
  Interval multiple = {std::min(times * b.lo, times * b.hi),
                       std::max(times * b.lo, times * b.hi)};
  return f32(Interval{a.lo - multiple.hi - slop, a.hi - multiple.lo + slop});
}

/// Upstream's, by atan of the quotient: 48 ulp, below. 0 / 0 is NaN in it.
Interval atan2(Interval a, Interval b) {
  if (isUnknown(a) || isUnknown(b))
    return isNaN(a) || isNaN(b) ? nan : anything;
  bool isBehind = b.lo <= 0 && contains(a, 0); // where it jumps
  if (isBehind && b.hi >= 0)
    return anything;
  constexpr double pi = 3.14159265358979;
  if (isBehind)
    return f32(Interval{-pi, pi});
  if (std::isinf(a.lo) || std::isinf(a.hi) ||
      std::max(-b.lo, b.hi) > 0x1p126) // where div is zero
    return f32(Interval{-pi, pi});
  Interval angle =
      corners(a, b, [](double y, double x) { return std::atan2(y, x); });
  // The quotient errs by 5 u, and so does its arc tangent, at most.
  return widen(angle, 2 * u * 54);
}

Interval max(Interval a, Interval b) {
  if (isUnknown(a) || isUnknown(b))
    return isNaN(a) || isNaN(b) ? nan : anything;
  return {std::max(a.lo, b.lo), std::max(a.hi, b.hi)};
}

Interval min(Interval a, Interval b) { return neg(max(neg(a), neg(b))); }

Interval maxnum(Interval a, Interval b) {
  if (isNaN(a) || isNaN(b))
    return isNaN(a) ? b : a;
  if (isAnything(a) || isAnything(b))
    return isAnything(a) && isAnything(b)
               ? anything
               : Interval{isAnything(a) ? b.lo : a.lo, infinity};
  return max(a, b);
}

Interval minnum(Interval a, Interval b) { return neg(maxnum(neg(a), neg(b))); }

/// x^y as 2^(y log2 x), 16 ulp and those of the exponent; products for small
/// integers.
Interval pow(Interval a, Interval b) {
  // The result of 0 times a logarithm that is no number: 1 in C, NaN as above.
  if ((isNaN(a) || std::isinf(a.lo) || std::isinf(a.hi)) && contains(b, 0))
    return anything;
  if (isNaN(b) && contains(a, 1))
    return anything;
  if (isUnknown(a) || isUnknown(b))
    return isNaN(a) || isNaN(b) ? nan : anything;
  if (isPoint(b) && b.lo == 2)
    return square(a);
  if (a.lo < 0 && (!isPoint(a) || std::isinf(a.lo)))
    return anything;
  Interval power =
      corners(a, b, [](double x, double y) { return std::pow(x, y); });
  if (isUnknown(power))
    return power;
  double exponent = std::max(std::fabs(b.lo), std::fabs(b.hi));
  return widen(power, 32 * u + 4 * u * exponent);
}

/// Of a value that is an f32.
double powerBelow(double x) {
  x = f32(x);
  return x > 0 && x < infinity ? std::ldexp(1, std::ilogb(x)) : x;
}

double powerAbove(double x) {
  double power = powerBelow(x);
  return power < f32(x) ? 2 * power : power;
}

/// The error bounds of a function in the contract.
struct Function {
  double (*of)(double);
  /// In ulp of the result; the same for each unit of the argument.
  double ulps, perArgument;
  /// Beside that.
  double absolute;
  /// The range of results.
  double least, most;
};

// The instructions' errors: PTX ISA, "Floating Point Instructions" (ex2.approx
// 2 ulp, rsqrt.approx 2^-22.9, sqrt.approx and lg2.approx 2^-22 to 2^-23,
// sin.approx and cos.approx 2^-20.9 absolute); AMD's ISA manuals (1 ulp each).
// Otherwise upstream MLIR's polynomials (Cephes and Eigen: a few ulp). Measured
// over all f32: atan 40.7 ulp (at 0.66), asin 7.4, acos 1.2.
// exp(x) is ex2(x * log2(e)): half an ulp each for the factor and the product,
// times |x|. tanh is 1 - 2 / (e^2|x| + 1) above 0.625. erf is 1 - ex2(p(|x|))
// above 0.75: measured over all f32 2.9 ulp, 3.3 where ex2 errs by 2.
constexpr Function table[] = {
    {std::exp, 2, 1.2, 0, 0, infinity},
    {std::exp2, 2, 0, 0, 0, infinity},
    {std::expm1, 4, 1.2, 0x1p-23, -1, infinity},
    {std::log, 4, 0, 0x1p-22, -infinity, infinity},
    {std::log2, 4, 0, 0x1p-22, -infinity, infinity},
    {std::log10, 4, 0, 0x1p-22, -infinity, infinity},
    {std::log1p, 4, 0, 0x1p-22, -infinity, infinity},
    {std::tanh, 5, 0, 0, -1, 1},
    {std::erf, 4, 0, 0x1p-23, -1, 1},
    {std::erfc, 4, 0, 0x1p-23, 0, 2},
    {std::sinh, 4, 1.2, 0x1p-22, -infinity, infinity},
    {std::cosh, 4, 1.2, 0, 1, infinity},
    {std::atan, 48, 0, 0, -2, 2},
    {std::cbrt, 4, 0, 0, -infinity, infinity},
    {std::sqrt, 2, 0, 0, 0, infinity},
    {[](double x) { return 1 / std::sqrt(x); }, 2, 0, 0, 0, infinity},
    {std::sin, 0, 0, 0x1p-20, -1, 1},
    {std::cos, 0, 0, 0x1p-20, -1, 1},
    {std::floor, 0, 0, 0, -infinity, infinity},
    {std::ceil, 0, 0, 0, -infinity, infinity},
    {std::trunc, 0, 0, 0, -infinity, infinity},
    {std::round, 0, 0, 0, -infinity, infinity},
    {std::nearbyint, 0, 0, 0, -infinity, infinity},
    {[](double x) { return x; }, 0, 0, 0, -infinity, infinity},
    {powerBelow, 0, 0, 0, -infinity, infinity},
    {powerAbove, 0, 0, 0, -infinity, infinity},
    {std::asin, 10, 0, 0, -2, 2},
    {std::acos, 4, 0, 0x1p-23, 0, 4},
};

Interval unary(Interval a, int64_t number) {
  if (isUnknown(a))
    return a;
  const Function &function = table[number];
  if (function.ulps > 0 || function.absolute > 0)
    a = flush(a);
  Interval result;
  if (number == RMSNORM_ORACLE_sin || number == RMSNORM_ORACLE_cos) {
    if (std::isinf(a.lo) || std::isinf(a.hi))
      return isPoint(a) ? nan : anything;
    // Not monotone, but of slope 1 at most.
    double middle = function.of((a.lo + a.hi) / 2), half = (a.hi - a.lo) / 2;
    result = {middle - half, middle + half};
  } else if (number == RMSNORM_ORACLE_rsqrt) {
    if (a.lo == 0 && a.hi == 0)
      return {infinity, infinity};
    if (a.lo < 0 && a.hi >= 0)
      return anything;
    result = {function.of(a.hi), function.of(a.lo + 0.0)}; // -0: +0
  } else {
    if (number == RMSNORM_ORACLE_cosh)
      a = abs(a);
    result = {function.of(a.lo), function.of(a.hi)};
    if (result.lo > result.hi)
      std::swap(result.lo, result.hi);
  }
  // Of ends on both sides of a domain nothing is known.
  bool isOutside = result.lo != result.lo && result.hi != result.hi &&
                   (isPoint(a) || a.hi < 0 || a.lo > 0);
  if (result.lo != result.lo || result.hi != result.hi)
    return isOutside ? nan : anything;
  if (function.ulps > 0) {
    double most = std::max(std::fabs(a.lo), std::fabs(a.hi));
    double ulps = function.ulps;
    if (function.perArgument > 0 && most < 1e3)
      ulps += function.perArgument * most;
    result = widen(result, 2 * u * ulps);
  }
  if (function.absolute > 0 && !(isPoint(result) && std::isinf(result.lo)))
    result = {result.lo - function.absolute, result.hi + function.absolute};
  return f32(Interval{std::max(result.lo, function.least),
                      std::min(result.hi, function.most)});
}

/// `x` rounded to nearest even. Numbers of one bit are powers of two: there is
/// no zero and nothing negative.
double roundTo(double x, int64_t precision, int64_t minExponent, double largest,
               int64_t after) {
  if (precision == 1 && x < 0)
    return NAN;
  double magnitude = std::fabs(x);
  if (precision == 1)
    magnitude = std::max(magnitude, std::ldexp(1, int(minExponent)));
  if (magnitude < infinity) {
    uint64_t bits;
    std::memcpy(&bits, &magnitude, sizeof bits);
    if (int64_t(bits >> 52) - 1023 >= minExponent) {
      // A carry out of the mantissa lands in the exponent.
      int dropped = int(53 - precision);
      uint64_t half = uint64_t(1) << (dropped - 1);
      // A mantissa of one bit is its leading one, which is odd.
      uint64_t odd = precision == 1 ? 1 : bits >> dropped & 1;
      bits = (bits + half - 1 + odd) >> dropped << dropped;
      std::memcpy(&magnitude, &bits, sizeof bits);
    } else {
      double spacing = std::ldexp(1, int(minExponent - precision + 1));
      magnitude = std::nearbyint(magnitude / spacing) * spacing;
    }
  }
  if (magnitude > largest)
    magnitude = after == RMSNORM_ORACLE_TO_INFINITY ? infinity
                : after == RMSNORM_ORACLE_TO_NAN    ? double(NAN)
                                                    : largest;
  return precision == 1 ? magnitude : std::copysign(magnitude, x);
}

Interval round(Interval a, int64_t precision, int64_t minExponent,
               double largest, int64_t after) {
  if (isUnknown(a))
    // No specification says what a NaN becomes in a type without NaNs.
    return after == RMSNORM_ORACLE_SATURATE ? anything : a;
  auto end = [&](double x) {
    return roundTo(x, precision, minExponent, largest, after);
  };
  Interval result = {end(a.lo), end(a.hi)};
  if (result.lo <= result.hi)
    return result;
  // From below to above the range there is no NaN between.
  return result.lo != result.lo && result.hi != result.hi &&
                 (a.lo > 0 || a.hi < 0)
             ? nan
             : anything;
}

//===----------------------------------------------------------------------===//
// Sums and products of many terms
//===----------------------------------------------------------------------===//

/// Kernels may take a factor out of a sum (rmsnorm-factor-sums). A factor of up
/// to 2^24 leaves subnormal terms of numbers smaller than this.
constexpr double leastExactTerm = 0x1p24 * smallestNormal;

/// The amount that roundings may have moved partial sums by, for one term.
double getSlop(double end, double otherEnd, double depth) {
  double magnitude = std::max(std::fabs(end), std::fabs(otherEnd));
  if (magnitude > 0)
    magnitude = std::max(magnitude, leastExactTerm);
  // The other one may be infinite where this is not.
  return depth * u * (magnitude < infinity ? magnitude : double(FLT_MAX));
}

Interval sum_begin(Interval a, double depth) {
  if (isUnknown(a))
    return a;
  double slop = getSlop(a.lo, a.hi, depth);
  return {a.lo - slop, a.hi + slop};
}

Interval sum(Interval a, Interval term, double depth) {
  double slop = getSlop(term.lo, term.hi, depth);
  // No rounding changes a sign. A NaN stays where it comes first.
  double lo = term.lo < 0 ? term.lo - slop : std::max(term.lo - slop, 0.0);
  double hi = term.hi > 0 ? term.hi + slop : std::min(term.hi + slop, 0.0);
  Interval total = {a.lo + lo, a.hi + hi};
  return total.lo <= total.hi ? total : undefined(a, term);
}

Interval sum_finish(Interval a, double depth) {
  Interval total = f32(a);
  // Each term has widened the ends by as much. The sum of absolute values may
  // overflow on the way, unless it must.
  bool overflows = a.hi - a.lo > 2 * depth * u * double(FLT_MAX);
  return overflows && total.lo != total.hi ? anything : total;
}

Interval factor(Interval a, Interval b) { return widen(mul(a, b), 2 * u); }

inline bool isUnset(double) { return false; }
using oracle::isUnset;

/// The function that the oracle calls: of an operand that is undefined the
/// result is, too.
template <auto function> struct Entry {
  static constexpr auto address = function;
};
template <typename... Operands, Interval (*function)(Operands...)>
struct Entry<function> {
  static Interval address(Operands... operands) {
    return (isUnset(operands) || ...) ? unset : function(operands...);
  }
};
/// What is not selected does not count.
template <> struct Entry<&select> { static constexpr auto address = &select; };

} // namespace

#define RMSNORM_ORACLE_ENTRY(name, operands)                                   \
  reinterpret_cast<void *>(+Entry<&name>::address),
void *const functions[] = {RMSNORM_ORACLE_FUNCTIONS(RMSNORM_ORACLE_ENTRY)};
#undef RMSNORM_ORACLE_ENTRY

} // namespace rmsnorm::runtime::oracle
