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
  /// Which of its results, in increasing order.
  SmallVector<int64_t> dims;
};

/// The indices of the row of `loop` that `row` counts rows by: it is one of
/// them, or (i * size of j + j) * ... of several, as the canonicalization of
/// rmsnorm.tile_load leaves it. None if it is something else.
std::optional<RowIndex> matchRowIndex(Value row, scf::ForallOp loop);

/// Whether `op` does nothing but take a row apart for loads of buffers with
/// some of the leading dimensions.
bool isRowIndex(Operation *op);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TRANSFORMS_ROWINDEX_H
