// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowOps.h - what an op is to a loop over rows ---------------------===//

#ifndef RMSNORM_TRANSFORMS_ROWOPS_H
#define RMSNORM_TRANSFORMS_ROWOPS_H

#include "GroupReshapes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::rmsnorm {

/// The row dimensions of the loop that `op` asks for, a norm or what is marked
/// rmsnorm.row_wise; none if it asks for none.
std::optional<int64_t> getAnchorRowDims(Operation *op);

/// An error if `op`, which asks for a loop over rows, cannot have it: a wish
/// that cannot be fulfilled is no loop that is missing.
LogicalResult checkAnchor(Operation *op, int64_t rowDims);

/// Whether `op` computes something without rows, at most one value a column:
/// who works row by row repeats it in each iteration.
bool isUniform(Operation *op);

/// A dimension of `operand` of which `op` uses one element, at a constant
/// index, though it has, or may have, more.
std::optional<int64_t> findPartlyReadDim(linalg::LinalgOp op,
                                         OpOperand &operand);

/// Which of the row dimensions `operand` has, in its order, as its leading
/// dimensions but for ones of size 1. All: an iteration needs the row
/// that it works on. None: it needs all of the operand, a weight. Some: the row
/// of, say, the batch that its row is in.
SmallVector<int64_t> getOperandRowDims(OpOperand &operand, int64_t rowDims);

/// Whether a cluster may take `op` if it works row by row.
bool isCandidate(Operation *op);

/// Whether `op` takes columns out of rows or puts them in.
bool takesPart(Operation *op);

/// The row dimensions that `op`, which sums over rows, does not sum over: their
/// indices make a segment of the rows.
SmallVector<int64_t> getSegmentDims(linalg::LinalgOp op, int64_t rowDims);

/// Whether an operand with the row dimensions `dims` has some, but not all.
inline bool isPartial(ArrayRef<int64_t> dims, int64_t rowDims) {
  return !dims.empty() && static_cast<int64_t>(dims.size()) < rowDims;
}

/// Whether `result` of an op sums over rows, or over those of a segment: it is
/// the same for all of them. Who works row by row has a summand of it.
bool sumsOverRows(OpResult result, int64_t rowDims);

/// Whether the op that owns `init`, a destination, looks at what is in it.
bool isInitRead(OpOperand &init);

/// The dimension of `operand` that its op takes for the columns, if any.
std::optional<int64_t> getColumnDim(OpOperand &operand, int64_t rowDims);

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_ROWOPS_H
