// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ClusterTiler.h - finds the clusters that become kernels ------------===//

#ifndef RMSNORM_LIB_TILING_CLUSTERTILER_H
#define RMSNORM_LIB_TILING_CLUSTERTILER_H

#include "ClusterProgram.h"

namespace mlir::rmsnorm {

/// What is said of an op of the user's: of where it stands and what it is
/// called, what happened, to follow "op ", and why, to follow "it ".
struct ClusterRemark {
  Location where;
  std::string name;
  StringRef what;
  std::string reason;
};

/// Makes a kernel of `cluster` and returns it, the op that takes its place, or
/// says why there is none. `onAllChips`: what some chips cannot hold is none.
using MakeKernel = llvm::function_ref<std::optional<NoProgram>(
    RewriterBase &rewriter, const access::Cluster &cluster, bool onAllChips,
    Operation *&kernel)>;

/// Makes kernels of the clusters in `root`, of each the largest one that has a
/// kernel. `required`: all row-wise work has to be in kernels, or is an error;
/// else what stays is in `remarks`.
LogicalResult makeKernels(Operation *root, bool required, MakeKernel make,
                          SmallVectorImpl<ClusterRemark> &remarks);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TILING_CLUSTERTILER_H
