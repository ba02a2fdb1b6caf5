// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowCluster.h - the ops around a norm that work row by row ---------===//

#ifndef RMSNORM_TRANSFORMS_ROWCLUSTER_H
#define RMSNORM_TRANSFORMS_ROWCLUSTER_H

#include "RMSNorm/IR/DimTrace.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::rmsnorm {

/// The row dimensions of the loop that `op` asks for, a norm or what is marked
/// rmsnorm.row_wise; none if it asks for none.
std::optional<int64_t> getAnchorRowDims(Operation *op);

/// Fails if `op`, which asks for a loop, can have none: a wish that cannot be
/// fulfilled is an error, not a loop that is missing.
LogicalResult checkAnchor(Operation *op);

/// Whether `op` computes something without rows, at most one value a column:
/// who works row by row repeats it in each iteration.
bool isUniform(Operation *op);

/// A dimension of `operand` of which `op` uses one element, at a constant
/// index, though it has, or may have, more.
std::optional<int64_t> findPartlyReadDim(linalg::LinalgOp op,
                                         OpOperand &operand);

/// Which of the row dimensions `operand` has, in increasing order, as its
/// leading dimensions but for ones of size 1. All: an iteration needs the row
/// that it works on. None: it needs all of the operand, a weight. Some: the row
/// of, say, the batch that its row is in.
SmallVector<int64_t> getOperandRowDims(OpOperand &operand, int64_t rowDims);

/// Whether `op` takes columns out of rows or puts them in.
bool takesPart(Operation *op);

/// Whether an operand with the row dimensions `dims` has some, but not all.
inline bool isPartial(ArrayRef<int64_t> dims, int64_t rowDims) {
  return !dims.empty() && static_cast<int64_t>(dims.size()) < rowDims;
}

/// Whether `result` of an op sums over rows: it is the same for all of them.
/// Who works row by row has a summand of it.
bool sumsOverRows(OpResult result);

/// Whether the op that owns `init`, a destination, looks at what is in it.
bool isInitRead(OpOperand &init);

/// The dimension of `operand` that its op takes for the columns, if any.
std::optional<int64_t> getColumnDim(OpOperand &operand, int64_t rowDims);

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

  /// Members and uniforms in the order of the block.
  SmallVector<Operation *> getOpsInOrder() const;
  /// Ops outside that use the cluster and stand before its last member.
  SmallVector<Operation *> getFollowers() const;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_ROWCLUSTER_H
