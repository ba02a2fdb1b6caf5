// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ShapeSymbols.cpp - which dimensions of a function are equal -------===//

#include "ShapeSymbols.h"

#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::rmsnorm;

unsigned ShapeSymbols::find(unsigned node) const {
  while (parents[node] != node)
    node = parents[node] = parents[parents[node]];
  return node;
}

unsigned ShapeSymbols::getNode(Value value, int64_t dim) {
  auto [it, inserted] = nodes.try_emplace({value, dim}, parents.size());
  if (!inserted)
    return it->second;
  parents.push_back(it->second);
  if (dim < 0)
    sizes.push_back(getConstantIntValue(value).value_or(ShapedType::kDynamic));
  else
    sizes.push_back(cast<ShapedType>(value.getType()).getDimSize(dim));
  return it->second;
}

unsigned ShapeSymbols::getClass(Value value, int64_t dim) {
  return find(getNode(value, dim));
}

std::optional<int64_t> ShapeSymbols::getStaticSize(unsigned classNumber) const {
  int64_t size = sizes[find(classNumber)];
  return ShapedType::isDynamic(size) ? std::nullopt : std::optional(size);
}

LogicalResult ShapeSymbols::unite(Operation *op, unsigned a, unsigned b) {
  a = find(a);
  b = find(b);
  if (a == b)
    return success();
  if (!ShapedType::isDynamic(sizes[a]) && !ShapedType::isDynamic(sizes[b]) &&
      sizes[a] != sizes[b])
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
    if (failed(unite(op, getNode(a, dim), getNode(b, dim))))
      return failure();
  return success();
}

LogicalResult ShapeSymbols::uniteSize(Operation *op, Value value, int64_t dim,
                                      OpFoldResult size) {
  if (auto sizeValue = dyn_cast<Value>(size))
    return unite(op, getNode(value, dim), getNode(sizeValue, -1));
  return success();
}

static int64_t getRank(Value value) {
  return cast<ShapedType>(value.getType()).getRank();
}

/// Values of the shape of `input`, with one element a row, with one a column;
/// null where an optional operand is absent.
LogicalResult ShapeSymbols::collectNorm(Operation *op, Value input,
                                        ArrayRef<Value> tiles,
                                        ArrayRef<Value> rows,
                                        ArrayRef<Value> columns) {
  int64_t rank = getRank(input);
  for (Value tile : tiles)
    if (failed(uniteShapes(op, input, tile, rank)))
      return failure();
  for (Value row : rows)
    if (row && failed(uniteShapes(op, input, row, rank - 1)))
      return failure();
  for (Value column : columns)
    if (column &&
        failed(unite(op, getNode(input, rank - 1), getNode(column, 0))))
      return failure();
  return success();
}

LogicalResult ShapeSymbols::collect(Operation *op) {
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    for (OpResult result : op->getResults())
      if (failed(uniteShapes(op, result,
                             destination.getTiedOpOperand(result)->get(),
                             getRank(result))))
        return failure();

  if (auto forward = dyn_cast<ForwardOp>(op))
    return collectNorm(op, forward.getInput(), {forward.getOutput()},
                       {forward.getRstd()}, {forward.getWeight()});
  if (auto backward = dyn_cast<BackwardOp>(op))
    return collectNorm(
        op, backward.getInput(), {backward.getDy(), backward.getDx()},
        {backward.getRstd()}, {backward.getWeight(), backward.getDweight()});
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    SmallVector<std::optional<unsigned>> loops(linalgOp.getNumLoops());
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      AffineMap map = linalgOp.getMatchingIndexingMap(&operand);
      for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
        auto loop = dyn_cast<AffineDimExpr>(expr);
        if (!loop)
          continue;
        unsigned node = getNode(operand.get(), dim);
        std::optional<unsigned> &known = loops[loop.getPosition()];
        if (known && failed(unite(op, *known, node)))
          return failure();
        known = node;
      }
    }
    return success();
  }
  if (isa<tensor::EmptyOp, tensor::ExpandShapeOp>(op)) {
    auto empty = dyn_cast<tensor::EmptyOp>(op);
    SmallVector<OpFoldResult> sizes =
        empty ? empty.getMixedSizes()
              : cast<tensor::ExpandShapeOp>(op).getMixedOutputShape();
    for (auto [dim, size] : llvm::enumerate(sizes))
      if (failed(uniteSize(op, op->getResult(0), dim, size)))
        return failure();
    auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
    if (!expand)
      return success();
    // A dimension that is not expanded, or by ones.
    for (auto [dim, parts] :
         llvm::enumerate(expand.getReassociationIndices())) {
      auto whole = llvm::make_filter_range(parts, [&](int64_t part) {
        return expand.getResultType().getDimSize(part) != 1;
      });
      if (llvm::hasSingleElement(whole) &&
          failed(unite(op, getNode(expand.getSrc(), dim),
                       getNode(expand.getResult(), *whole.begin()))))
        return failure();
    }
    return success();
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    int64_t next = 0;
    for (auto [dim, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!slice.getDroppedDims().test(dim) &&
          failed(uniteSize(op, slice.getResult(), next++, size)))
        return failure();
    return success();
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    for (int64_t dim = 0; dim < getRank(collapse.getResult()); ++dim)
      if (std::optional<int64_t> source = getUncollapsedDim(op, dim);
          source && failed(unite(op, getNode(collapse.getResult(), dim),
                                 getNode(collapse.getSrc(), *source))))
        return failure();
    return success();
  }
  if (auto dim = dyn_cast<tensor::DimOp>(op)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    if (!index || !isa<RankedTensorType>(dim.getSource().getType()))
      return success();
    if (*index < 0 || *index >= getRank(dim.getSource()))
      return dim.emitOpError("expected a dimension of ")
             << dim.getSource().getType() << ", got " << *index;
    return unite(op, getNode(dim.getSource(), *index),
                 getNode(dim.getResult(), -1));
  }
  if (auto castOp = dyn_cast<tensor::CastOp>(op))
    if (isa<RankedTensorType>(castOp.getSource().getType()) &&
        isa<RankedTensorType>(castOp.getType()))
      return uniteShapes(op, castOp.getSource(), castOp.getDest(),
                         getRank(castOp.getDest()));
  return success();
}

FailureOr<ShapeSymbols> ShapeSymbols::compute(func::FuncOp function) {
  ShapeSymbols symbols;
  WalkResult result = function.walk(
      [&](Operation *op) { return WalkResult(symbols.collect(op)); });
  if (result.wasInterrupted())
    return failure();
  return symbols;
}
