// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowIndex.h - rows of buffers with some leading dimensions ---------===//

#ifndef RMSNORM_LIB_TRANSFORMS_ROWINDEX_H
#define RMSNORM_LIB_TRANSFORMS_ROWINDEX_H

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::rmsnorm {

/// Some of the indices of a delinearized row.
struct RowIndex {
  affine::AffineDelinearizeIndexOp indices;
  /// Which of its results, in the order of the buffer.
  SmallVector<int64_t> dims;

  /// Whether each row of the loop has a row of its own.
  bool hasAll();
};

/// The indices of the row of `loop` that `row` counts rows by: it is one of
/// them, or (i * size of j + j) * ... of several, as the canonicalization of
/// rmsnorm.tile_load leaves it. None if it is something else.
std::optional<RowIndex> matchRowIndex(Value row, scf::ForallOp loop);

/// Whether `op` does nothing but take a row apart for accesses to buffers with
/// some of the leading dimensions.
bool isRowIndex(Operation *op);

/// Makes buffers that have dimensions of size 1 in different places, with which
/// the rows of `loop` would be counted in different sizes, views of them that
/// have none.
void dropUnitDimensions(scf::ForallOp loop);

/// Makes buffers that have leading dimensions in another order than `loop`
/// counts rows in views of them that have its order.
void orderDimensions(scf::ForallOp loop);

/// Sets `segments` to the leading sizes, of `numSizes`, that sums of `loop` are
/// for each index of: all of the same, or of none.
LogicalResult collectSegments(scf::ForallOp loop, int64_t numSizes,
                              SmallVectorImpl<int64_t> &segments);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TRANSFORMS_ROWINDEX_H
