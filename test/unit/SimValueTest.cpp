// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimValueTest.cpp - what each op computes in the simulator ---------===//

#include "SimHarness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

using namespace rmsnorm;
using namespace rmsnorm::test;

static uint32_t getBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}
static float getFloat(uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

//===----------------------------------------------------------------------===//
// Subgroup reductions
//===----------------------------------------------------------------------===//

/// y[t] = the reduction over t's part of x.
static std::vector<float> reduce(const std::string &kind, int width,
                                 int subgroup, std::vector<float> x) {
  std::vector<float> y(x.size());
  KernelTest test("%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
                  R"(
    %x0 = rmsnorm.global_load %x[%r0, %t32] alignment(4) : vector<1xf32>
    %v = vector.extract %x0[0] : f32 from vector<1xf32>
    %s = rmsnorm.subgroup_reduce )" +
                      kind + " %v width(" + std::to_string(width) +
                      R"() : f32
    %y0 = vector.broadcast %s : f32 to vector<1xf32>
    rmsnorm.global_store %y0, %y[%r0, %t32] alignment(4) : vector<1xf32>)");
  test.addBuffer("x", x);
  test.addBuffer("y", y, true);
  test.request.blockThreads = int32_t(x.size());
  test.request.subgroupSize = subgroup;
  for (OrderAndSeed order : kOrders) {
    test.request.order = order.order;
    test.request.seed = order.seed;
    std::vector<float> before = y;
    EXPECT_EQ(test.run(), "");
    if (order.order != sim::Order::Forward) {
      EXPECT_EQ(std::memcmp(before.data(), y.data(), y.size() * 4), 0);
    }
  }
  return y;
}

/// The butterfly, all lanes of it, as the op describes it.
template <typename Combine>
static std::vector<float> butterfly(std::vector<float> x, int width,
                                    Combine combine) {
  for (int step = 1; step < width; step *= 2) {
    std::vector<float> next = x;
    for (size_t i = 0; i < x.size(); ++i)
      next[i] = combine(x[i], x[i ^ step]);
    x = next;
  }
  return x;
}

TEST(SimValue, ReductionsFollowTheButterfly) {
  // Rounding errors tell apart the trees.
  std::vector<float> x(256);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = std::ldexp(1.0f + float((i * 2654435761u) % 1000) / 997.0f,
                      int(i % 21) - 10);
  for (int subgroup : {32, 64})
    for (int width = 1; width <= subgroup; width *= 2) {
      EXPECT_EQ(reduce("add", width, subgroup, x),
                butterfly(x, width, [](float a, float b) { return a + b; }));
      EXPECT_EQ(
          reduce("maximumf", width, subgroup, x),
          butterfly(x, width, [](float a, float b) { return std::max(a, b); }));
      EXPECT_EQ(
          reduce("minimumf", width, subgroup, x),
          butterfly(x, width, [](float a, float b) { return std::min(a, b); }));
    }
  std::vector<float> small(x.begin(), x.begin() + 32);
  EXPECT_EQ(reduce("mul", 8, 32, small),
            butterfly(small, 8, [](float a, float b) { return a * b; }));
}

TEST(SimValue, ReductionsOfSpecialValues) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  auto both = [](float a, float b, const char *kind) {
    std::vector<float> x(32, a);
    x[1] = b;
    x[2] = b;
    std::vector<float> y = reduce(kind, 2, 32, x);
    EXPECT_EQ(getBits(y[0]), getBits(y[1]));
    // The same with the operands swapped.
    if (!std::isnan(y[0])) {
      EXPECT_EQ(getBits(y[0]), getBits(y[2]));
    }
    return y[0];
  };
  EXPECT_TRUE(std::isnan(both(nan, 1, "maximumf")));
  EXPECT_TRUE(std::isnan(both(nan, 1, "minimumf")));
  EXPECT_TRUE(std::isnan(both(inf, -inf, "add")));
  EXPECT_EQ(getBits(both(-0.0f, 0.0f, "maximumf")), getBits(0.0f));
  EXPECT_EQ(getBits(both(-0.0f, 0.0f, "minimumf")), getBits(-0.0f));
  EXPECT_EQ(both(-inf, 3, "maximumf"), 3);
  EXPECT_EQ(both(inf, 3, "minimumf"), 3);
}

TEST(SimValue, LanesThatTheLastSubgroupLacksContributeNothing) {
  for (int threads : {1, 3, 31, 40, 63}) {
    std::vector<float> x(threads);
    for (int i = 0; i < threads; ++i)
      x[i] = float(i + 1);
    for (int subgroup : {32, 64}) {
      std::vector<float> sum = reduce("add", subgroup, subgroup, x);
      std::vector<float> most = reduce("minimumf", 4, subgroup, x);
      for (int i = 0; i < threads; ++i) {
        int first = i / subgroup * subgroup;
        int last = std::min(first + subgroup, threads);
        EXPECT_EQ(sum[i], float((last - first) * (first + 1 + last)) / 2);
        EXPECT_EQ(most[i], float(i / 4 * 4 + 1));
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Fragments
//===----------------------------------------------------------------------===//

TEST(SimValue, OnlyValidElementsAreTouched) {
  struct Case {
    const char *type;
    int size;
  };
  for (Case c :
       {Case{"f32", 4}, Case{"bf16", 2}, Case{"f16", 2}, Case{"i8", 1}}) {
    // %y receives what was loaded, %z only the valid elements of it.
    std::string body = R"(
      %v = rmsnorm.global_load %x[%r0, %i0] valid(%n) alignment(SIZE) : vector<8xTYPE>
      rmsnorm.global_store %v, %y[%r0, %i0] alignment(SIZE) : vector<8xTYPE>
      rmsnorm.global_store %v, %z[%r0, %i0] valid(%n) alignment(SIZE) : vector<8xTYPE>)";
    body = replaceAll(body, "TYPE", c.type);
    body = replaceAll(body, "SIZE", std::to_string(c.size));
    KernelTest test("%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %z: !llvm.ptr<1>, "
                    "%n: i32",
                    body);
    test.request.blockThreads = 1;
    for (int32_t n = -1; n <= 9; ++n) {
      int valid = std::min(std::max(n, 0), 8);
      // No more than the valid elements is there to be read and written.
      std::vector<uint8_t> x(std::max(valid, 1) * c.size, 0x3c);
      std::vector<uint8_t> y(8 * c.size, 0xee), z(valid * c.size, 0xee);
      test.request.parameters.clear();
      test.addBuffer("x", x);
      test.addBuffer("y", y, true);
      test.addBuffer("z", z, true);
      test.addScalar(n);
      ASSERT_EQ(test.run(), "") << c.type << " " << n;
      for (int i = 0; i < 8 * c.size; ++i)
        ASSERT_EQ(y[i], i < valid * c.size ? 0x3c : 0) << c.type << " " << n;
      for (uint8_t byte : z)
        ASSERT_EQ(byte, 0x3c);
    }
  }
}

//===----------------------------------------------------------------------===//
// Narrow floats
//===----------------------------------------------------------------------===//

/// y[i] = OP(x[i]), 8 at a time.
template <typename Out, typename In>
static std::vector<Out> convert(const std::string &ops, const char *in,
                                const char *out, std::vector<In> x) {
  std::string body = R"(
    %i8 = arith.constant 8 : i32
    %column = arith.muli %t32, %i8 : i32
    %b64 = arith.index_cast %b : index to i64
    %size = arith.constant 512 : i64
    %row = arith.muli %b64, %size : i64
    %v = rmsnorm.global_load %x[%row, %column] alignment(4) : vector<8xIN>
    )" + ops + R"(
    rmsnorm.global_store %r, %y[%row, %column] alignment(4) : vector<8xOUT>)";
  KernelTest test("%x: !llvm.ptr<1>, %y: !llvm.ptr<1>",
                  replaceAll(replaceAll(body, "IN", in), "OUT", out));
  x.resize((x.size() + 511) / 512 * 512);
  std::vector<Out> y(x.size());
  test.addBuffer("x", x);
  test.addBuffer("y", y, true);
  test.request.grid = int64_t(x.size() / 512);
  EXPECT_EQ(test.run(), "");
  return y;
}

static std::vector<uint16_t> getAll16Bits() {
  std::vector<uint16_t> all(1 << 16);
  for (size_t i = 0; i < all.size(); ++i)
    all[i] = uint16_t(i);
  return all;
}

/// Every upper half with the lower halves around which rounding turns.
static std::vector<float> getRoundingCases() {
  std::vector<float> cases;
  for (uint32_t upper = 0; upper < (1 << 16); ++upper)
    for (uint32_t lower :
         {0x0000u, 0x0001u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      cases.push_back(getFloat(upper << 16 | lower));
  return cases;
}

static uint16_t roundToBF16(float value) {
  uint32_t bits = getBits(value);
  if (std::isnan(value))
    return 0x7fc0;
  return uint16_t((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

TEST(SimValue, BF16ExtensionIsExact) {
  std::vector<float> y =
      convert<float>("%r = arith.extf %v : vector<8xbf16> to vector<8xf32>",
                     "bf16", "f32", getAll16Bits());
  for (uint32_t i = 0; i < (1 << 16); ++i)
    ASSERT_EQ(getBits(y[i]), i << 16);
}

TEST(SimValue, BF16TruncationRoundsToNearestEven) {
  std::vector<float> x = getRoundingCases();
  std::vector<uint16_t> y = convert<uint16_t>(
      "%r = arith.truncf %v : vector<8xf32> to vector<8xbf16>", "f32", "bf16",
      x);
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]))
      ASSERT_EQ(y[i] & 0x7fc0, 0x7fc0) << getBits(x[i]);
    else
      ASSERT_EQ(y[i], roundToBF16(x[i])) << getBits(x[i]);
  }
}

TEST(SimValue, BF16ArithmeticRoundsEachOperation) {
  std::vector<uint16_t> x;
  for (uint32_t i = 0; i < (1 << 16); ++i)
    if (!std::isnan(getFloat(i << 16)))
      x.push_back(uint16_t(i));
  std::vector<uint16_t> y = convert<uint16_t>(R"(
    %k = arith.constant dense<1.4140625> : vector<8xbf16>
    %m = arith.mulf %v, %k : vector<8xbf16>
    %r = arith.addf %m, %k : vector<8xbf16>)",
                                              "bf16", "bf16", x);
  for (size_t i = 0; i < x.size(); ++i) {
    float product = getFloat(uint32_t(x[i]) << 16) * 1.4140625f;
    float sum = getFloat(uint32_t(roundToBF16(product)) << 16) + 1.4140625f;
    ASSERT_EQ(y[i], roundToBF16(sum)) << x[i];
  }
}

TEST(SimValue, BF16CrossesControlFlow) {
  // A constant, a loop-carried value and a select of bf16.
  std::vector<uint16_t> y = convert<uint16_t>(R"(
    %k = arith.constant dense<[1.0, -2.0, 0.5, 4.0, 1.0, 1.0, 1.0, -0.0]> : vector<8xbf16>
    %w = scf.for %j = %c0 to %c4 step %c1 iter_args(%a = %v) -> vector<8xbf16> {
      rmsnorm.barrier
      %odd = arith.remui %j, %c2 : index
      %is_odd = arith.cmpi eq, %odd, %c1 : index
      %n = arith.select %is_odd, %a, %k : vector<8xbf16>
      scf.yield %n : vector<8xbf16>
    }
    %r = rmsnorm.keep %w after %f1 : vector<8xbf16>, f32)",
                                              "bf16", "bf16", getAll16Bits());
  const uint16_t expected[] = {0x3f80, 0xc000, 0x3f00, 0x4080,
                               0x3f80, 0x3f80, 0x3f80, 0x8000};
  for (size_t i = 0; i < y.size(); ++i)
    ASSERT_EQ(y[i], expected[i % 8]);
}

TEST(SimValue, F16ThereAndBackIsExact) {
  std::vector<uint16_t> y = convert<uint16_t>(R"(
    %e = arith.extf %v : vector<8xf16> to vector<8xf32>
    %r = arith.truncf %e : vector<8xf32> to vector<8xf16>)",
                                              "f16", "f16", getAll16Bits());
  for (uint32_t i = 0; i < (1 << 16); ++i) {
    if ((i & 0x7fff) > 0x7c00)
      ASSERT_EQ(y[i] | 0x200, i | 0x200); // LLVM may make it quiet or not
    else
      ASSERT_EQ(y[i], i);
  }
}

//===----------------------------------------------------------------------===//
// Math
//===----------------------------------------------------------------------===//

TEST(SimValue, MathFunctions) {
  struct Case {
    const char *op;
    double (*expected)(double);
  };
  const Case cases[] = {
      {"math.exp", std::exp},
      {"math.exp2", std::exp2},
      {"math.expm1", std::expm1},
      {"math.log", std::log},
      {"math.log2", std::log2},
      {"math.log10", std::log10},
      {"math.log1p", std::log1p},
      {"math.tanh", std::tanh},
      {"math.erf", std::erf},
      {"math.erfc", std::erfc},
      {"math.sin", std::sin},
      {"math.cos", std::cos},
      {"math.tan", std::tan},
      {"math.sinh", std::sinh},
      {"math.cosh", std::cosh},
      {"math.atan", std::atan},
      {"math.cbrt", std::cbrt},
      {"math.sqrt", std::sqrt},
      {"math.floor", std::floor},
      {"math.ceil", std::ceil},
      {"math.round", std::round},
      {"math.roundeven", std::nearbyint},
      {"math.absf", std::fabs},
      {"math.trunc", std::trunc},
      {"math.rsqrt", [](double x) { return 1 / std::sqrt(x); }},
  };
  std::vector<float> x(512);
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = 0.0625f + float(i) / 64;
  // One kernel: row i of %y is function i of %x.
  std::string body = R"(
    %i8 = arith.constant 8 : i32
    %column = arith.muli %t32, %i8 : i32
    %v = rmsnorm.global_load %x[%r0, %column] alignment(4) : vector<8xf32>
)";
  int count = 0;
  for (const Case &c : cases) {
    std::string store = std::string("%rowN = arith.constant ") +
                        std::to_string(512 * count) + " : i64\n%vN = " + c.op +
                        " %v : vector<8xf32>\n" +
                        "rmsnorm.global_store %vN, %y[%rowN, %column] "
                        "alignment(4) : vector<8xf32>\n";
    body += replaceAll(store, "N", std::to_string(count));
    ++count;
  }
  KernelTest test("%x: !llvm.ptr<1>, %y: !llvm.ptr<1>", body);
  std::vector<float> y(512 * count);
  test.addBuffer("x", x);
  test.addBuffer("y", y, true);
  ASSERT_EQ(test.run(), "");
  for (size_t i = 0; i < y.size(); ++i) {
    double expected = cases[i / 512].expected(x[i % 512]);
    ASSERT_NEAR(y[i], expected, 2e-6 * std::fabs(expected) + 1e-7)
        << cases[i / 512].op << " of " << x[i % 512];
  }
}

// As the oracle has it, see Interval.cpp, but for nothing beside the 4 ulp.
TEST(SimValue, ErrorFunction) {
  // Of both signs, 64 in each power of two around the place where it is of two
  // parts; from 5 on there is nothing but 1.
  std::vector<float> x = {0.0f, 0x1p-149f, 0x1p-120f, 0x1p-60f, 5.0f,
                          1e3f, 3e38f,     INFINITY,  NAN};
  for (int i = 0; i < 247; ++i)
    x.push_back(std::ldexp(1 + float(i % 64) / 64, i / 64 - 2));
  for (int i = 0; i < 256; ++i)
    x.push_back(-x[i]);
  std::vector<float> y =
      convert<float>("%r = math.erf %v : vector<8xf32>", "f32", "f32", x);
  for (size_t i = 0; i < x.size(); ++i) {
    double expected = std::erf(double(x[i]));
    ASSERT_EQ(std::isnan(y[i]), std::isnan(x[i]));
    if (std::isnan(x[i]))
      continue;
    ASSERT_EQ(std::signbit(y[i]), std::signbit(x[i])) << x[i];
    ASSERT_LE(std::fabs(y[i]), 1) << x[i];
    ASSERT_NEAR(y[i], expected, 0x1p-21 * std::fabs(expected) + 0x1p-149)
        << x[i];
    if (std::fabs(x[i]) >= 5) {
      ASSERT_EQ(std::fabs(y[i]), 1) << x[i];
    }
  }
}

TEST(SimValue, ScalarAndNarrowMath) {
  std::vector<uint16_t> y =
      convert<uint16_t>(R"(
    %s = vector.extract %v[0] : bf16 from vector<8xbf16>
    %e = math.exp %s : bf16
    %b0 = vector.broadcast %e : bf16 to vector<8xbf16>
    %p = math.powf %v, %v : vector<8xbf16>
    %m = arith.maximumf %b0, %p : vector<8xbf16>
    %k = arith.constant dense<3.0> : vector<8xbf16>
    %r = arith.remf %m, %k : vector<8xbf16>)",
                        "bf16", "bf16", std::vector<uint16_t>(512, 0x4000));
  float expected = std::fmod(
      std::max(getFloat(uint32_t(roundToBF16(std::exp(2.0f))) << 16), 4.0f),
      3.0f);
  EXPECT_EQ(y[0], roundToBF16(expected));
}

TEST(SimValue, FmaIsFused) {
  std::vector<float> x(512, 1.0f + std::ldexp(1.0f, -12));
  std::vector<float> y = convert<float>(R"(
    %m = arith.constant dense<-1.0> : vector<8xf32>
    %r = math.fma %v, %v, %m : vector<8xf32>)",
                                        "f32", "f32", x);
  EXPECT_EQ(y[0], std::fma(x[0], x[0], -1.0f));
  EXPECT_NE(y[0], x[0] * x[0] - 1.0f);
}

TEST(SimValue, IdsAndScalarArguments) {
  KernelTest test("%y: !llvm.ptr<1>, %a: i64, %b32: i32, %f: f32, %i: index, "
                  "%d: f32, %h: i16",
                  R"(
    %grid = gpu.grid_dim x
    %block = gpu.block_dim x
    %s0 = arith.index_cast %grid : index to i64
    %s1 = arith.index_cast %block : index to i64
    %s2 = arith.extsi %b32 : i32 to i64
    %s3 = arith.fptosi %f : f32 to i64
    %s4 = arith.index_cast %i : index to i64
    %s5 = arith.fptosi %d : f32 to i64
    %s6 = arith.extsi %h : i16 to i64
    %v = vector.from_elements %a, %s0, %s1, %s2, %s3, %s4, %s5, %s6 : vector<8xi64>
    %bi = arith.index_cast %b : index to i64
    %ti = arith.index_cast %t : index to i64
    %bn = arith.muli %bi, %s1 : i64
    %id = arith.addi %bn, %ti : i64
    %c8 = arith.constant 8 : i64
    %row = arith.muli %id, %c8 : i64
    rmsnorm.global_store %v, %y[%row, %i0] alignment(8) : vector<8xi64>)");
  std::vector<int64_t> y(3 * 5 * 8);
  test.addBuffer("y", y, true);
  test.addScalar<int64_t>(-1);
  test.addScalar<int32_t>(-2);
  test.addScalar<float>(-3);
  test.addScalar<int64_t>(-4);
  test.addScalar<float>(-5);
  test.addScalar<int16_t>(-6);
  test.request.grid = 3;
  test.request.blockThreads = 5;
  ASSERT_EQ(test.run(), "");
  const int64_t expected[] = {-1, 3, 5, -2, -3, -4, -5, -6};
  for (size_t i = 0; i < y.size(); ++i)
    ASSERT_EQ(y[i], expected[i % 8]);
}
