// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostRuntimeTest.cpp - library calls in host code -----------------===//
//
// LLVM calls a library for these; the host blob has to hold it.
//
//===----------------------------------------------------------------------===//

#include "SimHarness.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <vector>

using namespace rmsnorm::test;

static const char *const kFunctions = R"(
llvm.func @f32_bf16(%x: f32) -> i16 {
  %n = llvm.fptrunc %x : f32 to bf16
  %r = llvm.bitcast %n : bf16 to i16
  llvm.return %r : i16
}
llvm.func @f64_bf16(%x: f64) -> i16 {
  %n = llvm.fptrunc %x : f64 to bf16
  %r = llvm.bitcast %n : bf16 to i16
  llvm.return %r : i16
}
llvm.func @f32_f16(%x: f32) -> i16 {
  %n = llvm.fptrunc %x : f32 to f16
  %r = llvm.bitcast %n : f16 to i16
  llvm.return %r : i16
}
llvm.func @f64_f16(%x: f64) -> i16 {
  %n = llvm.fptrunc %x : f64 to f16
  %r = llvm.bitcast %n : f16 to i16
  llvm.return %r : i16
}
llvm.func @f16_f32(%x: i16) -> f32 {
  %n = llvm.bitcast %x : i16 to f16
  %r = llvm.fpext %n : f16 to f32
  llvm.return %r : f32
}
llvm.func @bf16_f64(%x: i16) -> f64 {
  %n = llvm.bitcast %x : i16 to bf16
  %r = llvm.fpext %n : bf16 to f64
  llvm.return %r : f64
}
llvm.func @divide(%n: i128, %d: i128) -> i128 {
  %q = llvm.udiv %n, %d : i128
  llvm.return %q : i128
})";

/// A 16-bit format with `fraction` explicit bits and a bias.
struct Format {
  int fraction;
  int bias;

  int infinity() const { return ((1 << (15 - fraction)) - 1) << fraction; }
  /// The value of a non-negative finite number.
  double decode(int bits) const {
    int exponent = bits >> fraction, rest = bits & ((1 << fraction) - 1);
    if (exponent == 0)
      return std::ldexp(rest, 1 - bias - fraction);
    return std::ldexp(rest + (1 << fraction), exponent - bias - fraction);
  }
};
static constexpr Format kBF16 = {7, 127}, kF16 = {10, 15};

/// Checks around every number of the format and every midpoint between two.
template <typename T>
static void checkRounding(Format format,
                          const std::function<uint16_t(T)> &round) {
  auto check = [&](T value, int expected) {
    ASSERT_EQ(round(value), expected) << value;
    ASSERT_EQ(round(-value), expected | 0x8000) << value;
  };
  const T inf = std::numeric_limits<T>::infinity();
  for (int bits = 0; bits < format.infinity(); ++bits) {
    double low = format.decode(bits);
    // Where the next number would be, were there no infinity.
    double high = format.decode(bits + 1);
    T middle = T(low + (high - low) / 2);
    int even = bits + (bits & 1);
    check(T(low), bits);
    if (low + (high - low) / 2 != double(middle))
      continue; // not a number of T
    check(middle, even);
    check(std::nextafter(middle, T(0)), bits);
    check(std::nextafter(middle, inf), bits + 1);
  }
  check(inf, format.infinity());
  check(std::numeric_limits<T>::max(), format.infinity());
  check(std::numeric_limits<T>::denorm_min(),
        T(format.decode(1)) == std::numeric_limits<T>::denorm_min() ? 1 : 0);
  uint16_t nan = round(std::numeric_limits<T>::quiet_NaN());
  EXPECT_GT(nan & 0x7fff, format.infinity());
}

class HostRuntime : public testing::Test {
protected:
  template <typename Function> Function *get(const char *name) {
    return reinterpret_cast<Function *>(code.get(name));
  }
  Code code{kFunctions, /*device=*/false};
};

TEST_F(HostRuntime, TruncationsRoundOnce) {
  auto f32_bf16 = get<uint16_t(float)>("f32_bf16");
  auto f64_bf16 = get<uint16_t(double)>("f64_bf16");
  auto f32_f16 = get<uint16_t(float)>("f32_f16");
  auto f64_f16 = get<uint16_t(double)>("f64_f16");
  ASSERT_TRUE(f32_bf16 && f64_bf16 && f32_f16 && f64_f16);
  checkRounding<float>(kBF16, f32_bf16);
  checkRounding<double>(kBF16, f64_bf16);
  checkRounding<float>(kF16, f32_f16);
  checkRounding<double>(kF16, f64_f16);
}

TEST_F(HostRuntime, ExtensionsAreExact) {
  auto f16_f32 = get<float(uint16_t)>("f16_f32");
  auto bf16_f64 = get<double(uint16_t)>("bf16_f64");
  ASSERT_TRUE(f16_f32 && bf16_f64);
  for (int bits = 0; bits <= kF16.infinity(); ++bits) {
    double value = bits == kF16.infinity() ? HUGE_VAL : kF16.decode(bits);
    ASSERT_EQ(f16_f32(uint16_t(bits)), value);
    ASSERT_EQ(f16_f32(uint16_t(bits | 0x8000)), -value);
  }
  for (int bits = 0; bits < kBF16.infinity(); ++bits)
    ASSERT_EQ(bf16_f64(uint16_t(bits)), kBF16.decode(bits));
  EXPECT_TRUE(std::isnan(f16_f32(0x7e01)));
}

TEST_F(HostRuntime, DividesIn128Bits) {
  using Wide = unsigned __int128;
  auto divide = get<Wide(Wide, Wide)>("divide");
  ASSERT_TRUE(divide);
  std::vector<Wide> numbers;
  for (int shift : {0, 1, 31, 63, 64, 65, 126, 127})
    for (int more : {-1, 0, 1, 25})
      numbers.push_back((Wide(1) << shift) + more);
  for (Wide n : numbers)
    for (Wide d : numbers)
      if (d != 0) {
        ASSERT_TRUE(divide(n, d) == n / d);
      }
}
