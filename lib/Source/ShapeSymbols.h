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

  /// The size of dimension `dim` of `value`: a constant if one of its class is
  /// static, else the symbol of the class.
  AffineExpr getSize(Value value, int64_t dim) const {
    return getSize(traceDim(value, dim), value.getContext());
  }
  AffineExpr getSize(OpFoldResult size) const {
    return getSize(traceSize(size), size.getContext());
  }
  /// Makes the first `dims` dimensions of `a` and `b` equal. An error, if they
  /// cannot be, is emitted on `op`.
  LogicalResult uniteShapes(Operation *op, Value a, Value b, int64_t dims);

private:
  AffineExpr getSize(const DimSource &source, MLIRContext *context) const;
  LogicalResult unite(Operation *op, const DimSource &a, const DimSource &b);
  LogicalResult collect(Operation *op);

  /// The symbols of sources.
  mutable llvm::DenseMap<std::pair<Value, int64_t>, unsigned> symbols;
  /// Symbols in terms of others or of static sizes, without circles.
  llvm::DenseMap<AffineExpr, AffineExpr> known;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_SOURCE_SHAPESYMBOLS_H
