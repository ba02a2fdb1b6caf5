// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowSums.h - sums over the rows of a cluster -----------------------===//

#ifndef RMSNORM_LIB_TRANSFORMS_ROWSUMS_H
#define RMSNORM_LIB_TRANSFORMS_ROWSUMS_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {

/// What is made of a sum over rows once it is known.
struct RowSum {
  /// What is added to it, in f32; null if nothing is.
  Value init;
  /// Ops behind it that do nothing but add `init` and round, in their order.
  SmallVector<linalg::LinalgOp> tail;

  /// The sum `result` and the ops behind it that write nothing else.
  static RowSum match(OpResult result);

  /// The last value, and where it is written.
  OpResult getResult(OpResult sum) const;
  Value getDestination() const;
};

/// What `op`, which sums over rows, adds to the sum of all of them: its init
/// but for a fill with zero, or null.
Value getAddedInit(linalg::LinalgOp op);

/// Where `op`, which sums over rows, puts the summand of one row: zeros of the
/// shape of `tiled`.
Value createSummand(RewriterBase &rewriter, linalg::LinalgOp op, Value tiled);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TRANSFORMS_ROWSUMS_H
