//===- IntervalTest.cpp - the oracle's arithmetic -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Oracle/Interval.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>
#include <random>
#include <vector>

using rmsnorm::runtime::oracle::Interval;
using rmsnorm::runtime::oracle::isAnything;
using rmsnorm::runtime::oracle::isNaN;
using rmsnorm::runtime::oracle::isPoison;

namespace {

enum Function {
#define RMSNORM_ORACLE_NUMBER(name, operands) name##_,
  RMSNORM_ORACLE_FUNCTIONS(RMSNORM_ORACLE_NUMBER)
#undef RMSNORM_ORACLE_NUMBER
};

template <typename... Operands>
Interval call(Function function, Operands... operands) {
  auto *entry = reinterpret_cast<Interval (*)(Operands...)>(
      rmsnorm::runtime::oracle::functions[function]);
  return entry(operands...);
}

Interval point(double x) { return {x, x}; }
bool holds(Interval a, double x) {
  return std::isnan(x) ? std::isnan(a.lo) : a.lo <= x && x <= a.hi;
}
constexpr double inf = HUGE_VAL;

class IntervalTest : public testing::Test {
protected:
  /// Of all magnitudes that do not overflow when squared.
  float random() {
    return std::ldexp(std::uniform_real_distribution<float>(-2, 2)(engine),
                      std::uniform_int_distribution<int>(-40, 40)(engine));
  }
  /// An interval of f32 and something in it.
  Interval around(float &x) {
    x = random();
    if (engine() % 2)
      return point(x);
    float lo = std::min(x, x + random()), hi = std::max(x, x + random());
    return {lo, hi};
  }

  std::mt19937 engine{1};
};

TEST_F(IntervalTest, FunctionsOfUndefinedElementsAreUndefined) {
  using rmsnorm::runtime::oracle::isPoison;
  using rmsnorm::runtime::oracle::poison;
  const Interval one = point(1), nan = point(NAN), some = {0, 1};
  for (Interval other : {one, nan, some, poison}) {
    for (Function function :
         {add_, sub_, mul_, div_, max_, maxnum_, pow_, copysign_, factor_}) {
      EXPECT_TRUE(isPoison(call(function, poison, other)));
      EXPECT_TRUE(isPoison(call(function, other, poison)));
    }
    EXPECT_TRUE(isPoison(call(sum_, poison, other, 8.0)));
    EXPECT_TRUE(isPoison(call(sum_, other, poison, 8.0)));
    EXPECT_TRUE(isPoison(call(compare_, other, poison, int64_t(1))));
    // Either may be selected.
    EXPECT_EQ(isPoison(call(select_, some, other, poison)), isPoison(other));
    // What is not selected does not count.
    EXPECT_FALSE(isPoison(call(select_, point(1), one, poison)));
    EXPECT_TRUE(isPoison(call(select_, point(0), one, poison)));
  }
  for (Function function : {neg_, abs_, square_})
    EXPECT_TRUE(isPoison(call(function, poison)));
  EXPECT_TRUE(isPoison(call(unary_, poison, int64_t(RMSNORM_ORACLE_exp))));
  EXPECT_TRUE(isPoison(call(wrap_, poison, int64_t(8))));
  // Anything is something else: it counts as undecided.
  EXPECT_FALSE(isPoison(call(add_, Interval{-inf, inf}, one)));
}

/// An entry that makes buffers of descriptors[0] bytes, some of which it frees.
void makeBuffers(void *const *descriptors, void *const *functions) {
  auto allocate = reinterpret_cast<void *(*)(int64_t)>(functions[allocate_]);
  auto release = reinterpret_cast<void (*)(void *)>(functions[release_]);
  auto *first = static_cast<Interval *>(allocate(3 * sizeof(Interval)));
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(rmsnorm::runtime::oracle::isPoison(first[i]));
  void *second = allocate(0);
  release(first);
  allocate(*static_cast<int64_t *>(descriptors[0]));
  release(second);
}

TEST_F(IntervalTest, BuffersThatFindNoMemoryEndAnEntry) {
  using rmsnorm::runtime::oracle::runEntry;
  int64_t wanted = 16, bytes = -1;
  void *descriptors[] = {&wanted};
  EXPECT_TRUE(runEntry(makeBuffers, descriptors, bytes));
  wanted = int64_t(1) << 60;
  EXPECT_FALSE(runEntry(makeBuffers, descriptors, bytes));
  EXPECT_EQ(bytes, wanted);
  wanted = 16;
  EXPECT_TRUE(runEntry(makeBuffers, descriptors, bytes));
}

TEST_F(IntervalTest, ContainsWhatF32Computes) {
  for (int i = 0; i < 100000; ++i) {
    float x, y, z;
    Interval a = around(x), b = around(y), c = around(z);
    EXPECT_TRUE(holds(call(add_, a, b), x + y)) << x << " " << y;
    EXPECT_TRUE(holds(call(sub_, a, b), x - y)) << x << " " << y;
    EXPECT_TRUE(holds(call(mul_, a, b), x * y)) << x << " " << y;
    EXPECT_TRUE(holds(call(square_, a), x * x)) << x;
    EXPECT_TRUE(holds(call(max_, a, b), std::max(x, y)));
    EXPECT_TRUE(holds(call(minnum_, a, b), std::min(x, y)));
    EXPECT_TRUE(holds(call(abs_, a), std::fabs(x)));
    EXPECT_TRUE(holds(call(add_, call(mul_, a, b), c), std::fma(x, y, z)));
    EXPECT_TRUE(holds(call(add_, call(mul_, a, b), c), x * y + z));
    EXPECT_TRUE(isAnything(call(div_, a, b)) || holds(call(div_, a, b), x / y));
    EXPECT_TRUE(holds(call(copysign_, a, b), std::copysign(x, y)));
    Interval rest = call(rem_, a, b), angle = call(atan2_, a, b);
    EXPECT_TRUE(isAnything(rest) || holds(rest, std::fmod(x, y))) << x << y;
    EXPECT_TRUE(isAnything(angle) || holds(angle, std::atan2(x, y)));
    EXPECT_TRUE(
        holds(call(compare_, a, b, int64_t(RMSNORM_ORACLE_LESS)), x < y));
    EXPECT_TRUE(holds(call(select_, point(1), a, b), x));
    EXPECT_TRUE(holds(call(select_, Interval{0, 1}, a, b), y));
  }
}

TEST_F(IntervalTest, ContainsWhatF32FunctionsCompute) {
#define UNARY(name)                                                            \
  {                                                                            \
    RMSNORM_ORACLE_##name, [](float x) -> float { return std::name(x); }       \
  }
  struct {
    int64_t number;
    float (*of)(float);
  } const functions[] = {
      UNARY(exp),
      UNARY(exp2),
      UNARY(expm1),
      UNARY(log),
      UNARY(log2),
      UNARY(log1p),
      UNARY(tanh),
      UNARY(erf),
      UNARY(sqrt),
      UNARY(sin),
      UNARY(cos),
      UNARY(floor),
      UNARY(ceil),
      UNARY(trunc),
      UNARY(round),
      UNARY(atan),
      UNARY(asin),
      UNARY(acos),
      UNARY(cbrt),
      UNARY(erfc),
      UNARY(sinh),
      UNARY(cosh),
      {RMSNORM_ORACLE_roundeven,
       [](float x) -> float { return std::nearbyint(x); }},
      {RMSNORM_ORACLE_rsqrt, [](float x) { return 1 / std::sqrt(x); }}};
#undef UNARY
  for (auto [number, of] : functions)
    for (int i = 0; i < 20000; ++i) {
      float x;
      Interval result = call(unary_, around(x), number);
      EXPECT_TRUE(isAnything(result) || holds(result, of(x)))
          << number << " " << x << ": " << of(x) << " not in " << result.lo
          << " " << result.hi;
      // Narrow for a point: 2^-18, and of exp for each unit of its argument.
      Interval sharp = call(unary_, point(x), number);
      const double share = number == RMSNORM_ORACLE_atan ? 0x1p-16 : 0x1p-19;
      EXPECT_FALSE(sharp.hi - sharp.lo >
                   share + share * std::fabs(sharp.hi) * (1 + std::fabs(x)))
          << number << " " << x;
    }
}

TEST_F(IntervalTest, ExactOperandsHaveExactResults) {
  Interval sum = call(add_, point(1.5), point(0x1p-30));
  EXPECT_EQ(sum.lo, 1.5);
  EXPECT_EQ(sum.hi, 1.5);
  // Not yet rounded, for the sum it may go into.
  Interval product = call(mul_, point(1 + 0x1p-20), point(1 + 0x1p-20));
  EXPECT_EQ(product.lo, 1 + 0x1p-19);
  EXPECT_EQ(product.hi, 1 + 0x1p-19 + 0x1p-40);
}

struct Format {
  int64_t precision, minExponent;
  double largest;
  int64_t after;
};
constexpr Format bf16 = {8, -126, 0x1.FEp127, RMSNORM_ORACLE_TO_INFINITY};
constexpr Format f16 = {11, -14, 65504, RMSNORM_ORACLE_TO_INFINITY};
constexpr Format e4m3 = {4, -6, 448, RMSNORM_ORACLE_TO_NAN};
constexpr Format e5m2 = {3, -14, 57344, RMSNORM_ORACLE_TO_INFINITY};
constexpr Format e2m1 = {2, 0, 6, RMSNORM_ORACLE_SATURATE};
constexpr Format e8m0 = {1, -127, 0x1p127, RMSNORM_ORACLE_TO_NAN};

Interval round(Interval a, const Format &to) {
  return call(round_, a, to.precision, to.minExponent, to.largest, to.after);
}

TEST_F(IntervalTest, RoundsToEveryFormat) {
  const struct {
    const Format &to;
    double from, result;
  } cases[] = {
      {bf16, 1 + 0x1p-8, 1},
      {bf16, 1 + 3 * 0x1p-8, 1 + 0x1p-6},
      {bf16, 1 + 0x1p-8 + 0x1p-40, 1 + 0x1p-7},
      {bf16, 0x1.FEFFFFp127, 0x1.FEp127},
      {bf16, 0x1.FFp127, inf},
      {bf16, -0x1p-134, 0},
      {bf16, 0x1.8p-134, 0x1p-133},
      {f16, 65519.9, 65504},
      {f16, -65520, -inf},
      {f16, 3 * 0x1p-26, 0x1p-24},
      {f16, 0x1p-25, 0},
      {f16, 0x1p-14 - 0x1p-26, 0x1p-14},
      {e4m3, 464, 448},
      {e4m3, 464.001, NAN},
      {e4m3, 0x1p-10, 0},
      {e4m3, 0x1.8p-10, 0x1p-9},
      {e4m3, -17, -16},
      {e4m3, 19, 20},
      {e5m2, 61440, inf},
      {e5m2, 61439, 57344},
      {e5m2, 1.125, 1},
      {e2m1, 100, 6},
      {e2m1, -5, -4},
      {e2m1, 0.25, 0},
      {e2m1, 0.75, 1},
      {e2m1, 3.5, 4},
      {e8m0, 1.49, 1},
      {e8m0, 1.5, 2},
      {e8m0, 0x1.8p127, NAN},
      {e8m0, 0, 0x1p-127},
      {e8m0, -0.0, 0x1p-127},
      {e8m0, 0x1p-140, 0x1p-127},
      {e8m0, 0x1.8p-127, 0x1p-126},
      {e8m0, -1, NAN},
  };
  for (const auto &[to, from, result] : cases) {
    Interval rounded = round(point(from), to);
    EXPECT_TRUE(holds(rounded, result) &&
                (isNaN(rounded) || rounded.lo == rounded.hi))
        << from << ": expected " << result << ", got " << rounded.lo << " "
        << rounded.hi;
  }
  EXPECT_TRUE(isAnything(round({440, 500}, e4m3)));
  EXPECT_TRUE(isAnything(round({-inf, inf}, e4m3)));
}

template <typename To, typename From> To bitcast(From from) {
  To to;
  static_assert(sizeof to == sizeof from);
  std::memcpy(&to, &from, sizeof to);
  return to;
}

TEST_F(IntervalTest, BitsOfFloats) {
  auto toBits = [](Interval a, const Format &f, int64_t width) {
    return call(to_bits_, a, f.precision, f.minExponent, width);
  };
  auto fromBits = [](Interval a, const Format &f, int64_t width) {
    return call(from_bits_, a, f.precision, f.minExponent, width);
  };
  constexpr Format single = {24, -126, 0x1.FFFFFEp127,
                             RMSNORM_ORACLE_TO_INFINITY};
  for (int i = 0; i < 100000; ++i) {
    float x;
    Interval a = around(x);
    EXPECT_TRUE(holds(toBits(a, single, 32), bitcast<int32_t>(x))) << x;
    // Any bits, alone and with what stands around them.
    int32_t bits = int32_t(engine());
    float y = bitcast<float>(bits);
    Interval exact = fromBits(point(bits), single, 32);
    EXPECT_TRUE(std::isnan(y) ? isNaN(exact) : exact.lo == y && exact.hi == y)
        << bits;
    Interval wide = fromBits({bits - 1000.0, bits + 1000.0}, single, 32);
    EXPECT_TRUE(isAnything(wide) || holds(wide, y)) << bits;
    if (!std::isnan(y) && y != 0)
      EXPECT_TRUE(toBits(exact, single, 32).lo == bits &&
                  toBits(exact, single, 32).hi == bits);
  }
  // Of a zero the sign is nobody's business.
  EXPECT_TRUE(holds(toBits(point(0), single, 32), INT32_MIN) &&
              holds(toBits(point(0), single, 32), 0));
  EXPECT_EQ(toBits(point(0x1p-24), f16, 16).lo, 1);
  EXPECT_EQ(toBits(point(-65504), f16, 16).lo, -32768 + 0x7bff);
  EXPECT_EQ(toBits(point(inf), bf16, 16).lo, 0x7f80);
  EXPECT_EQ(toBits(point(1), e8m0, 8).lo, 127);
  EXPECT_EQ(toBits(point(2), e8m0, 8).lo, -128);
  EXPECT_EQ(fromBits(point(-128), e8m0, 8).lo, 2);
  EXPECT_TRUE(isNaN(fromBits(point(-1), e8m0, 8)));
}

TEST_F(IntervalTest, DivisionsOfIntegers) {
  auto divide = [](Interval a, Interval b, int64_t operation) {
    return call(integer_, a, b, operation, int64_t(8));
  };
  for (int a = -9; a <= 9; ++a)
    for (int b = -4; b <= 4; ++b) {
      if (b == 0)
        continue;
      const double quotient = double(a) / b;
      const struct {
        int64_t operation;
        double result;
      } cases[] = {{RMSNORM_ORACLE_DIVI, std::trunc(quotient)},
                   {RMSNORM_ORACLE_FLOORDIVI, std::floor(quotient)},
                   {RMSNORM_ORACLE_CEILDIVI, std::ceil(quotient)},
                   {RMSNORM_ORACLE_REMI, double(a % b)}};
      for (auto [operation, result] : cases) {
        Interval exact = divide(point(a), point(b), operation);
        EXPECT_TRUE(exact.lo == result && exact.hi == result)
            << a << " " << b << " " << operation;
        EXPECT_TRUE(
            holds(divide({a - 1.0, a + 2.0}, point(b), operation), result));
        EXPECT_TRUE(
            holds(divide(point(a), {b - 1.0, b + 2.0}, operation), result));
      }
    }
  EXPECT_EQ(divide(point(1), point(1), RMSNORM_ORACLE_CTLZ).lo, 7);
  EXPECT_EQ(divide(point(-1), point(-1), RMSNORM_ORACLE_CTPOP).lo, 8);
  EXPECT_EQ(divide(point(24), point(24), RMSNORM_ORACLE_CTTZ).lo, 3);
}

TEST_F(IntervalTest, PowersOfTwoAroundValues) {
  auto below = [](Interval a) {
    return call(unary_, a, int64_t(RMSNORM_ORACLE_power_below));
  };
  auto above = [](Interval a) {
    return call(unary_, a, int64_t(RMSNORM_ORACLE_power_above));
  };
  EXPECT_TRUE(holds(below(point(3)), 2) && holds(above(point(3)), 4));
  EXPECT_TRUE(holds(below(point(4)), 4) && holds(above(point(4)), 4));
  EXPECT_TRUE(holds(above(point(0)), 0) && holds(above(point(inf)), inf));
  // A product that rounds to 1 is 1.
  EXPECT_EQ(above({1, 1 + 0x1p-25}).hi, 1);
  EXPECT_EQ(above({0.75, 1.5}).lo, 1);
  EXPECT_EQ(above({0.75, 1.5}).hi, 2);
}

TEST_F(IntervalTest, SumsInAnyOrder) {
  std::vector<float> terms(1000);
  for (int round = 0; round < 200; ++round) {
    double depth = 8 + std::sqrt(terms.size());
    Interval total = call(sum_begin_, point(3), depth);
    double exact = 3;
    for (float &term : terms) {
      term = random();
      exact += term;
      total = call(sum_, total, point(term), depth);
    }
    total = call(sum_finish_, total, depth);
    EXPECT_TRUE(holds(total, float(exact)));
    std::sort(terms.begin(), terms.end());
    float sum = 0;
    for (float term : terms)
      sum += term;
    EXPECT_TRUE(holds(total, sum + 3));
  }
  // Terms that may overflow on the way; one that must.
  auto sum = [](double a, double b, double c) {
    Interval total = call(sum_begin_, point(0), 10.0);
    for (double term : {a, b, c})
      total = call(sum_, total, point(term), 10.0);
    return call(sum_finish_, total, 10.0);
  };
  EXPECT_TRUE(isAnything(sum(3e38, 3e38, -3e38)));
  Interval overflown = sum(3e38, 3e38, 3e38);
  EXPECT_EQ(overflown.lo, inf);
  EXPECT_EQ(overflown.hi, inf);
  EXPECT_FALSE(isAnything(sum(1e38, 1e38, -1e38)));
}

TEST_F(IntervalTest, SumsOfTermsWithoutTheirFactor) {
  // As written, and with a factor of the terms after their sum.
  std::uniform_real_distribution<float> uniform(0.5, 1);
  for (int exponent = -140; exponent < -90; ++exponent) {
    const float factor = 100 * uniform(engine);
    float inside = 0, behind = 0;
    Interval total = call(sum_begin_, point(0), 10.0);
    for (int i = 0; i < 8; ++i) {
      const float a = std::ldexp(uniform(engine), exponent),
                  b = uniform(engine);
      inside += a * (b * factor);
      behind += a * b;
      total = call(sum_, total, point(double(a) * (b * factor)), 10.0);
    }
    total = call(sum_finish_, total, 10.0);
    EXPECT_TRUE(holds(total, inside)) << exponent;
    EXPECT_TRUE(holds(total, behind * factor)) << exponent;
    EXPECT_GE(total.lo, 0);
  }
  // Zeros stay exact.
  EXPECT_EQ(call(sum_, point(0), point(0), 10.0).hi, 0);
  EXPECT_TRUE(isNaN(call(sum_, point(0), point(NAN), 10.0)));
}

TEST_F(IntervalTest, SubnormalsMayBeZeros) {
  const Interval least = point(0x1p-130);
  EXPECT_EQ(call(unary_, least, int64_t(RMSNORM_ORACLE_rsqrt)).hi, inf);
  EXPECT_EQ(call(unary_, least, int64_t(RMSNORM_ORACLE_sqrt)).lo, 0);
  // Not where no error is allowed.
  EXPECT_EQ(call(mul_, least, point(4)).lo, 0x1p-128);
  EXPECT_EQ(call(unary_, least, int64_t(RMSNORM_ORACLE_nearest)).lo, 0x1p-130);
}

TEST_F(IntervalTest, NaNIsCertainOrPossible) {
  const Interval nan = point(NAN), anything = {-inf, inf};
  EXPECT_TRUE(isNaN(call(sub_, point(inf), point(inf))));
  EXPECT_TRUE(isNaN(call(mul_, point(0), point(inf))));
  EXPECT_TRUE(isAnything(call(sub_, Interval{1, inf}, point(inf))));
  EXPECT_TRUE(isAnything(call(mul_, Interval{0, 1}, point(inf))));
  EXPECT_TRUE(isAnything(call(mul_, anything, point(0))));
  EXPECT_TRUE(isAnything(call(add_, anything, point(1))));
  EXPECT_TRUE(isAnything(call(max_, anything, point(1))));
  EXPECT_TRUE(isNaN(call(max_, nan, point(1))));
  EXPECT_EQ(call(maxnum_, nan, point(1)).lo, 1);
  EXPECT_EQ(call(maxnum_, anything, point(1)).lo, 1);
  EXPECT_TRUE(isNaN(call(add_, nan, anything)));
  EXPECT_TRUE(isNaN(call(unary_, point(-1), int64_t(RMSNORM_ORACLE_sqrt))));
  EXPECT_TRUE(
      isAnything(call(unary_, Interval{-1, 1}, int64_t(RMSNORM_ORACLE_rsqrt))));
  EXPECT_TRUE(isAnything(call(div_, point(1), Interval{-1, 1})));
  EXPECT_TRUE(isNaN(call(div_, point(0), point(0))));
  EXPECT_TRUE(isAnything(call(div_, point(inf), point(0x1p127))));
  EXPECT_TRUE(isNaN(call(pow_, nan, point(0.5))));
  EXPECT_EQ(call(pow_, nan, point(0)).hi, 1);
  EXPECT_EQ(call(pow_, point(1), nan).lo, 1);
  EXPECT_EQ(call(pow_, point(inf), point(0)).lo, 1);
  EXPECT_EQ(call(pow_, point(-inf), point(3)).hi, -inf);
  EXPECT_EQ(call(pow_, point(-1), point(inf)).lo, 1);
  EXPECT_EQ(call(pow_, point(-1), point(16777217)).hi, -1);
  EXPECT_TRUE(isNaN(call(pow_, point(-2), point(0.5))));
  EXPECT_TRUE(isAnything(call(pow_, point(0), point(-3))));
  EXPECT_TRUE(isAnything(call(powi_, point(0), int64_t(-3))));
  EXPECT_EQ(call(powi_, point(0), int64_t(-2)).lo, inf);
  EXPECT_EQ(call(rem_, point(0x1p100), point(0x1p-149)).hi, 0);
  EXPECT_TRUE(isNaN(call(rem_, point(1), point(0))));
  EXPECT_TRUE(
      isAnything(call(unary_, point(-0.0), int64_t(RMSNORM_ORACLE_rsqrt))));
  EXPECT_TRUE(isAnything(call(select_, Interval{0, 1}, nan, point(1))));
  EXPECT_EQ(call(compare_, nan, point(1), int64_t(15)).lo, 1);
  EXPECT_EQ(call(compare_, nan, point(1), int64_t(7)).hi, 0);
  EXPECT_EQ(call(compare_, anything, point(1), int64_t(7)).lo, 0);
}

TEST_F(IntervalTest, Integers) {
  auto is = [](Interval a, double lo, double hi) {
    return a.lo == lo && a.hi == hi;
  };
  int64_t i8 = 8, isSigned = 1;
  EXPECT_TRUE(is(call(to_integer_, Interval{-3.7, 2.9}, i8, isSigned), -3, 2));
  EXPECT_TRUE(isPoison(call(to_integer_, point(128), i8, isSigned)));
  EXPECT_TRUE(
      is(call(to_integer_, Interval{127, 128}, i8, isSigned), -128, 127));
  EXPECT_TRUE(is(call(to_integer_, point(200), i8, int64_t(0)), -56, -56));
  EXPECT_TRUE(isPoison(call(to_integer_, point(NAN), i8, isSigned)));
  EXPECT_TRUE(is(call(to_unsigned_, Interval{-2, -1}, i8), 254, 255));
  EXPECT_TRUE(is(call(to_unsigned_, Interval{-1, 1}, i8), 0, 255));
  EXPECT_TRUE(is(call(wrap_, point(300), i8), 44, 44));
  EXPECT_TRUE(is(call(wrap_, Interval{127, 128}, i8), -128, 127));
  auto compute = [&](Interval a, Interval b, int64_t operation) {
    return call(integer_, a, b, operation, i8);
  };
  EXPECT_TRUE(
      is(compute(point(100), point(100), RMSNORM_ORACLE_ADDI), -56, -56));
  EXPECT_TRUE(is(compute({1, 2}, point(3), RMSNORM_ORACLE_MULI), 3, 6));
  EXPECT_TRUE(is(compute(point(12), point(10), RMSNORM_ORACLE_ANDI), 8, 8));
  EXPECT_TRUE(is(compute({1, 2}, point(3), RMSNORM_ORACLE_ANDI), -128, 127));
  EXPECT_TRUE(is(compute(point(-1), point(4), RMSNORM_ORACLE_SHRUI), 15, 15));
  EXPECT_TRUE(is(compute({-9, 8}, point(1), RMSNORM_ORACLE_SHRSI), -5, 4));
  EXPECT_TRUE(is(call(integer_, Interval{0, 1}, point(0),
                      int64_t(RMSNORM_ORACLE_ANDI), int64_t(1)),
                 0, 0));
  // Without signs, also of 64 bits, of which a double has 53.
  EXPECT_TRUE(is(compute(point(-1), point(2), RMSNORM_ORACLE_DIVUI), 127, 127));
  EXPECT_TRUE(is(call(integer_, point(-1), point(-2),
                      int64_t(RMSNORM_ORACLE_REMUI), int64_t(64)),
                 1, 1));
  EXPECT_TRUE(is(call(compare_unsigned_, point(-2), point(-1),
                      int64_t(RMSNORM_ORACLE_LESS), int64_t(64)),
                 1, 1));
  EXPECT_TRUE(is(call(compare_unsigned_, point(1), point(-1),
                      int64_t(RMSNORM_ORACLE_GREATER), int64_t(64)),
                 0, 0));
}

TEST_F(IntervalTest, PoisonStays) {
  auto compute = [&](Interval a, Interval b, int64_t operation) {
    return call(integer_, a, b, operation, int64_t(8));
  };
  for (int64_t operation :
       {RMSNORM_ORACLE_DIVI, RMSNORM_ORACLE_FLOORDIVI, RMSNORM_ORACLE_CEILDIVI,
        RMSNORM_ORACLE_REMI, RMSNORM_ORACLE_DIVUI, RMSNORM_ORACLE_CEILDIVUI,
        RMSNORM_ORACLE_REMUI}) {
    EXPECT_TRUE(isPoison(compute(point(1), point(0), operation)));
    EXPECT_EQ(isPoison(compute(point(-128), point(-1), operation)),
              operation <= RMSNORM_ORACLE_REMI);
    EXPECT_FALSE(isPoison(compute(point(1), {0, 1}, operation)));
  }
  for (int64_t operation :
       {RMSNORM_ORACLE_SHLI, RMSNORM_ORACLE_SHRSI, RMSNORM_ORACLE_SHRUI}) {
    EXPECT_TRUE(isPoison(compute(point(1), point(8), operation)));
    EXPECT_TRUE(isPoison(compute(point(1), point(-1), operation)));
    EXPECT_FALSE(isPoison(compute(point(1), point(7), operation)));
  }
  const Interval poison = compute(point(1), point(0), RMSNORM_ORACLE_DIVI);
  EXPECT_TRUE(isPoison(call(add_, poison, point(1))));
  EXPECT_TRUE(isPoison(call(max_, point(NAN), poison)));
  EXPECT_TRUE(isPoison(call(unary_, poison, int64_t(RMSNORM_ORACLE_sin))));
  EXPECT_TRUE(isPoison(call(sum_, point(0), poison, 10.0)));
  // Where another value is chosen it is nobody's.
  EXPECT_EQ(call(select_, point(0), poison, point(2)).lo, 2);
  EXPECT_TRUE(isPoison(call(select_, point(1), poison, point(2))));
  EXPECT_TRUE(isAnything(call(select_, Interval{0, 1}, poison, point(2))));
}

} // namespace
