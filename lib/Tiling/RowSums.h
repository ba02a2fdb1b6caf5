// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowSums.h - sums over the rows of a cluster -----------------------===//

#ifndef RMSNORM_LIB_TILING_ROWSUMS_H
#define RMSNORM_LIB_TILING_ROWSUMS_H

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {

/// A sum over rows, and what is made of it once it is known.
struct RowSum {
  ReduceKind kind = ReduceKind::add;
  /// Where it begins, of a maximum or a minimum; null if that changes nothing.
  FloatAttr start;
  /// What is added to it, in f32; null if nothing is.
  Value init;
  /// Ops after it that do nothing but add `init` and round, in their order.
  SmallVector<linalg::LinalgOp> tail;

  /// The sum `result` and the ops after it that write nothing else.
  static RowSum match(OpResult result);

  /// The last value, and where it is written.
  OpResult getResult(OpResult sum) const;
  Value getDestination() const;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TILING_ROWSUMS_H
