// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorizeForward.h - the tile program of rmsnorm.forward ----------===//

#ifndef RMSNORM_TRANSFORMS_VECTORIZEFORWARD_H
#define RMSNORM_TRANSFORMS_VECTORIZEFORWARD_H

#include "RMSNorm/IR/RMSNorm.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::rmsnorm {

/// `value`, a vector of rank 2, as a vector of `shape`: unit dimensions are
/// repeated.
Value broadcastTo(OpBuilder &builder, Location loc, Value value,
                  ArrayRef<int64_t> shape);

struct ForwardRow {
  /// 1xN, of the output's element type.
  Value output;
  /// 1x1, f32.
  Value rstd;
};

/// Emits the program of one row of `op`. `input` is 1xN. `columns` is the row
/// size where it is dynamic, else null. `loadWeight` makes the 1xN weight
/// where it is first used; it is not called if the op has none.
ForwardRow vectorizeForward(OpBuilder &builder, ForwardOp op, Value input,
                            Value columns,
                            llvm::function_ref<Value()> loadWeight);

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_VECTORIZEFORWARD_H
