// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Norms.h - what rmsnorm.forward and backward do alike --------------===//

#ifndef RMSNORM_LIB_IR_NORMS_H
#define RMSNORM_LIB_IR_NORMS_H

#include "RMSNorm/IR/RMSNorm.h"

namespace mlir::rmsnorm {

/// Reads through casts that only forget static sizes, strides or offsets.
LogicalResult foldMemRefCasts(Operation *op);

/// A map for each operand of `op`, from the indices of a row and the column, of
/// which there are `rank`, to its own: `perColumn` have the column only, the
/// others the row's or all of them.
ArrayAttr getNormMaps(Operation *op, int64_t rank, ArrayRef<Value> perColumn);

/// The rows of `op`.
SmallVector<Range> getNormDomain(DestinationStyleOpInterface op,
                                 OpBuilder &builder);

/// `op` on the rows given. `weight` is taken whole, and `dweight` (both may be
/// null) is replaced by a new f32 tensor for the sum over these rows.
FailureOr<TilingResult> getTiledNorm(DestinationStyleOpInterface op,
                                     OpBuilder &builder,
                                     ArrayRef<OpFoldResult> offsets,
                                     ArrayRef<OpFoldResult> sizes, Value weight,
                                     OpOperand *dweight);

/// Where rows are in `init`. A last dimension more than the rows is taken
/// whole.
void getNormPosition(OpBuilder &builder, Location loc, Value init,
                     ArrayRef<OpFoldResult> offsets,
                     ArrayRef<OpFoldResult> sizes,
                     SmallVector<OpFoldResult> &resultOffsets,
                     SmallVector<OpFoldResult> &resultSizes);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_IR_NORMS_H
