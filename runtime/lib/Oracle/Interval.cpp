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

/// a + b with an odd last bit where it is not exact. Rounded again, to f32 or
/// less, that is the exact sum rounded once: one of the two may be a product
/// that was not rounded, so that a double has not all bits of the sum.
double addToOdd(double a, double b) {
  double sum = a + b;
  if (!(std::fabs(sum) < infinity))
    return sum;
  // What the sum lacks, exactly (Knuth).
  double rounded = sum - a;
  double error = (a - (sum - rounded)) + (b - rounded);
  uint64_t bits;
  std::memcpy(&bits, &sum, sizeof bits);
  if (error == 0 || (bits & 1))
    return sum;
  return std::nextafter(sum, error > 0 ? infinity : -infinity);
}

Interval add(Interval a, Interval b) {
  Interval sum = f32(Interval{addToOdd(a.lo, b.lo), addToOdd(a.hi, b.hi)});
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

/// On narrow types, some have an instruction, which rounds once to the type,
/// and others compute in f32 and round again. The product of two f32 is a
/// double.
Interval fma(Interval a, Interval b, Interval c, int64_t isNarrow) {
  Interval product = corners(a, b, [](double x, double y) { return x * y; });
  if (isNaN(product))
    return isNaN(c) ? nan : undefined(a, b);
  Interval sum = {addToOdd(product.lo, c.lo), addToOdd(product.hi, c.hi)};
  if (!(sum.lo <= sum.hi))
    return undefined(product, c);
  return isNarrow ? rounded(sum) : f32(sum);
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

/// Exact: what is left of x has no more bits than y. Kernels may flush it.
Interval rem(Interval a, Interval b) {
  if (isNaN(a) || isNaN(b))
    return nan;
  if (isAnything(a) || isAnything(b))
    return anything;
  if (std::isinf(a.lo) || std::isinf(a.hi) || contains(b, 0))
    return isPoint(a) && isPoint(b) ? nan : anything;
  if (isPoint(a) && isPoint(b)) {
    double rest = std::fmod(a.lo, b.lo);
    return flush({rest, rest});
  }
  Interval quotient = corners(a, b, [](double x, double y) { return x / y; });
  double times = std::trunc(quotient.lo);
  if (times == std::trunc(quotient.hi)) {
    Interval multiple = corners({times, times}, b, [](double x, double y) {
      return x == 0 ? 0 : x * y; // y may be infinite
    });
    return flush(f32(Interval{a.lo - multiple.hi, a.hi - multiple.lo}));
  }
  // Smaller than both, of the sign of x.
  double most = std::min(std::max(-a.lo, a.hi), std::max(-b.lo, b.hi));
  return {a.lo < 0 ? -most : 0, a.hi > 0 ? most : 0};
}

/// By a quotient of the smaller one by the larger one, turned back by an eighth
/// of a turn where that is more than tan(pi / 8): 10 ulp. A quotient of at most
/// tan(pi / 8) errs by 5 u and 2 u for the numbers it is of, Cephes' polynomial
/// by 2 u, and so by 4 u of 1 where the result is pi / 8 or more; two additions
/// by 1 u each of 2 at most.
constexpr double angleUlps = 10;

Interval atan2(Interval a, Interval b) {
  if (isUnknown(a) || isUnknown(b))
    return isNaN(a) || isNaN(b) ? nan : anything;
  bool jumps = b.lo <= 0 && contains(a, 0);
  constexpr double pi = 3.14159265358979;
  // The sign of a zero is not specified.
  if (jumps)
    return f32(widen({-pi, pi}, u));
  Interval angle =
      corners(a, b, [](double y, double x) { return std::atan2(y, x); });
  return widen(angle, 2 * u * angleUlps);
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

/// x^y as 2^t, t = y log2 x, which errs relatively: by 2^-29 for the logarithm,
/// and by u for y, where that was an integer above 2^24. 2^t errs by 2 ulp, and
/// by an ulp for what t lacked. As pow of C for zeros, infinities and NaNs, but
/// that the sign of a zero is not specified.
Interval pow(Interval a, Interval b) {
  if ((isPoint(b) && b.lo == 0) || (isPoint(a) && a.lo == 1))
    return {1, 1};
  if (isUnknown(a) || isUnknown(b)) {
    bool isCertain = !contains(b, 0) && !contains(a, 1);
    return isCertain && (isNaN(a) || isNaN(b)) ? nan : anything;
  }
  a = flush(a);
  bool isInteger = isPoint(b) && std::floor(b.lo) == b.lo;
  bool isOdd = isInteger && std::fabs(std::fmod(b.lo, 2)) == 1;
  if (contains(a, 0) && b.lo < 0 && (isOdd || !isInteger))
    return anything;
  if (a.lo < 0) {
    if (!isPoint(a) || !isPoint(b))
      return anything;
    if (!isInteger && a.lo != -infinity)
      return nan;
    if (a.lo == -1)
      return isOdd ? a : neg(a);
  }
  // 0 times the logarithm of 0, or that of 1 times infinity.
  Interval exponent = corners(abs(a), b, [](double x, double y) {
    return y == 0 ? 0 : y * std::log2(x);
  });
  if (isNaN(exponent))
    return isPoint(a) && isPoint(b) ? Interval{1, 1} : anything;
  const bool isRounded = std::max(-b.lo, b.hi) > 0x1p24;
  auto slop = [&](double t) {
    return std::isinf(t) ? 0 : (0x1p-29 + (isRounded ? u : 0)) * std::fabs(t);
  };
  Interval power = {std::exp2(exponent.lo - slop(exponent.lo)),
                    std::exp2(exponent.hi + slop(exponent.hi))};
  // What 2^t lacks is rounded apart: a number that is no normal one twice.
  power = widen({power.lo - 0x1p-149, power.hi + 0x1p-149}, 6 * u);
  return a.lo < 0 && isOdd ? neg(power) : power;
}

/// A product of n factors has n - 1 roundings. A reciprocal, 5 u, is taken
/// before; that of a number above 2^126 may be zero.
Interval powi(Interval a, int64_t n) {
  if (n == 0)
    return {1, 1};
  if (isUnknown(a) || n == 1)
    return a;
  if (n == 2)
    return square(a);
  if (n < 0)
    a = flush(a);
  bool isOdd = n % 2 != 0;
  if (n < 0 && isOdd && contains(a, 0))
    return anything;
  if (!isOdd)
    a = abs(a);
  double p = std::pow(a.lo, double(n)), q = std::pow(a.hi, double(n));
  Interval power = {std::min(p, q), std::max(p, q)};
  if (n < 0 && std::max(-a.lo, a.hi) > 0x1p126)
    power = hull(power, {0, 0});
  double roundings = n < 0 ? 6 * double(-n) : double(n);
  // (1 + u)^n is more than 1 + n u, by less than that again.
  return widen(power, roundings * u * (1 + roundings * u));
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
// 2 ulp, rsqrt.approx 2^-22.9, sqrt.approx 2^-22 to 2^-23); AMD's ISA manuals
// (1 ulp each). Otherwise polynomials. Upstream's (Cephes and Eigen: a few
// ulp), as measured over all f32: log 0.8, log2 1.6, log1p 2.3, expm1 4.6,
// asin 7.4, acos 1.2. Those of ExpandFunctions.cpp: exp(x) is ex2(x * log2(e)):
// half an ulp each for the factor and the product, times |x|. tanh is 1 - 2 /
// (e^2|x| + 1) above 0.625. erf is 1 - ex2(p(|x|)) above 0.75: measured over
// all f32 2.9 ulp, 3.3 where ex2 errs by 2. sinh(x) is e^x / 2 - e^-x / 2 from
// 1 on, where the difference is at most 1.32 times smaller than the first.
// log10 is a product with log. The inverse ones are log1p (8 u) of what errs by
// 12 u at most, a quotient of a root among others.
constexpr Function table[] = {
    {std::exp, 2, 1.2, 0, 0, infinity},
    {std::exp2, 2, 0, 0, 0, infinity},
    {std::expm1, 4, 1.2, 0x1p-23, -1, infinity},
    {std::log, 4, 0, 0, -infinity, infinity},
    {std::log2, 4, 0, 0, -infinity, infinity},
    {std::log10, 5, 0, 0, -infinity, infinity},
    {std::log1p, 4, 0, 0, -infinity, infinity},
    {std::tanh, 5, 0, 0, -1, 1},
    {std::erf, 4, 0, 0x1p-23, -1, 1},
    {std::erfc, 4, 0, 0x1p-23, 0, 2},
    {std::sinh, 4, 1.2, 0, -infinity, infinity},
    {std::cosh, 4, 1.2, 0, 0, infinity},
    {std::atan, angleUlps, 0, 0, -2, 2},
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
    {std::asinh, 10, 0, 0, -infinity, infinity},
    {std::acosh, 10, 0, 0, 0, infinity},
    {std::atanh, 10, 0, 0, -infinity, infinity},
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
    // Above, multiples of a quarter of a turn are not told apart.
    if (std::max(-a.lo, a.hi) > 0x1p20)
      return {-1, 1};
    // Not monotone, but of slope 1 at most.
    double middle = function.of((a.lo + a.hi) / 2), half = (a.hi - a.lo) / 2;
    result = {middle - half, middle + half};
  } else if (number == RMSNORM_ORACLE_rsqrt) {
    // Of -0 it is -inf.
    if (a.hi >= 0 && (a.lo < 0 || (a.lo == 0 && std::signbit(a.lo))))
      return anything;
    result = {function.of(a.hi), function.of(a.lo)};
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

bool isPoisonOperand(Interval a) { return isPoison(a); }
bool isPoisonOperand(double) { return false; }
bool isPoisonOperand(int64_t) { return false; }

/// A function as it stands in the table: of poison all but a selection makes
/// poison.
template <auto function> struct Checked;
template <typename... Operands, Interval (*function)(Operands...)>
struct Checked<function> {
  static Interval call(Operands... operands) {
    if ((isPoisonOperand(operands) || ...))
      return poison;
    return function(operands...);
  }
};
template <> struct Checked<select> { static constexpr auto call = select; };
template <> struct Checked<allocate> { static constexpr auto call = allocate; };
template <> struct Checked<release> { static constexpr auto call = release; };

} // namespace

#define RMSNORM_ORACLE_ENTRY(name, operands)                                   \
  reinterpret_cast<void *>(+Checked<name>::call),
void *const functions[] = {RMSNORM_ORACLE_FUNCTIONS(RMSNORM_ORACLE_ENTRY)};
#undef RMSNORM_ORACLE_ENTRY

} // namespace rmsnorm::runtime::oracle
