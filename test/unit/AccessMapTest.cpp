// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AccessMapTest.cpp - what is read off the map of an access ----------===//
//
// Each answer is compared with what visiting all elements finds.
//
//===----------------------------------------------------------------------===//

#include "RMSNorm/IR/AccessMap.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

#include <random>
#include <set>

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
class AccessMapTest : public testing::Test {
protected:
  AffineMap parse(StringRef text) {
    auto map = dyn_cast_or_null<AffineMapAttr>(
        parseAttribute(("affine_map<" + text + ">").str(), &context));
    EXPECT_TRUE(map) << text.str();
    return map ? map.getValue() : AffineMap();
  }

  MLIRContext context;
};

using Place = std::vector<int64_t>;

/// Where `map` leads `point`.
Place visit(AffineMap map, ArrayRef<int64_t> point) {
  SmallVector<Attribute> constants, results;
  Builder builder(map.getContext());
  for (int64_t value : point)
    constants.push_back(builder.getIndexAttr(value));
  EXPECT_TRUE(succeeded(map.constantFold(constants, results)));
  Place place;
  for (Attribute result : results)
    place.push_back(cast<IntegerAttr>(result).getInt());
  return place;
}

/// Calls `function` for all points below `sizes`.
void forAll(ArrayRef<int64_t> sizes,
            function_ref<void(ArrayRef<int64_t>)> function) {
  SmallVector<int64_t> point(sizes.size(), 0);
  int64_t count = 1;
  for (int64_t size : sizes)
    count *= size;
  for (int64_t number = 0; number < count; ++number) {
    int64_t rest = number;
    for (int64_t dim = sizes.size() - 1; dim >= 0; --dim) {
      point[dim] = rest % sizes[dim];
      rest /= sizes[dim];
    }
    function(point);
  }
}
} // namespace

TEST_F(AccessMapTest, ReadsSumsOfDigits) {
  const AccessMap map(
      parse("(a, b, c)[i] -> (i, 3, 2 * ((b floordiv 4) mod 8) + a + 1, "
            "(b mod 32) floordiv 8, c)"),
      /*hasColumn=*/true);
  ASSERT_TRUE(map.isValid());
  EXPECT_EQ(map.getNumRowDims(), 2u);
  ArrayRef<AccessIndex> indices = map.getIndices();
  EXPECT_EQ(map.getOperandPlace(0), 0);
  EXPECT_EQ(indices[1].offset, 3);
  EXPECT_TRUE(indices[1].terms.empty());
  ASSERT_EQ(indices[2].terms.size(), 2u);
  EXPECT_EQ(indices[2].offset, 1);
  EXPECT_FALSE(indices[2].getTerm());
  // A digit of a digit is a digit.
  const AccessTerm *digit = indices[3].getTerm();
  ASSERT_TRUE(digit);
  EXPECT_EQ(digit->dim, 1u);
  EXPECT_EQ(digit->divisor, 8);
  EXPECT_EQ(digit->modulus, 4);
  EXPECT_TRUE(map.hasColumnLast());
  EXPECT_TRUE(map.hasAllRows());
  EXPECT_EQ(map.getPlacesWithoutRow(), (SmallVector<int64_t>{1, 4}));
}

TEST_F(AccessMapTest, RefusesWhatIsNoSumOfDigits) {
  for (StringRef text :
       {"(r, c) -> ((r mod 12) mod 5, c)", "(r, c) -> ((r + 1) mod 4, c)",
        "(r, c) -> ((r mod 12) floordiv 5, c)", "(r, c) -> (r ceildiv 4, c)",
        "(r, c)[i] -> (r mod i, c)", "(r, c) -> ((r * 2) floordiv 4, c)"})
    EXPECT_FALSE(AccessMap(parse(text), true).isValid()) << text.str();
}

TEST_F(AccessMapTest, TellsColumns) {
  const AccessMap repeated(parse("(r, c) -> (r, c mod 16)"), true);
  EXPECT_FALSE(repeated.hasColumnLast());
  const AccessMap twice(parse("(r, c) -> (c, c)"), true);
  EXPECT_FALSE(twice.hasColumnLast());
  EXPECT_FALSE(AccessMap(parse("(r, c) -> (r, c + 1)"), true).hasColumnLast());
  // Columns that lie side by side.
  auto getRun = [&](StringRef text, ArrayRef<int64_t> shape = {}) {
    return AccessMap(parse(text), true).getColumnRun(256, shape);
  };
  EXPECT_EQ(getRun("(r, c) -> (r, c)"), 256);
  EXPECT_EQ(getRun("(r, c) -> (r, c floordiv 64, c mod 64)"), 64);
  EXPECT_EQ(getRun("(r, c) -> (r, c mod 4, c floordiv 4)"), 0);
  EXPECT_EQ(getRun("(r, c) -> (r, c * 2)"), 0);
  EXPECT_EQ(getRun("(r, c) -> (r, c, 0)"), 0);
  EXPECT_EQ(getRun("(r, c) -> (r, c, 0)", {4, 256, 1}), 256);
}

TEST_F(AccessMapTest, PrintsWhatIsParsed) {
  for (StringRef text :
       {"(r0, r1, c) -> (r0, c)", "(r, c)[i] -> (i, c)",
        "(r, c) -> (r floordiv 128, c floordiv 4, r mod 32, (r floordiv 32) "
        "mod 4, c mod 4)",
        "(r0, r1, c) -> ((r1 * 2) + r0, 7, c)"}) {
    const std::string printed = AccessMap(parse(text), true).getText();
    EXPECT_EQ(parse(printed), parse(text)) << printed;
  }
}

/// Maps whose digits are given out to dimensions at random: some use a digit
/// twice, or leave one out.
TEST_F(AccessMapTest, SaysInjectiveOnlyOfWhatIs) {
  std::mt19937 random(7);
  auto below = [&](int64_t end) { return int64_t(random() % end); };
  int64_t injective = 0, others = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    AffineExpr row = getAffineDimExpr(0, &context);
    // Digits from the innermost on.
    SmallVector<AffineExpr> digits;
    int64_t size = 1;
    const int64_t count = 1 + below(3);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t digit = 1 + below(4);
      AffineExpr rest = row.floorDiv(size);
      digits.push_back(i + 1 == count ? rest : rest % digit);
      size *= digit;
    }
    std::shuffle(digits.begin(), digits.end(), random);
    if (below(3) == 0)
      digits[below(digits.size())] = digits[below(digits.size())];
    if (below(4) == 0 && digits.size() > 1)
      digits.pop_back();
    if (below(3) == 0 && !digits.empty())
      digits[0] = digits[0] * (1 + below(3)) + below(2);
    if (below(2) == 0 && digits.size() > 1) {
      AffineExpr last = digits.pop_back_val();
      digits[0] = digits[0] * (1 + below(6)) + last;
    }
    const AffineMap map = AffineMap::get(1, 0, digits, &context);
    std::set<Place> places;
    forAll({size},
           [&](ArrayRef<int64_t> point) { places.insert(visit(map, point)); });
    const bool isInjective = static_cast<int64_t>(places.size()) == size;
    if (AccessMap(map, /*hasColumn=*/false).isInjective(0, {size})) {
      EXPECT_TRUE(isInjective)
          << AccessMap(map, false).getText() << " of " << size;
      ++injective;
    } else {
      others += !isInjective;
    }
  }
  EXPECT_GT(injective, 500);
  EXPECT_GT(others, 300);
}
