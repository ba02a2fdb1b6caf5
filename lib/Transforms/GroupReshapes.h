// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GroupReshapes.h - columns divided into groups ----------------------===//

#ifndef RMSNORM_TRANSFORMS_GROUPRESHAPES_H
#define RMSNORM_TRANSFORMS_GROUPRESHAPES_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::rmsnorm {

/// Whether `op`, on tensors, divides the columns of rows into groups, [.., N]
/// to [.., K, N / K] of static size, or puts groups together again; of
/// `rowDims` dimensions in front, if that is given.
bool isGroupReshape(Operation *op, std::optional<int64_t> rowDims = {});

/// That side of `op`, a group reshape, which has rows, not groups.
Value getRowsOfGroups(Operation *op);

/// Whether the rows of `argument` are taken for columns in groups, or the
/// other way round, which only packed ones can be.
bool isReshaped(BlockArgument argument);

/// Of `rank` dimensions, the last two together.
SmallVector<ReassociationIndices> getGroupedDims(int64_t rank);

/// `value` with its last two dimensions as one.
Value collapseGroups(OpBuilder &builder, Value value);

/// `tensor`, a slice in `loop` of one from outside or one from there, with
/// groups and their columns as one dimension; null if it is neither.
Value collapseOutside(OpBuilder &builder, Operation *loop, Value tensor);

/// `value` with its last dimension divided as in `type`, into static sizes.
Value expandGroups(OpBuilder &builder, Value value, RankedTensorType type);

/// The row of `tensor` at `indices`, one index a leading dimension.
Value extractRow(OpBuilder &builder, Value tensor,
                 ArrayRef<OpFoldResult> indices);

/// `row` reshaped as `op`, a group reshape, does with all rows.
Value reshapeRow(OpBuilder &builder, Operation *op, Value row);

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_GROUPRESHAPES_H
