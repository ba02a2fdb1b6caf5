//===- OverlapTest.cpp - shared bytes against counting them ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Overlap.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <set>
#include <vector>

using namespace rmsnorm::runtime;

namespace {

constexpr uint64_t base = uint64_t(1) << 40;

struct Layout {
  std::vector<int64_t> sizes, strides;

  Footprint at(uint64_t address) const {
    return Footprint(address, 2, sizes.size(), sizes.data(), strides.data());
  }

  std::set<uint64_t> bytes(uint64_t address) const {
    std::set<uint64_t> all;
    collect(all, address, 0);
    return all;
  }

private:
  void collect(std::set<uint64_t> &all, uint64_t address, size_t d) const {
    if (d == sizes.size()) {
      all.insert({address, address + 1});
      return;
    }
    for (int64_t i = 0; i < sizes[d]; ++i)
      collect(all, address + 2 * i * strides[d], d + 1);
  }
};

std::set<uint64_t> bytesOf(const Footprint &f) {
  std::set<uint64_t> all;
  for (int64_t i = 0; i < f.count; ++i)
    for (int64_t byte = 0; byte < f.run; ++byte)
      all.insert(f.address + i * f.step + byte);
  return all;
}

bool meet(const std::set<uint64_t> &a, const std::set<uint64_t> &b) {
  return std::any_of(a.begin(), a.end(),
                     [&](uint64_t byte) { return b.count(byte) != 0; });
}

class OverlapTest : public testing::Test {
protected:
  int pick(int first, int last) {
    return first + int(random() % (last - first + 1));
  }
  std::mt19937 random{1};
};

TEST_F(OverlapTest, FootprintsCollapse) {
  auto is = [](const Layout &layout, int64_t run, int64_t step, int64_t count) {
    Footprint f = layout.at(base);
    EXPECT_EQ(f.run, run);
    EXPECT_EQ(f.step, step);
    EXPECT_EQ(f.count, count);
  };
  is({{}, {}}, 2, 0, 1);
  is({{4, 3, 8}, {24, 8, 1}}, 192, 0, 1);
  is({{4, 3, 8}, {30, 10, 1}}, 16, 20, 12);
  is({{4, 1, 8}, {30, 7, 1}}, 16, 60, 4);
  is({{4, 3, 8}, {48, 8, 1}}, 48, 96, 4);
  is({{4, 8}, {0, 1}}, 16, 0, 1);          // one row, read again
  is({{4, 8}, {3, 1}}, 34, 0, 1);          // windows
  is({{4, 3, 8}, {35, 10, 1}}, 16, 20, 3); // those at the first index
  is({{5}, {3}}, 2, 6, 5);
}

TEST_F(OverlapTest, RowsOfOneStep) {
  int shared = 0;
  for (int round = 0; round < 20000; ++round) {
    const int step = pick(1, 12);
    Layout a{{pick(1, 5), pick(1, step)}, {step, 1}};
    Layout b{{pick(1, 5), pick(1, step)}, {step, 1}};
    const uint64_t other = base + 2 * pick(-70, 70);
    const bool expected = meet(a.bytes(base), b.bytes(other));
    shared += expected;
    ASSERT_EQ(shareBytes(a.at(base), b.at(other)), expected);
    ASSERT_EQ(shareBytes(b.at(other), a.at(base)), expected);
  }
  EXPECT_GT(shared, 2000);
  EXPECT_LT(shared, 18000);
}

TEST_F(OverlapTest, OneRun) {
  int shared = 0;
  for (int round = 0; round < 20000; ++round) {
    const int step = pick(2, 12);
    Layout a{{pick(2, 5), pick(1, step - 1)}, {step, 1}};
    Footprint b(base + pick(-40, 140), pick(1, 30));
    const bool expected = meet(a.bytes(base), bytesOf(b));
    shared += expected;
    ASSERT_EQ(shareBytes(a.at(base), b), expected);
    ASSERT_EQ(shareBytes(b, a.at(base)), expected);
  }
  EXPECT_GT(shared, 2000);
  EXPECT_LT(shared, 18000);
}

/// What is not certain is never said to be shared.
TEST_F(OverlapTest, AnyLayouts) {
  int shared = 0, seen = 0;
  auto layout = [&] {
    Layout l;
    for (int d = pick(1, 3); d > 0; --d) {
      l.sizes.push_back(pick(1, 4));
      l.strides.push_back(pick(0, 14));
    }
    return l;
  };
  for (int round = 0; round < 20000; ++round) {
    Layout a = layout(), b = layout();
    const uint64_t other = base + 2 * pick(-40, 40);
    const bool expected = meet(a.bytes(base), b.bytes(other));
    const bool got = shareBytes(a.at(base), b.at(other));
    ASSERT_EQ(got, shareBytes(b.at(other), a.at(base)));
    ASSERT_TRUE(expected || !got);
    shared += expected;
    seen += got;
  }
  EXPECT_GT(shared, 2000);
  // Many of them all the same, and all with a common first element.
  EXPECT_GT(seen, 1000);
  for (int round = 0; round < 1000; ++round)
    ASSERT_TRUE(shareBytes(layout().at(base), layout().at(base)));
}

TEST_F(OverlapTest, Huge) {
  Layout rows{{int64_t(1) << 40, 16}, {1 << 18, 1}};
  EXPECT_TRUE(
      shareBytes(rows.at(base), Footprint(base + (uint64_t(1) << 58), 32)));
  EXPECT_FALSE(shareBytes(rows.at(base),
                          Footprint(base + (uint64_t(1) << 58) + 32, 32)));
  // More than any memory: not known, and no overflow on the way.
  Layout absurd{{2, 16}, {(int64_t(1) << 62) - 32, 1}};
  for (uint64_t other : {base, uint64_t(0), ~uint64_t(0)}) {
    EXPECT_FALSE(shareBytes(absurd.at(base), absurd.at(other)));
    EXPECT_FALSE(shareBytes(absurd.at(base), Footprint(other, INT64_MAX)));
  }
}

} // namespace
