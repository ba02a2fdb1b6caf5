// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShapeSymbols.cpp - which sizes of a function are equal ------------===//

#include "ShapeSymbols.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rmsnorm;

AffineExpr ShapeSymbols::getSize(const DimSource &source,
                                 MLIRContext *context) const {
  if (source.isStatic())
    return getAffineConstantExpr(source.size, context);
  const unsigned number =
      symbols.try_emplace({source.value, source.dim}, symbols.size())
          .first->second;
  AffineExpr size = getAffineSymbolExpr(number, context);
  while (AffineExpr other = known.lookup(size))
    size = other;
  return size;
}

LogicalResult ShapeSymbols::unite(Operation *op, const DimSource &first,
                                  const DimSource &second) {
  AffineExpr a = getSize(first, op->getContext()),
             b = getSize(second, op->getContext());
  if (a == b)
    return success();
  if (isa<AffineConstantExpr>(b))
    std::swap(a, b);
  if (auto constant = dyn_cast<AffineConstantExpr>(b))
    return op->emitOpError("expected two dimensions to be equal, got sizes ")
           << constant.getValue() << " and "
           << cast<AffineConstantExpr>(a).getValue();
  known[b] = a;
  return success();
}

LogicalResult ShapeSymbols::uniteShapes(Operation *op, Value a, Value b,
                                        int64_t dims) {
  for (int64_t dim = 0; dim < dims; ++dim)
    if (failed(unite(op, traceDim(a, dim), traceDim(b, dim))))
      return failure();
  return success();
}

LogicalResult ShapeSymbols::collect(Operation *op) {
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    if (index && type && (*index < 0 || *index >= type.getRank()))
      return dim.emitOpError("expected a dimension of ")
             << type << ", got " << *index;
  }
  return visitEqualSizes(op, [&](const DimSource &a, const DimSource &b) {
    return unite(op, a, b);
  });
}

FailureOr<ShapeSymbols> ShapeSymbols::compute(func::FuncOp function) {
  ShapeSymbols symbols;
  WalkResult result = function.walk(
      [&](Operation *op) { return WalkResult(symbols.collect(op)); });
  if (result.wasInterrupted())
    return failure();
  return symbols;
}
