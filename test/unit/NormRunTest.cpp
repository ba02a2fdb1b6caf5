// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NormRunTest.cpp - what norm-run's verdict rests on ----------------===//

#include "../../tools/trial/Compare.h"
#include "../../tools/trial/Fill.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>

using namespace trial;

static DLDataType f16() { return {kDLFloat, 16, 1}; }
static DLDataType bf16() { return {kDLBfloat, 16, 1}; }
static DLDataType f32() { return {kDLFloat, 32, 1}; }

static Format formatOf(DLDataType dtype) {
  Format format = {};
  EXPECT_TRUE(getFormat(dtype, format));
  return format;
}

TEST(NormRunValues, EncodeInvertsDecodeForEveryPattern) {
  DLDataType types[] = {f16(),
                        bf16(),
                        {RMSNORM_DL_FLOAT8_E4M3FN, 8, 1},
                        {RMSNORM_DL_FLOAT8_E5M2, 8, 1},
                        {RMSNORM_DL_FLOAT8_E8M0FNU, 8, 1},
                        {RMSNORM_DL_FLOAT4_E2M1FN, 4, 1}};
  for (DLDataType dtype : types) {
    Format format = formatOf(dtype);
    for (uint32_t bits = 0; bits < 1u << dtype.bits; ++bits) {
      double value = decode(format, &bits);
      uint32_t back = 0;
      encode(format, value, &back);
      if (std::isnan(value))
        EXPECT_TRUE(std::isnan(decode(format, &back)));
      else
        EXPECT_EQ(back, bits) << value;
    }
  }
}

TEST(NormRunValues, EncodeRoundsToNearestEven) {
  Format format = formatOf(bf16());
  auto round = [&](double value) {
    uint16_t bits;
    encode(format, value, &bits);
    return decode(format, &bits);
  };
  EXPECT_EQ(round(1 + 0x1p-8), 1);              // a tie, down to even
  EXPECT_EQ(round(1 + 3 * 0x1p-8), 1 + 0x1p-6); // a tie, up to even
  EXPECT_EQ(round(1 + 0x1p-8 + 0x1p-20), 1 + 0x1p-7);
  EXPECT_EQ(round(-0x1.ffp0), -2); // the carry reaches the exponent
  EXPECT_TRUE(std::isinf(round(1e39)));
}

TEST(NormRunValues, EncodesPowersOfTwo) {
  auto round = [](double value) {
    uint8_t bits;
    encode(formatOf({RMSNORM_DL_FLOAT8_E8M0FNU, 8, 1}), value, &bits);
    return bits;
  };
  EXPECT_EQ(round(1.4999), 127);
  EXPECT_EQ(round(1.5), 128); // a tie
  EXPECT_EQ(round(0), 0);
  EXPECT_EQ(round(0x1.7fp-127), 0);
  EXPECT_EQ(round(0x1.8p-127), 1);
  EXPECT_EQ(round(0x1.7p127), 254);
  EXPECT_EQ(round(0x1.8p127), 255);
  EXPECT_EQ(round(-1), 255);
}

TEST(NormRunValues, PacksTwoNumbersInAByte) {
  const Format f4 = formatOf({RMSNORM_DL_FLOAT4_E2M1FN, 4, 1});
  unsigned char row[2] = {0xff, 0xff};
  encode(f4, 1.5, row, 0);
  EXPECT_EQ(row[0], 0xf3);
  encode(f4, -0.5, row, 1);
  EXPECT_EQ(row[0], 0x93);
  encode(f4, 2.5, row, 2); // a tie, to even
  encode(f4, 7, row, 3);   // saturates
  EXPECT_EQ(row[1], 0x74);
}

TEST(NormRunValues, UlpIsTheSpacing) {
  EXPECT_EQ(ulpAt(formatOf(bf16()), 1.0), 0x1p-7);
  EXPECT_EQ(ulpAt(formatOf(bf16()), -3.9), 0x1p-6);
  EXPECT_EQ(ulpAt(formatOf(f16()), 0.0), 0x1p-24);
  EXPECT_EQ(ulpAt(formatOf(f16()), 0x1p-20), 0x1p-24); // subnormal
  EXPECT_EQ(ulpAt(formatOf(f32()), 1.0), 0x1p-23);
}

namespace {
class NormRunTensors : public ::testing::Test {
protected:
  Tensor make(DLDataType dtype, std::vector<int64_t> sizes,
              LayoutOptions layout = {}) {
    rmsnorm_argument_info info = {};
    info.dtype = dtype;
    return Tensor(info, formatOf(dtype), std::move(sizes), layout);
  }
  static void set(Tensor &tensor, int64_t row, int64_t column, double value) {
    encode(tensor.getFormat(), value,
           tensor.bytes() + tensor.rowOffset(row) +
               column * tensor.getFormat().bytes);
  }
};
} // namespace

TEST_F(NormRunTensors, ValuesDoNotDependOnTheLayout) {
  Tensor dense = make(bf16(), {2, 3, 5});
  Tensor apart = make(bf16(), {2, 3, 5}, {7, 1});
  fillInput(dense, 3, 0, InputKind::Data);
  fillInput(apart, 3, 0, InputKind::Data);
  for (int64_t row = 0; row < 6; ++row)
    for (int64_t column = 0; column < 5; ++column)
      EXPECT_EQ(dense.at(row, column), apart.at(row, column));
  DLTensor view = apart.view(apart.bytes(), {kDLCPU, 0});
  EXPECT_EQ(view.strides[1], 12);
  EXPECT_EQ(view.strides[0], 3 * 12 + 7);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(view.data) % 16, 2u);
}

TEST_F(NormRunTensors, FewRowsAreSpecial) {
  // Of what there is in rows: NaNs, infinities, subnormals, ties.
  auto count = [&](DLDataType dtype, InputKind kind, unsigned ordinal) {
    Tensor tensor = make(dtype, {64, 100});
    fillInput(tensor, 1, 0, kind, ordinal);
    std::array<int, 4> rows = {};
    for (int64_t row = 0; row < 64; ++row) {
      int nans = 0, infinities = 0, subnormals = 0, ties = 0;
      for (int64_t column = 0; column < 100; ++column) {
        double value = tensor.at(row, column);
        nans += std::isnan(value);
        infinities += std::isinf(value);
        subnormals += std::fabs(value) == ulpAt(formatOf(dtype), 0);
        ties += std::fabs(value - std::trunc(value)) == 0.5;
      }
      rows[0] += nans == 1;
      rows[1] += infinities == 1;
      rows[2] += subnormals == 1;
      rows[3] += ties == 100;
    }
    return rows;
  };
  using Rows = std::array<int, 4>;
  for (unsigned ordinal = 0; ordinal < 5; ++ordinal) {
    EXPECT_EQ(count(f32(), InputKind::Data, ordinal), (Rows{1, 1, 1, 1}));
    EXPECT_EQ(count(f32(), InputKind::FiniteData, ordinal), (Rows{0, 0, 1, 1}));
  }
  EXPECT_EQ(count(f32(), InputKind::Weight, 0), (Rows{0, 0, 0, 0}));
}

TEST_F(NormRunTensors, OneTensorAloneIsTiny) {
  for (unsigned ordinal = 0; ordinal < 4; ++ordinal) {
    Tensor tensor = make(bf16(), {64, 8});
    fillInput(tensor, 1, 0, InputKind::Data, ordinal);
    for (unsigned row = 0; row < 4; ++row)
      for (int64_t column = 0; column < 8; ++column) {
        double value = std::fabs(tensor.at(28 + row, column));
        EXPECT_EQ(value > 0, row == ordinal);
        EXPECT_LT(value, 0x1p-18);
      }
  }
}

TEST_F(NormRunTensors, NaNsHaveOneHash) {
  Tensor a = make(f32(), {1, 2}), b = make(f32(), {1, 2});
  set(a, 0, 0, 1);
  set(b, 0, 0, 1);
  set(a, 0, 1, std::numeric_limits<double>::quiet_NaN());
  set(b, 0, 1, -std::numeric_limits<double>::quiet_NaN());
  ASSERT_NE(a.bytes()[a.rowOffset(0) + 7], b.bytes()[b.rowOffset(0) + 7]);
  const Intervals expected(a);
  EXPECT_EQ(hash(a, expected, 1), hash(b, expected, 1));
  set(b, 0, 1, 0);
  EXPECT_NE(hash(a, expected, 1), hash(b, expected, 1));
}

TEST_F(NormRunTensors, AnElementMustLieInItsInterval) {
  Tensor got = make(bf16(), {3, 4});
  fillInput(got, 1, 0, InputKind::Data);
  Intervals expected(got);
  EXPECT_EQ(compare(got, expected).wrong, 0);
  EXPECT_EQ(compare(got, expected).undecided, 0);
  auto &ends = const_cast<Interval &>(expected.at(2, 1));
  ends = {1.5, 1.5 + 0x1p-7};
  set(got, 2, 1, 1.5 + 0x1p-7);
  Difference right = compare(got, expected);
  EXPECT_EQ(right.wrong, 0);
  EXPECT_EQ(right.undecided, 1);
  EXPECT_EQ(right.ulps, 0);
  set(got, 2, 1, 1.5 + 0x1p-6);
  Difference wrong = compare(got, expected);
  EXPECT_EQ(wrong.wrong, 1);
  EXPECT_EQ(wrong.ulps, 1.5);
  EXPECT_EQ(wrong.where,
            "row 2, column 1: got 1.515625, expected 1.5 to 1.5078125");
}

TEST_F(NormRunTensors, UndefinedElementsAreNotCompared) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Tensor got = make(bf16(), {2, 2}), other = make(bf16(), {2, 2});
  fillInput(got, 1, 0, InputKind::Data);
  other.copyFrom(got);
  Intervals expected(got);
  const_cast<Interval &>(expected.at(1, 0)) = {infinity, -infinity};
  for (double value : {nan, 0.0, 3e38}) {
    set(other, 1, 0, value);
    const Difference difference = compare(other, expected);
    EXPECT_EQ(difference.wrong, 0);
    EXPECT_EQ(difference.undecided, 0);
    EXPECT_EQ(difference.undefined, 1);
    EXPECT_EQ(hash(other, expected, 1), hash(got, expected, 1));
  }
  set(other, 1, 1, nan);
  EXPECT_EQ(compare(other, expected).wrong, 1);
  EXPECT_NE(hash(other, expected, 1), hash(got, expected, 1));
}

TEST_F(NormRunTensors, IntervalsOfSeveralValuesAreUndecided) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  auto isUndecided = [](DLDataType dtype, double lo, double hi) {
    return Interval{lo, hi}.isUndecided(formatOf(dtype));
  };
  EXPECT_FALSE(isUndecided(bf16(), 1, 1));
  EXPECT_TRUE(isUndecided(bf16(), 1, 1 + 0x1p-7));
  EXPECT_TRUE(isUndecided(bf16(), -infinity, infinity));
  EXPECT_FALSE(isUndecided(bf16(), nan, nan));
  EXPECT_FALSE(isUndecided(f32(), 1, 1 + 0x1p-12));
  EXPECT_TRUE(isUndecided(f32(), 1, 1 + 0x1p-10));
  EXPECT_TRUE(isUndecided(f32(), -0x1p-40, 0x1p-40));
  EXPECT_TRUE(isUndecided(f32(), -infinity, infinity));
  EXPECT_TRUE(isUndecided(f32(), 1, infinity));
  EXPECT_FALSE(isUndecided(f32(), infinity, infinity));
  EXPECT_TRUE(isUndecided({kDLInt, 8, 1}, 3, 4));
  // Poison: any value is right.
  const Interval poison = {infinity, -infinity};
  EXPECT_TRUE(poison.isUndefined() && poison.contains(3) &&
              poison.contains(nan));
  EXPECT_TRUE(isUndecided(bf16(), infinity, -infinity));
  EXPECT_FALSE((Interval{-infinity, infinity}).isUndefined());
}

TEST_F(NormRunTensors, RowFactorsAreOfTheirRows) {
  Tensor data = make(f32(), {2, 3, 4}), factors = make(f32(), {2, 3});
  fillInput(data, 1, 0, InputKind::Data, 0);
  fillRowFactors(factors, data);
  for (int64_t row = 0; row < 6; ++row) {
    double sum = 0;
    for (int64_t column = 0; column < 4; ++column)
      sum += data.at(row, column) * data.at(row, column);
    EXPECT_FLOAT_EQ(factors.at(row / 3, row % 3),
                    1 / std::sqrt(sum / 4 + 1e-5));
  }
  // Scales begin at the fourth; the third row from there is all zero.
  EXPECT_NE(data.at(1, 0), 0);
  EXPECT_EQ(data.at(2, 0), 0);
}

TEST_F(NormRunTensors, IndicesAreBelowTheirBound) {
  Tensor indices = make({kDLInt, 64, 1}, {3, 7});
  fillIndices(indices, 1, 0, 5, /*distinct=*/false);
  EXPECT_EQ(indices.at(0, 0), 4);
  EXPECT_EQ(indices.at(0, 1), 0);
  bool isIn[5] = {};
  for (int64_t i = 0; i < 21; ++i) {
    const double index = indices.at(i / 7, i % 7);
    ASSERT_TRUE(index >= 0 && index < 5);
    isIn[int64_t(index)] = true;
  }
  EXPECT_TRUE(isIn[1] && isIn[2] && isIn[3]);
}

TEST_F(NormRunTensors, NaNAndInfinityMeetOnlyThemselves) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  Tensor oracle = make(f32(), {1, 1}), got = make(f32(), {1, 1});
  for (double a : {nan, infinity, -infinity, 1.0})
    for (double e : {nan, infinity, -infinity, 1.0}) {
      set(got, 0, 0, a);
      set(oracle, 0, 0, e);
      bool same = a == e || (std::isnan(a) && std::isnan(e));
      EXPECT_EQ(compare(got, Intervals(oracle)).wrong == 0, same)
          << a << " " << e;
      // Anything goes where a NaN is possible.
      EXPECT_TRUE((Interval{-infinity, infinity}.contains(a)));
    }
}

TEST_F(NormRunTensors, AnElementThatIsNotWrittenShows) {
  Tensor oracle = make(f16(), {2, 2}), got = make(f16(), {2, 2});
  fillInput(oracle, 1, 0, InputKind::Weight);
  poison(got);
  for (int64_t i = 0; i < 3; ++i)
    set(got, i / 2, i % 2, oracle.at(i / 2, i % 2));
  EXPECT_EQ(compare(got, Intervals(oracle)).wrong, 1);
}

TEST_F(NormRunTensors, EveryByteOutsideIsGuarded) {
  Tensor before = make(bf16(), {2, 3, 5}, {7, 1});
  Tensor got = make(bf16(), {2, 3, 5}, {7, 1});
  fillInput(before, 1, 0, InputKind::Data);
  got.copyFrom(before);
  std::vector<bool> inside(got.byteCount());
  for (int64_t row = 0; row < 6; ++row)
    for (size_t b = 0; b < 10; ++b)
      inside[got.rowOffset(row) + b] = true;
  for (size_t b = 0; b < got.byteCount(); ++b) {
    got.bytes()[b] ^= 1;
    EXPECT_EQ(got.findOverrun(before).empty(), bool(inside[b])) << b;
    EXPECT_FALSE(got.sameBytes(before));
    got.bytes()[b] ^= 1;
  }
}
