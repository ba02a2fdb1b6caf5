// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FloatRange.h - what types and constants tell of f32 values --------===//

#ifndef RMSNORM_IR_FLOATRANGE_H
#define RMSNORM_IR_FLOATRANGE_H

#include "mlir/IR/Value.h"

namespace mlir::rmsnorm {

/// Finite values are multiples of 2^unit and at most 2^bound in magnitude.
/// Rounding to f32 keeps both, as long as they are in its range.
struct FloatRange {
  int unit, bound;

  /// Smaller numbers are not normal; all normal numbers are equally precise.
  static constexpr int least = -126;
  /// The largest exponent of f32.
  static constexpr int most = 127;

  /// Neither too small nor too large for f32.
  bool isPrecise() const { return unit >= least && bound <= most; }

  FloatRange operator*(FloatRange other) const {
    return {unit + other.unit, bound + other.bound};
  }
};

/// The range of `value`, floats of a tile program, for any inputs.
FloatRange getFloatRange(Value value);

} // namespace mlir::rmsnorm

#endif // RMSNORM_IR_FLOATRANGE_H
