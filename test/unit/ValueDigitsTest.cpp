// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ValueDigitsTest.cpp - what a thread has of a value's digits -------===//

#include "ValueDigits.h"

#include "RMSNorm/IR/TileTypes.h"

#include "mlir/IR/MLIRContext.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

using namespace mlir;
using namespace mlir::rmsnorm;

using Share = ValueDigits::Share;

namespace {
using Sizes = SmallVector<int64_t>;

/// Rows of the digits `sizes`, taken apart as `getColumnDigits` says.
struct Rows {
  Rows(Sizes sizes, int64_t part, bool hasPairs, int64_t whole, int64_t threads,
       int64_t width)
      : sizes(std::move(sizes)),
        layout(getFields(threads, width),
               getColumnDigits(ShapedType::getNumElements(this->sizes), part,
                               hasPairs, whole),
               /*dynamicColumns=*/false, /*subgroupSize=*/32) {
    EXPECT_TRUE(bool(layout));
  }

  static ScheduleFields getFields(int64_t threads, int64_t width) {
    ScheduleFields fields;
    fields.threadsPerRow = threads;
    fields.vectorWidth = width;
    return fields;
  }

  ValueDigits get(ArrayRef<int64_t> own, ArrayRef<int64_t> begins = {}) {
    return {layout, sizes, getTileType(1, own, Float32Type::get(&context)),
            begins};
  }

  /// Each element of each fragment is found where it lies, in no other place.
  void check(ArrayRef<int64_t> own, Share share, size_t digit, int64_t elements,
             ArrayRef<int64_t> at = {}) {
    const ValueDigits digits = get(own);
    EXPECT_EQ(digits.getDigits()[digit].share, share);
    EXPECT_EQ(digits.getNumFragments() * digits.getWidth(), elements);
    std::set<std::vector<int64_t>> places;
    for (int64_t fragment = 0; fragment < digits.getNumFragments(); ++fragment)
      for (int64_t element = 0; element < digits.getWidth(); ++element) {
        const ColumnPlace place = digits.getPlace(fragment, element, at);
        std::vector<int64_t> key(place.registers.begin(),
                                 place.registers.end());
        key.insert(key.end(), place.elements.begin(), place.elements.end());
        EXPECT_TRUE(places.insert(key).second);
        auto found = at.empty() ? digits.find(place) : digits.find(place, at);
        ASSERT_TRUE(found);
        EXPECT_EQ(*found, std::make_pair(fragment, element));
      }
  }

  MLIRContext context;
  Sizes sizes;
  Layout layout;
};
} // namespace

TEST(ValueDigits, HalvesOfHeads) {
  // 24 heads of two halves of 64, in vectors of 8: 8 threads for each half, and
  // a thread for each head has 6 of them.
  Rows rows({24, 2, 64}, 64, false, 128, 32, 8);
  rows.check({24, 2, 64}, Share::all, 1, 6 * 2 * 8);
  // One half, of either place; a table that heads share; a scale for each head.
  rows.check({24, 1, 64}, Share::none, 1, 6 * 8);
  rows.check({24, 1, 64}, Share::none, 1, 6 * 8, {0, 1, 0});
  rows.check({1, 1, 64}, Share::none, 0, 8);
  rows.check({24, 1, 1}, Share::none, 2, 6);
  EXPECT_EQ(rows.get({24, 1, 1}).getSharingThreads(), 8);
  EXPECT_EQ(rows.get({24, 2, 64}).getSharingThreads(), 1);
}

TEST(ValueDigits, PairsAndGroups) {
  Rows rows({4, 16, 2}, 128, true, 0, 16, 8);
  rows.check({4, 16, 2}, Share::all, 0, 8);
  rows.check({4, 16, 1}, Share::none, 1, 4);
  rows.check({4, 16, 1}, Share::none, 1, 4, {0, 0, 1});
  // A value for each 32 columns is that of four threads, and one for each four
  // pairs of one.
  rows.check({4, 1, 1}, Share::groups, 0, 1);
  EXPECT_EQ(rows.get({4, 1, 1}).getSharingThreads(), 4);
}

TEST(ValueDigits, SeveralIndices) {
  // Held: a thread has those alone. In place: all have their vectors, and the
  // part is some of them.
  Rows held({8, 4}, 4, false, 0, 1, 4);
  held.check({8, 4}, Share::all, 0, 32);
  held.check({3, 4}, Share::some, 0, 12, {5, 0});
  EXPECT_FALSE(held.get({3, 4}).find(held.get({8, 4}).getPlace(4, 0),
                                     ArrayRef<int64_t>{5, 0}));
  Rows rows({2, 16, 4}, 64, false, 0, 16, 4);
  rows.check({1, 5, 4}, Share::inPlace, 1, 4);
  const ValueDigits digits = rows.get({1, 5, 4}, {0, 6, 0});
  EXPECT_TRUE(digits.hasPartsInPlace());
  EXPECT_EQ(digits.getDigits()[1].begin, 24);
  EXPECT_EQ(digits.getDigits()[1].count, 20);
  EXPECT_FALSE(rows.get({1, 16, 4}).hasPartsInPlace());
}
