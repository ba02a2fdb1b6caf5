// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AccessTest.cpp - digits, sizes and layouts through views ----------===//

#include "RMSNorm/Access/Views.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/InitAll.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;

namespace {
/// The index in a dimension, as an affine map of the digits `variables`.
std::string print(const Digits &digits, const Layout &layout,
                  ArrayRef<unsigned> variables) {
  MLIRContext context;
  SmallVector<unsigned> symbols;
  SmallVector<AffineExpr> exprs;
  for (const Sum &sum : layout)
    exprs.push_back(digits.getExpr(&context, sum, variables, 0, symbols));
  std::string text;
  llvm::raw_string_ostream(text)
      << AffineMap::get(variables.size(), symbols.size(), exprs, &context);
  return text;
}

TEST(Size, DividesOnlyEvenly) {
  const Size n = Size::ofSource(0), m = Size::ofSource(1);
  EXPECT_EQ(*(n * Size(12)).dividedBy(Size(4)), n * Size(3));
  EXPECT_EQ(*(n * m * n).dividedBy(n), n * m);
  EXPECT_FALSE((n * Size(12)).dividedBy(Size(5)));
  EXPECT_FALSE((n * Size(12)).dividedBy(m));
  EXPECT_FALSE(Size(4).dividedBy(n));
}

TEST(Size, OverflowAndNoElementsAreNotUsable) {
  const Size large(int64_t(1) << 40);
  EXPECT_FALSE((large * large).isUsable());
  EXPECT_FALSE((large * large).dividedBy(Size(2)));
  EXPECT_FALSE(Size(4).dividedBy(Size(0)));
}

TEST(Sizes, WritesSizesInTermsOfOthers) {
  Sizes sizes;
  const Size n = sizes.addUnknown(), b = sizes.addUnknown(),
             t = sizes.addUnknown(), m = sizes.addUnknown();
  sizes.equate(n, b * t);
  sizes.equate(t, Size(4) * m);
  EXPECT_EQ(sizes.simplify(n), b * m * Size(4));
  // In other words what is known already.
  sizes.equate(n, Size(4) * m * b);
  EXPECT_EQ(sizes.simplify(n), b * m * Size(4));
  // 6 * b = 4 * m says nothing of one of them.
  sizes.equate(Size(6) * b, Size(4) * m);
  EXPECT_EQ(sizes.simplify(b), b);
  sizes.equate(m, Size(8));
  EXPECT_EQ(sizes.simplify(t), Size(32));
}

TEST(Digits, JoinAndSplitAreInverse) {
  Digits digits{Sizes()};
  const unsigned t = digits.add(Size(6), true), h = digits.add(Size(8), true),
                 c = digits.add(Size(64), false);
  const Layout layout = {digits.getSum(t), digits.getSum(h), digits.getSum(c)};
  const SmallVector<Size> dims = {6, 8, 64};
  std::optional<Sum> joined = digits.join(layout, dims);
  ASSERT_TRUE(joined);
  EXPECT_EQ(print(digits, {*joined}, {t, h, c}),
            "(d0, d1, d2) -> (d0 * 512 + d1 * 64 + d2)");
  EXPECT_EQ(*digits.split(*joined, dims), layout);
  // In other dimensions: heads are divided, and are one digit again when they
  // are put together.
  std::optional<Layout> split =
      digits.split(*joined, {Size(12), Size(4), Size(2), Size(32)});
  ASSERT_TRUE(split);
  EXPECT_EQ(print(digits, *split, {t, h, c}),
            "(d0, d1, d2) -> (d0 * 2 + d1 floordiv 4, d1 mod 4, d2 floordiv "
            "32, d2 mod 32)");
  joined = digits.join(*split, {Size(12), Size(4), Size(2), Size(32)});
  EXPECT_EQ(digits.resolve(*digits.split(*joined, dims)),
            digits.resolve(layout));
}

TEST(Digits, SplitsOffsets) {
  Digits digits{Sizes()};
  const unsigned c = digits.add(Size(32), false);
  Sum sum = *Digits::scale(digits.getSum(c), 64, 1);
  std::optional<Layout> split = digits.split(sum, {Size(4), Size(64)});
  ASSERT_TRUE(split);
  EXPECT_EQ(print(digits, *split, {c}), "(d0) -> (1, d0)");
  // 48 + c crosses from one row of 64 to the next.
  sum.offset = 48;
  EXPECT_FALSE(digits.split(sum, {Size(4), Size(64)}));
}

TEST(Digits, SplitsStrides) {
  Digits digits{Sizes()};
  const unsigned c = digits.add(Size(64), false);
  const Sum odd = *Digits::scale(digits.getSum(c), 1, 2);
  EXPECT_EQ(print(digits, *digits.split(odd, {Size(64), Size(2)}), {c}),
            "(d0) -> (d0, 1)");
  // Every third of 64 * 3 in rows of 64: no digit tells the row.
  const Sum third = *Digits::scale(digits.getSum(c), 0, 3);
  EXPECT_FALSE(digits.split(third, {Size(3), Size(64)}));
}

TEST(Digits, DynamicSizes) {
  Sizes sizes;
  const Size b = sizes.addUnknown(), t = sizes.addUnknown();
  Digits digits(std::move(sizes));
  const unsigned first = digits.add(b, true), second = digits.add(t, true);
  const Layout layout = {digits.getSum(first), digits.getSum(second)};
  std::optional<Sum> joined = digits.join(layout, {b, t});
  ASSERT_TRUE(joined);
  EXPECT_EQ(print(digits, {*joined}, {first, second}),
            "(d0, d1)[s0] -> (d0 * s0 + d1)");
  EXPECT_TRUE(digits.counts(*joined, b * t));
  EXPECT_FALSE(digits.counts(*joined, b));
  EXPECT_EQ(*digits.split(*joined, {b, t}), layout);
  // t as [?, 4]: the division may leave a rest, which changes no address.
  std::optional<Layout> split =
      digits.split(digits.getSum(second), {b, Size(4)});
  ASSERT_TRUE(split);
  EXPECT_EQ(print(digits, *split, {first, second}),
            "(d0, d1) -> (d1 floordiv 4, d1 mod 4)");
  EXPECT_FALSE(digits.counts((*split)[0], t));
  EXPECT_TRUE(digits.counts(digits.getSum(second), t));
  // An offset, of which the size of a digit is not a known part.
  joined->offset = 3;
  EXPECT_FALSE(digits.split(*joined, {b, t}));
}

TEST(Digits, CountsEachValueOnce) {
  Digits digits{Sizes()};
  const unsigned a = digits.add(Size(4), true), b = digits.add(Size(8), false);
  Sum sum =
      *digits.join({digits.getSum(b), digits.getSum(a)}, {Size(8), Size(4)});
  EXPECT_TRUE(digits.counts(sum, Size(32)));
  EXPECT_FALSE(digits.counts(sum, Size(64)));
  EXPECT_FALSE(digits.counts(*Digits::scale(sum, 1, 1), Size(32)));
  EXPECT_FALSE(digits.counts(*Digits::scale(sum, 0, 2), Size(64)));
}

TEST(Digits, RowsAreTheSameWhateverColumnsAre) {
  Digits digits{Sizes()};
  const unsigned row = digits.add(Size(4), true),
                 c = digits.add(Size(64), false);
  const Sum whole = *digits.join({digits.getSum(row), digits.getSum(c)},
                                 {Size(4), Size(128)});
  EXPECT_TRUE(digits.haveSameRows(whole, *Digits::scale(whole, 64, 1)));
  // The last of these columns are in the next row.
  EXPECT_FALSE(digits.haveSameRows(whole, *Digits::scale(whole, 65, 1)));
  EXPECT_FALSE(digits.haveSameRows(whole, digits.getSum(c)));
}

TEST(Digits, GathersAreNotDivided) {
  Digits digits{Sizes()};
  Sum sum;
  sum.operand = 0;
  EXPECT_FALSE(digits.split(sum, {Size(4), Size(4)}));
  EXPECT_FALSE(Digits::scale(sum, 0, 2));
  EXPECT_TRUE(Digits::scale(sum, 3, 1));
}

/// Views in a function; elements of `%x` are followed.
const char *const kViews = R"(
func.func @f(%x: tensor<?x6x128xf32>, %y: tensor<?x8x128xf32>, %i: index) {
  %c0 = arith.constant 0 : index
  %n = tensor.dim %x, %c0 : tensor<?x6x128xf32>
  %0 = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x6x128xf32> into tensor<?x128xf32>
  %1 = tensor.expand_shape %x [[0], [1], [2, 3]] output_shape [%n, 6, 4, 32] : tensor<?x6x128xf32> into tensor<?x6x4x32xf32>
  %2 = tensor.extract_slice %x[0, 0, 64] [%n, 6, 64] [1, 1, 1] : tensor<?x6x128xf32> to tensor<?x6x64xf32>
  %3 = tensor.extract_slice %x[0, 5, 0] [%n, 1, 128] [1, 1, 1] : tensor<?x6x128xf32> to tensor<?x128xf32>
  %4 = tensor.extract_slice %x[0, 0, %i] [%n, 6, 64] [1, 1, 1] : tensor<?x6x128xf32> to tensor<?x6x64xf32>
  %5 = tensor.insert_slice %x into %y[0, 2, 0] [%n, 6, 128] [1, 1, 1] : tensor<?x6x128xf32> into tensor<?x8x128xf32>
  return
}
)";

class Views : public ::testing::Test {
protected:
  void SetUp() override {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    module = parseSourceString<ModuleOp>(kViews, &context);
    ASSERT_TRUE(module);
    auto function = *module->getOps<func::FuncOp>().begin();
    Block &block = function.getBody().front();
    for (Operation &op : block)
      if (isView(&op) || isa<tensor::InsertSliceOp>(op))
        views.push_back(&op);
    ASSERT_EQ(views.size(), 6u);
    Value x = block.getArgument(0);
    Sizes sizes(block);
    const Size n = sizes.get(x, 0);
    digits.emplace(std::move(sizes));
    const SmallVector<Size> dims = {n, Size(6), Size(128)};
    for (auto [number, size] : llvm::enumerate(dims))
      variables.push_back(digits->add(size, /*isRow=*/number < 2));
    for (unsigned digit : variables)
      layout.push_back(digits->getSum(digit));
  }
  std::string text(const Layout &layout) {
    return print(*digits, layout, variables);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  SmallVector<Operation *> views;
  std::optional<Digits> digits;
  SmallVector<unsigned> variables;
  Layout layout;
};

TEST_F(Views, ReadingIsTheInverseOfWriting) {
  for (unsigned number : {0, 1}) {
    std::optional<Layout> there = writeThrough(*digits, views[number], layout);
    ASSERT_TRUE(there);
    std::optional<Layout> back = readThrough(*digits, views[number], *there);
    ASSERT_TRUE(back);
    EXPECT_EQ(text(*back), text(layout));
    EXPECT_EQ(*getViewLayout(*digits, views[number], layout), *there);
  }
  EXPECT_EQ(text(*writeThrough(*digits, views[0], layout)),
            "(d0, d1, d2) -> (d0 * 6 + d1, d2)");
  EXPECT_EQ(text(*writeThrough(*digits, views[1], layout)),
            "(d0, d1, d2) -> (d0, d1, d2 floordiv 32, d2 mod 32)");
}

TEST_F(Views, SlicesOfColumnsAreDigitsOfTheirOwn) {
  EXPECT_FALSE(writeThrough(*digits, views[2], layout));
  std::optional<Layout> slice = getViewLayout(*digits, views[2], layout);
  ASSERT_TRUE(slice);
  variables[2] = digits->size() - 1;
  EXPECT_EQ(text(*slice), "(d0, d1, d2) -> (d0, d1, d2)");
  EXPECT_EQ(text(*readThrough(*digits, views[2], *slice)),
            "(d0, d1, d2) -> (d0, d1, d2 + 64)");
}

TEST_F(Views, SlicesOfRowsStop) {
  EXPECT_FALSE(getViewLayout(*digits, views[3], layout));
  EXPECT_EQ(text(*readThrough(*digits, views[3], {layout[0], layout[2]})),
            "(d0, d1, d2) -> (d0, 5, d2)");
}

TEST_F(Views, OffsetsThatAreComputedStop) {
  EXPECT_FALSE(readThrough(*digits, views[4], layout));
  EXPECT_FALSE(writeThrough(*digits, views[4], layout));
}

TEST_F(Views, InsertionsMoveRows) {
  auto insertion = cast<tensor::InsertSliceOp>(views[5]);
  std::optional<Layout> whole = writeThrough(insertion, layout);
  ASSERT_TRUE(whole);
  EXPECT_EQ(text(*whole), "(d0, d1, d2) -> (d0, d1 + 2, d2)");
  EXPECT_FALSE(isOutside(*digits, insertion, *whole));
  // The first two of the eight are not of the slice.
  Layout first = layout;
  first[1] = Sum();
  EXPECT_TRUE(isOutside(*digits, insertion, first));
  EXPECT_FALSE(getViewLayout(*digits, insertion, layout));
}
} // namespace
