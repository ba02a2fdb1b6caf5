// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmbeddedCluster.h - clusters among the work of others -------------===//

#ifndef RMSNORM_TRANSFORMS_EMBEDDEDCLUSTER_H
#define RMSNORM_TRANSFORMS_EMBEDDEDCLUSTER_H

#include "RowCluster.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::rmsnorm {

bool containsAnchor(const llvm::SetVector<Operation *> &ops);

/// Whether `op` or an op in its regions uses what `callback` knows. The size of
/// what the cluster computes is no use of it: it is that of a destination.
template <typename Callback>
bool anyOperand(Operation *op, const RowCluster &cluster, Callback callback) {
  return op
      ->walk([&](Operation *nested) {
        auto dim = dyn_cast<tensor::DimOp>(nested);
        if (dim && cluster.members.contains(dim.getSource().getDefiningOp()))
          return WalkResult::advance();
        return WalkResult(
            failure(llvm::any_of(nested->getOperands(), [&](Value operand) {
              Operation *definition = operand.getDefiningOp();
              return definition && callback(definition);
            })));
      })
      .wasInterrupted();
}

/// Why no loop can hold `op`, which works row by row, with the members that
/// `cluster` has; empty if one can.
std::string whyNotEmbedded(Operation *op, const RowCluster &cluster);

/// Whether a loop may compute what `op`, an elementwise op in front of it does,
/// anew: it can load what op reads, which nobody writes in between.
bool isRepeatable(linalg::LinalgOp op);

/// Drops members that, of the members there are, would load or store what
/// kernels cannot, and those before or behind an op whose effects keep them
/// apart. Returns whether there were any; if no anchor is left, no member is.
bool cutOnce(RowCluster &cluster);

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_EMBEDDEDCLUSTER_H
