// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowMath.h - arithmetic on the vectors of one row ------------------===//

#ifndef RMSNORM_TRANSFORMS_ROWMATH_H
#define RMSNORM_TRANSFORMS_ROWMATH_H

#include "RMSNorm/IR/RMSNorm.h"

namespace mlir::rmsnorm {

/// `value`, a vector of rank 2, as a vector of `shape`: unit dimensions are
/// repeated.
Value broadcastTo(OpBuilder &builder, Location loc, Value value,
                  ArrayRef<int64_t> shape);

/// Arithmetic on vectors of one row, in f32. `columns` is the row size where it
/// is dynamic, else null.
class RowMath {
public:
  RowMath(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value extend(Value value);
  Value truncate(Value value, Type elementType);
  /// The nearest value of `elementType`, as f32.
  Value round(Value value, Type elementType);
  /// The same if there is a type to round to.
  Value maybeRound(Value value, Type elementType) {
    return elementType ? round(value, elementType) : value;
  }
  Value constant(float value, Value like);

  Value add(Value a, Value b);
  /// A per-row operand `b` is repeated along the row, here and in mul.
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);

  /// The sum along the row, 1x1.
  Value sum(Value value, Value columns);
  /// `sum` / N.
  Value divideByColumns(Value sum, int64_t staticColumns, Value columns);
  /// 1 / root mean square of `x`, 1x1; every step rounds to `rounding`, if
  /// there is one, as `casting = none` says.
  Value rstd(Value x, Value columns, const APFloat &eps, Type rounding);
  /// weight + offset in f32, rounded to `rounding` if there is one.
  Value weight(Value weight, const APFloat &offset, Type rounding);

private:
  OpBuilder &builder;
  Location loc;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_ROWMATH_H
