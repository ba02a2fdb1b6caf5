// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowCluster.h - the ops around a norm that work row by row ---------===//

#ifndef RMSNORM_TRANSFORMS_ROWCLUSTER_H
#define RMSNORM_TRANSFORMS_ROWCLUSTER_H

#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::rmsnorm {

/// rmsnorm.forward or rmsnorm.backward.
bool isNorm(Operation *op);

/// The leading dimensions of a norm's input: all but one.
int64_t getNumRowDims(Operation *norm);

/// Whether `result` of an op sums over rows: it is the same for all of them.
/// Who works row by row has a summand of it.
bool sumsOverRows(OpResult result);

/// Whether the op that owns `init`, a destination, looks at what is in it.
bool isInitRead(OpOperand &init);

/// Ops of one block that one loop over rows can execute.
struct RowCluster {
  /// Leading dimensions that are rows.
  int64_t rowDims = 0;
  /// Their sizes, as far as the types of the members tell.
  SmallVector<int64_t> rowSizes;
  /// The ops that work on rows, among them a norm.
  llvm::SetVector<Operation *> members;
  /// Ops that know no rows and feed members: repeated in each iteration.
  llvm::SetVector<Operation *> uniforms;

  /// The largest cluster that contains `norm` and none of `taken`. Near misses
  /// get a remark, unless they are among `reported`.
  static RowCluster grow(Operation *norm,
                         const llvm::SetVector<Operation *> &taken,
                         llvm::DenseSet<Operation *> &reported);

  /// Members and uniforms in the order of the block.
  SmallVector<Operation *> getOpsInOrder() const;
  /// Ops outside that use the cluster and stand before its last member.
  SmallVector<Operation *> getFollowers() const;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_ROWCLUSTER_H
