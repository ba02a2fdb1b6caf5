// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DimTrace.h - where the size of a dimension comes from -------------===//

#ifndef RMSNORM_IR_DIMTRACE_H
#define RMSNORM_IR_DIMTRACE_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/Value.h"

namespace mlir::rmsnorm {

/// Where the size of a dimension comes from: a constant, an index value, or a
/// dimension of a tensor or memref that cannot be traced further. Sizes with
/// equal sources are equal.
struct DimSource {
  /// The size if it is static, else ShapedType::kDynamic.
  int64_t size;
  /// An index value (`dim` is -1) or a shaped value; null if static.
  Value value;
  int64_t dim = -1;

  bool isStatic() const { return !value; }
  bool operator==(const DimSource &other) const {
    return size == other.size && value == other.value && dim == other.dim;
  }
};

/// Follows dimension `dim` of the tensor or memref `value` through
/// destination-style ops, loops, casts, slices and reshapes up to an argument
/// of the function, and there, if the argument has `rmsnorm.dims`, to the first
/// argument with the same shape symbol.
DimSource traceDim(Value value, int64_t dim);

/// The dimension of the operand of `collapse`, a tensor.collapse_shape or
/// memref.collapse_shape, that dimension `dim` of its result is, if the others
/// of its group have size 1.
std::optional<int64_t> getUncollapsedDim(Operation *collapse, int64_t dim);

/// The same for a size that is already at hand.
DimSource traceSize(OpFoldResult size);

/// What index arithmetic `op` computes of `operands`, as an expression; null if
/// it is another op. Sizes are not negative, so truncating and flooring
/// division agree. Casts are none: sizes fit the types they are cast to.
AffineExpr getIndexArithmetic(Operation *op, ArrayRef<AffineExpr> operands);

/// Calls `visit` with sizes that `op` requires to be equal and that are not
/// traced to one source: those of a loop, of a cast, of what is inserted, and
/// of a dimension that is expanded by ones. Stops at the first failure.
LogicalResult
visitEqualSizes(Operation *op,
                function_ref<LogicalResult(DimSource, DimSource)> visit);

/// The size as an attribute or as a value, for which a `tensor.dim` or
/// `memref.dim` is created if need be.
OpFoldResult materializeDim(OpBuilder &builder, Location loc, DimSource source);

} // namespace mlir::rmsnorm

#endif // RMSNORM_IR_DIMTRACE_H
