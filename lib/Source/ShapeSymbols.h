// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShapeSymbols.h - which dimensions of a function are equal ---------===//

#ifndef RMSNORM_LIB_SOURCE_SHAPESYMBOLS_H
#define RMSNORM_LIB_SOURCE_SHAPESYMBOLS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::rmsnorm {

/// The dimensions of a function's tensors, in classes of those that the ops of
/// the function require to be equal.
class ShapeSymbols {
public:
  /// Collects the equalities. Fails, with an error, if two different static
  /// sizes would have to be equal.
  static FailureOr<ShapeSymbols> compute(func::FuncOp function);

  /// The class of dimension `dim` of `value`.
  unsigned getClass(Value value, int64_t dim);
  /// The static size of a class, if one of its members has one.
  std::optional<int64_t> getStaticSize(unsigned classNumber) const;
  /// Makes the first `dims` dimensions of `a` and `b` equal. An error, if they
  /// cannot be, is emitted on `op`.
  LogicalResult uniteShapes(Operation *op, Value a, Value b, int64_t dims);

private:
  unsigned getNode(Value value, int64_t dim);
  unsigned find(unsigned node) const;
  LogicalResult unite(Operation *op, unsigned a, unsigned b);
  LogicalResult uniteSize(Operation *op, Value value, int64_t dim,
                          OpFoldResult size);
  LogicalResult collectNorm(Operation *op, Value input, ArrayRef<Value> tiles,
                            ArrayRef<Value> rows, ArrayRef<Value> columns);
  LogicalResult collect(Operation *op);

  /// Dimension -1 stands for the value itself, an index.
  llvm::DenseMap<std::pair<Value, int64_t>, unsigned> nodes;
  mutable llvm::SmallVector<unsigned> parents;
  llvm::SmallVector<int64_t> sizes;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_SOURCE_SHAPESYMBOLS_H
