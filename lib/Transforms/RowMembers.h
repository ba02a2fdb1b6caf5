// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowMembers.h - whether one op works on the rows of a cluster -------===//

#ifndef RMSNORM_TRANSFORMS_ROWMEMBERS_H
#define RMSNORM_TRANSFORMS_ROWMEMBERS_H

#include "RowCluster.h"

namespace mlir::rmsnorm {

/// The sizes of the first `rowDims` dimensions of `op`, which are rows.
SmallVector<int64_t> getRowSizes(Operation *op, int64_t rowDims);

/// The sizes of the columns of the operands of `op`, which are equal.
SmallVector<DimSource> getColumns(Operation *op, int64_t rowDims);

/// Whether `op` has no columns, or as many as the cluster.
bool hasColumns(Operation *op, int64_t rowDims, const RowCluster &cluster);

/// Why `op` does not work row by row; empty if it does.
std::string whyNotRowWise(Operation *op, const RowCluster &cluster);

/// Whether an iteration needs of the operand just the row it works on.
bool usesRow(OpOperand &use, int64_t rowDims);

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_ROWMEMBERS_H
