// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileClusters.cpp - rmsnorm-tile-clusters --------------------------===//

#include "ClusterProgram.h"
#include "RowOps.h"
#include "RowSizes.h"

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Transforms/Passes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_TILECLUSTERS
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// Forgets ops that are gone.
struct Forgetter final : RewriterBase::Listener {
  void notifyOperationErased(Operation *op) override {
    anchors.remove(op);
    left.erase(op);
  }
  llvm::SetVector<Operation *> anchors;
  /// What stays next to a cluster, and why.
  llvm::MapVector<Operation *, std::string> left;
};

struct TileClusters final : rmsnorm::impl::TileClustersBase<TileClusters> {
  using TileClustersBase::TileClustersBase;

  void runOnOperation() override {
    Forgetter ops;
    IRRewriter rewriter(&getContext(), &ops);
    SmallVector<tensor::DimOp> dims;
    getOperation()->walk([&](Operation *op) {
      if (auto dim = dyn_cast<tensor::DimOp>(op))
        dims.push_back(dim);
      else if (getAnchorRowDims(op))
        ops.anchors.insert(op);
    });
    redirectDims(dims);
    while (!ops.anchors.empty()) {
      Operation *anchor = ops.anchors.front();
      ops.anchors.remove(anchor);
      if (failed(tile(rewriter, anchor, ops)))
        return signalPassFailure();
    }
    for (const auto &[op, reason] : ops.left)
      op->emitRemark("not tiled with the norm next to it: it ") << reason;
  }

private:
  /// Makes a kernel of the largest cluster around `anchor` that has one.
  static LogicalResult tile(RewriterBase &rewriter, Operation *anchor,
                            Forgetter &ops) {
    auto fail = [&](const Twine &reason) {
      return anchor->emitOpError("is in no kernel: it ") << reason;
    };
    auto destinations = dyn_cast<DestinationStyleOpInterface>(anchor);
    if (destinations && !destinations.hasPureTensorSemantics())
      return fail("is not on tensors");
    DenseSet<Operation *> excluded;
    while (true) {
      std::optional<access::Cluster> cluster =
          access::Cluster::grow(anchor, /*others=*/{}, excluded);
      if (!cluster)
        return fail("does not work row by row");
      for (const auto &[op, reason] : cluster->getRefusals())
        ops.left.try_emplace(op, reason);
      std::optional<NoProgram> problem = buildRows(rewriter, *cluster);
      if (!problem)
        return success();
      if (problem->op == anchor)
        return fail(problem->reason);
      ops.left.try_emplace(problem->op, problem->reason);
      excluded.insert(problem->op);
    }
  }
};
} // namespace
