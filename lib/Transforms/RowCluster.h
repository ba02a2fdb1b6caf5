// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowCluster.h - the ops around a norm that work row by row ---------===//

#ifndef RMSNORM_TRANSFORMS_ROWCLUSTER_H
#define RMSNORM_TRANSFORMS_ROWCLUSTER_H

#include "RMSNorm/IR/DimTrace.h"
#include "RowOps.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::rmsnorm {

/// How clusters grow.
struct Growth {
  /// Only what kernels can hold is taken, and only what a loop may stand for
  /// among the effects of other ops.
  bool embedded = false;
  /// Whether near misses get a remark, and which have one.
  bool remarks = true;
  llvm::DenseSet<Operation *> reported;
  /// The members of other clusters.
  llvm::SetVector<Operation *> taken;
};

/// Ops of one block that one loop over rows can execute.
struct RowCluster {
  /// Leading dimensions that are rows.
  int64_t rowDims = 0;
  /// Their sizes, as far as the types of the members tell.
  SmallVector<int64_t> rowSizes;
  /// The ops that work on rows, among them an anchor.
  llvm::SetVector<Operation *> members;
  /// Ops that know no rows and feed members: repeated in each iteration.
  llvm::SetVector<Operation *> uniforms;
  /// Sizes that are the number of columns.
  SmallVector<DimSource> columns;
  /// Why there are no members, if there are none.
  StringRef refusal;

  /// The largest cluster that contains `anchor`; no members if there is none.
  static RowCluster grow(Operation *anchor, Growth &growth);

  /// Makes the columns that `op`, a member, has those of the cluster.
  void addColumns(Operation *op);
  /// Members of whose columns the others do not say that they are the
  /// cluster's.
  llvm::SetVector<Operation *> getStrangers() const;
  /// Members and uniforms in the order of the block.
  SmallVector<Operation *> getOpsInOrder() const;
  /// Ops outside that use the cluster and stand before its last member.
  SmallVector<Operation *> getFollowers() const;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_ROWCLUSTER_H
