// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShapeSymbols.h - which sizes of a function are equal --------------===//

#ifndef RMSNORM_LIB_SOURCE_SHAPESYMBOLS_H
#define RMSNORM_LIB_SOURCE_SHAPESYMBOLS_H

#include "RMSNorm/IR/DimTrace.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::rmsnorm {

/// The sizes of a function's dimensions and index values, in classes of those
/// that have one source or that the ops of the function require to be equal.
class ShapeSymbols {
public:
  /// Collects the equalities. Fails, with an error, if two different static
  /// sizes would have to be equal.
  static FailureOr<ShapeSymbols> compute(func::FuncOp function);

  /// The class of dimension `dim` of `value`.
  unsigned getClass(Value value, int64_t dim) {
    return getClass(traceDim(value, dim));
  }
  unsigned getClass(OpFoldResult size) { return getClass(traceSize(size)); }
  /// The static size of a class, if one of its members has one.
  std::optional<int64_t> getStaticSize(unsigned classNumber) const;
  /// Makes the first `dims` dimensions of `a` and `b` equal. An error, if they
  /// cannot be, is emitted on `op`.
  LogicalResult uniteShapes(Operation *op, Value a, Value b, int64_t dims);

private:
  unsigned getClass(const DimSource &source);
  unsigned find(unsigned node) const;
  LogicalResult unite(Operation *op, const DimSource &a, const DimSource &b);
  LogicalResult collect(Operation *op);

  /// The nodes of sources: values with a dimension or -1, or null with a static
  /// size.
  llvm::DenseMap<std::pair<Value, int64_t>, unsigned> nodes;
  mutable llvm::SmallVector<unsigned> parents;
  llvm::SmallVector<int64_t> sizes;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_SOURCE_SHAPESYMBOLS_H
