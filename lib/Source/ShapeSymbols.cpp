// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShapeSymbols.cpp - which sizes of a function are equal ------------===//

#include "ShapeSymbols.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rmsnorm;

unsigned ShapeSymbols::find(unsigned node) const {
  while (parents[node] != node)
    node = parents[node] = parents[parents[node]];
  return node;
}

unsigned ShapeSymbols::getClass(const DimSource &source) {
  auto [it, inserted] = nodes.try_emplace(
      {source.value, source.isStatic() ? source.size : source.dim},
      parents.size());
  if (inserted) {
    parents.push_back(it->second);
    sizes.push_back(source.size);
  }
  return find(it->second);
}

std::optional<int64_t> ShapeSymbols::getStaticSize(unsigned classNumber) const {
  int64_t size = sizes[find(classNumber)];
  return ShapedType::isDynamic(size) ? std::nullopt : std::optional(size);
}

LogicalResult ShapeSymbols::unite(Operation *op, const DimSource &first,
                                  const DimSource &second) {
  unsigned a = getClass(first), b = getClass(second);
  if (a == b)
    return success();
  if (!ShapedType::isDynamic(sizes[a]) && !ShapedType::isDynamic(sizes[b]))
    return op->emitOpError("expected two dimensions to be equal, got sizes ")
           << sizes[a] << " and " << sizes[b];
  if (ShapedType::isDynamic(sizes[a]))
    sizes[a] = sizes[b];
  parents[b] = a;
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
