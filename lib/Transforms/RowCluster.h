// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowCluster.h - the ops around a norm that work row by row ---------===//

#ifndef RMSNORM_TRANSFORMS_ROWCLUSTER_H
#define RMSNORM_TRANSFORMS_ROWCLUSTER_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::rmsnorm {

/// The row dimensions of the loop that `op` asks for, a norm or what is marked
/// rmsnorm.row_wise; none if it asks for none.
std::optional<int64_t> getAnchorRowDims(Operation *op);

/// Whether `op` computes something without rows, at most one value a column:
/// who works row by row repeats it in each iteration.
bool isUniform(Operation *op);

/// A dimension of `operand` of which `op` uses one element, at a constant
/// index, though it has, or may have, more.
std::optional<int64_t> findPartlyReadDim(linalg::LinalgOp op,
                                         OpOperand &operand);

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
  /// The ops that work on rows, among them an anchor.
  llvm::SetVector<Operation *> members;
  /// Ops that know no rows and feed members: repeated in each iteration.
  llvm::SetVector<Operation *> uniforms;

  /// The largest cluster that contains `anchor` and none of `taken`. Near
  /// misses get a remark, unless they are among `reported`.
  static RowCluster grow(Operation *anchor,
                         const llvm::SetVector<Operation *> &taken,
                         llvm::DenseSet<Operation *> &reported);

  /// Members and uniforms in the order of the block.
  SmallVector<Operation *> getOpsInOrder() const;
  /// Ops outside that use the cluster and stand before its last member.
  SmallVector<Operation *> getFollowers() const;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_ROWCLUSTER_H
