// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ResolveDims.cpp - rmsnorm-resolve-dims ----------------------------===//

#include "RMSNorm/IR/HardViews.h"
#include "RMSNorm/Tiling/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_RESOLVEDIMS
#include "RMSNorm/Tiling/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// The size that the view says of the dimension, if MLIR would take another.
static std::optional<OpFoldResult> getSize(memref::DimOp dim) {
  auto view = dim.getSource().getDefiningOp<memref::SubViewOp>();
  std::optional<int64_t> index = dim.getConstantIndex();
  if (!view || !index || *index < 0 || *index >= view.getType().getRank())
    return std::nullopt;
  const llvm::SmallBitVector dropped = getDroppedDims(view);
  if (dropped == view.getDroppedDims())
    return std::nullopt;
  int64_t left = *index;
  for (auto [number, size] : llvm::enumerate(view.getMixedSizes()))
    if (!dropped.test(number) && left-- == 0)
      return size;
  return std::nullopt;
}

namespace {
struct ResolveDims final : rmsnorm::impl::ResolveDimsBase<ResolveDims> {
  using ResolveDimsBase::ResolveDimsBase;

  void runOnOperation() override {
    getOperation()->walk([](memref::DimOp dim) {
      std::optional<OpFoldResult> size = getSize(dim);
      if (!size)
        return;
      OpBuilder builder(dim);
      dim.replaceAllUsesWith(
          getValueOrCreateConstantIndexOp(builder, dim.getLoc(), *size));
      dim.erase();
    });
  }
};
} // namespace
