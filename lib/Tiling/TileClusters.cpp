// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileClusters.cpp - rmsnorm-tile-clusters --------------------------===//

#include "ClusterTiler.h"

#include "RMSNorm/Tiling/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_TILECLUSTERS
#include "RMSNorm/Tiling/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
struct TileClusters final : rmsnorm::impl::TileClustersBase<TileClusters> {
  using TileClustersBase::TileClustersBase;

  void runOnOperation() override {
    auto make = [&](RewriterBase &rewriter, const access::Cluster &cluster,
                    bool onAllChips,
                    Operation *&kernel) -> std::optional<NoProgram> {
      RowsOp rows;
      if (std::optional<NoProgram> problem = buildRows(
              rewriter, cluster, /*amongOthers=*/!required, onAllChips, rows))
        return problem;
      // rmsnorm-generalize-elementwise does so where all code is ours.
      RewritePatternSet scaling(&getContext());
      arith::populateExpandScalingExtTruncPatterns(scaling);
      walkAndApplyPatterns(rows, std::move(scaling));
      kernel = rows;
      return std::nullopt;
    };
    SmallVector<ClusterRemark> found;
    if (failed(makeKernels(getOperation(), required, make, found)))
      return signalPassFailure();
    if (remarks)
      for (const ClusterRemark &remark : found)
        emitRemark(remark.where)
            << "'" << remark.name << "' op " << remark.what << remark.reason;
  }
};
} // namespace
