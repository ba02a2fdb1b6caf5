// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorizeNorms.h - the tile programs of our ops -------------------===//

#ifndef RMSNORM_TRANSFORMS_VECTORIZENORMS_H
#define RMSNORM_TRANSFORMS_VECTORIZENORMS_H

#include "RMSNorm/IR/RMSNorm.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace mlir::rmsnorm {

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

/// 1xN, but for `rstd`, 1x1; `weight` and `rstd` are null if the op has none.
struct BackwardOperands {
  Value dy, input, weight, rstd;
};

struct BackwardRow {
  /// 1xN, of the element type of dx.
  Value dx;
  /// 1xN, f32: what the row adds to dweight. Null if the op has none.
  Value dweight;
};

/// The same for the backward.
BackwardRow vectorizeBackward(OpBuilder &builder, BackwardOp op,
                              const BackwardOperands &operands, Value columns);

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_VECTORIZENORMS_H
