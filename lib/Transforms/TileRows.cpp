// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileRows.cpp - rmsnorm-tile-rows ----------------------------------===//

#include "Gathers.h"
#include "RowTiler.h"
#include "SharedOperands.h"
#include "UnitColumns.h"

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Transforms/Elementwise.h"
#include "RMSNorm/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_TILEROWS
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// Forgets ops that are gone.
struct Forgetter final : RewriterBase::Listener {
  void notifyOperationErased(Operation *op) override { ops.remove(op); }
  llvm::SetVector<Operation *> ops;
};

struct TileRows final : rmsnorm::impl::TileRowsBase<TileRows> {
  using TileRowsBase::TileRowsBase;

  void runOnOperation() override {
    Forgetter elementwise;
    IRRewriter rewriter(&getContext(), &elementwise);
    Growth growth;
    growth.embedded = embedded;
    growth.remarks = remarks;
    if (embedded) {
      elementwise.ops = generalizeElementwise(getOperation());
    } else {
      dropUnitColumns(getOperation());
      gatherSlices(rewriter, getOperation());
      SmallVector<tensor::DimOp> dims;
      getOperation()->walk([&](tensor::DimOp op) { dims.push_back(op); });
      redirectDims(dims);
    }
    // Clusters grow before any is tiled: a remark should not depend on that.
    SmallVector<RowCluster> clusters;
    SmallVector<Operation *> anchors;
    getOperation()->walk([&](Operation *op) {
      bool isTiled = op->getParentOp() &&
                     op->getParentOp()->hasAttr(RMSNormDialect::kRowsAttrName);
      if (!isTiled && getAnchorRowDims(op))
        anchors.push_back(op);
    });
    for (size_t i = 0; i < anchors.size(); ++i) {
      Operation *op = anchors[i];
      if (growth.taken.contains(op))
        continue;
      if (!embedded && failed(checkAnchor(op, *getAnchorRowDims(op))))
        return signalPassFailure();
      clusters.push_back(RowCluster::grow(op, growth));
      const llvm::SetVector<Operation *> &members = clusters.back().members;
      growth.taken.insert_range(members);
      // In another part of what was split.
      if (!members.empty() && !members.contains(op))
        anchors.push_back(op);
    }
    for (RowCluster &cluster : clusters) {
      if (cluster.members.empty())
        continue;
      prepareSharedOperands(rewriter, cluster, embedded);
      SmallVector<tensor::DimOp> dims;
      for (Operation *op : cluster.members)
        for (Operation *user : op->getUsers())
          if (auto dim = dyn_cast<tensor::DimOp>(user))
            dims.push_back(dim);
      redirectDims(dims);
      FailureOr<scf::ForallOp> loop =
          RowTiler(rewriter, cluster, embedded).run();
      if (failed(loop))
        return signalPassFailure();
      // rmsnorm-generalize-elementwise does so where all code is ours.
      RewritePatternSet scaling(&getContext());
      arith::populateExpandScalingExtTruncPatterns(scaling);
      walkAndApplyPatterns(*loop, std::move(scaling));
      DominanceInfo dominance(*loop);
      eliminateCommonSubExpressions(rewriter, dominance, *loop);
    }
    // What no loop took stays as it was.
    for (Operation *op : elementwise.ops.takeVector())
      restoreElementwise(rewriter, cast<linalg::GenericOp>(op));
  }
};
} // namespace
