// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Recomputation.h - members that others compute again ---------------===//

#ifndef RMSNORM_LIB_ACCESS_RECOMPUTATION_H
#define RMSNORM_LIB_ACCESS_RECOMPUTATION_H

#include "RMSNorm/Access/Cluster.h"

namespace mlir::rmsnorm::access {

/// Which results of a cluster's members ops outside compute again, rather than
/// read. A member is computed again if
/// - its body is arithmetic, which has the same bits everywhere, and nothing is
///   reduced;
/// - only elementwise ops, reductions and norms use it outside: a compiler
///   computes it where they use it. A product of matrices needs a tensor;
/// - that moves fewer bytes: reading its operands, for each op that uses it,
///   instead of one store and the loads. Where an operand is a member's, that
///   is stored for others, or has one value a row, or is computed again, too.
///   What has one value a row or a column of several counts nothing. Where all
///   work is ours (not `amongOthers`), what counts is that nobody has a tensor
///   for it.
struct Recomputation {
  Recomputation(const Cluster &cluster, bool amongOthers);

  /// Stays beside the kernel, which may compute it, too.
  DenseSet<Operation *> members;
  /// Those that the kernel does not need.
  SmallVector<Operation *> unneeded;
};

} // namespace mlir::rmsnorm::access

#endif // RMSNORM_LIB_ACCESS_RECOMPUTATION_H
