// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BackwardTilingTest.cpp - TilingInterface of rmsnorm.backward ------===//
//
// No pass tiles the backward yet; who does relies on what is checked here.
//
//===----------------------------------------------------------------------===//

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/InitAll.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::rmsnorm;

static const char *const kModule = R"(
func.func @f(%dy: tensor<?x3x8xbf16>, %x: tensor<?x3x8xbf16>,
    %w: tensor<8xbf16>, %r: tensor<?x3xf32>, %dx: tensor<?x3x8xbf16>,
    %dw: tensor<8xbf16>) {
  %0:2 = rmsnorm.backward dy(%dy : tensor<?x3x8xbf16>)
      input(%x : tensor<?x3x8xbf16>) weight(%w : tensor<8xbf16>)
      rstd(%r : tensor<?x3xf32>) dx(%dx : tensor<?x3x8xbf16>)
      dweight(%dw : tensor<8xbf16>) eps = 1.0
      -> tensor<?x3x8xbf16>, tensor<8xbf16>
  %1 = rmsnorm.backward dy(%dy : tensor<?x3x8xbf16>)
      input(%x : tensor<?x3x8xbf16>) dx(%dx : tensor<?x3x8xbf16>) eps = 1.0
      -> tensor<?x3x8xbf16>
  return
}
)";

class BackwardTiling : public ::testing::Test {
protected:
  void SetUp() override {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    module = parseSourceString<ModuleOp>(kModule, &context);
    ASSERT_TRUE(module);
    module->walk([&](BackwardOp op) { norms.push_back(op); });
    ASSERT_EQ(norms.size(), 2u);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  SmallVector<BackwardOp> norms;
};

TEST_F(BackwardTiling, OperandsAreIndexedByRowsAndColumns) {
  AffineExpr r0, r1, c;
  bindDims(&context, r0, r1, c);
  const AffineMap all = AffineMap::get(3, 0, {r0, r1, c}, &context);
  const AffineMap row = AffineMap::get(3, 0, {r0, r1}, &context);
  const AffineMap column = AffineMap::get(3, 0, c);
  EXPECT_EQ(norms[0].getIndexingMapsArray(),
            SmallVector<AffineMap>({all, all, column, row, all, column}));
  EXPECT_EQ(norms[1].getIndexingMapsArray(),
            SmallVector<AffineMap>({all, all, all}));
  EXPECT_EQ(norms[0].getStaticLoopRanges(),
            SmallVector<int64_t>({ShapedType::kDynamic, 3, 8}));
}

TEST_F(BackwardTiling, RowsAreReductionsOnlyWithWeightGradient) {
  using utils::IteratorType;
  EXPECT_EQ(norms[0].getLoopIteratorTypes(),
            SmallVector<IteratorType>(2, IteratorType::reduction));
  EXPECT_EQ(norms[1].getLoopIteratorTypes(),
            SmallVector<IteratorType>(2, IteratorType::parallel));
  OpBuilder builder(norms[0]);
  EXPECT_EQ(norms[0].getIterationDomain(builder).size(), 2u);
}

TEST_F(BackwardTiling, TileSumsItsRowsIntoANewTensor) {
  BackwardOp op = norms[0];
  OpBuilder builder(op);
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  FailureOr<TilingResult> tiled =
      op.getTiledImplementation(builder, {zero, one}, {one, one});
  ASSERT_TRUE(succeeded(tiled));
  EXPECT_TRUE(succeeded(verify(*module)));
  auto tile = cast<BackwardOp>(tiled->tiledOps.front());
  auto bf16 = builder.getBF16Type();
  auto f32 = builder.getF32Type();
  EXPECT_EQ(tile.getInput().getType(), RankedTensorType::get({1, 1, 8}, bf16));
  EXPECT_EQ(tile.getRstd().getType(), RankedTensorType::get({1, 1}, f32));
  EXPECT_EQ(tile.getWeight(), op.getWeight());
  // In f32 whatever dweight's type, and not over dweight itself.
  EXPECT_EQ(tile.getDweight().getType(), RankedTensorType::get({8}, f32));
  EXPECT_TRUE(tile.getDweight().getDefiningOp<tensor::EmptyOp>());
  // dy, input, rstd, dx.
  EXPECT_EQ(tiled->generatedSlices.size(), 4u);
}

TEST_F(BackwardTiling, OnlyDxHasAPosition) {
  BackwardOp op = norms[0];
  OpBuilder builder(op);
  OpFoldResult zero = builder.getIndexAttr(0), one = builder.getIndexAttr(1);
  SmallVector<OpFoldResult> offsets, sizes;
  EXPECT_TRUE(failed(op.getResultTilePosition(builder, 1, {zero, zero},
                                              {one, one}, offsets, sizes)));
  ASSERT_TRUE(succeeded(op.getResultTilePosition(builder, 0, {zero, one},
                                                 {one, one}, offsets, sizes)));
  EXPECT_EQ(offsets, (SmallVector<OpFoldResult>{zero, one, zero}));
  EXPECT_EQ(sizes,
            (SmallVector<OpFoldResult>{one, one, builder.getIndexAttr(8)}));
  EXPECT_TRUE(failed(op.generateResultTileValue(builder, 1, {zero}, {one})));
  EXPECT_TRUE(succeeded(op.generateResultTileValue(
      builder, 0, {zero, zero, zero}, {one, one, builder.getIndexAttr(8)})));
}
