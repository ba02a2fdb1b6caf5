// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DimTrace.cpp - where the size of a dimension comes from -----------===//

#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/HardViews.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static DenseI64ArrayAttr getArgumentDims(FunctionOpInterface function,
                                         unsigned argument) {
  return function.getArgAttrOfType<DenseI64ArrayAttr>(
      argument, RMSNormDialect::kDimsAttrName);
}

/// The first dimension of an argument of `function` with shape symbol
/// `symbol`, which is negative.
static DimSource getRepresentative(FunctionOpInterface function,
                                   int64_t symbol) {
  for (BlockArgument argument : function.getArguments()) {
    DenseI64ArrayAttr dims = getArgumentDims(function, argument.getArgNumber());
    if (!dims)
      continue;
    for (auto [dim, other] : llvm::enumerate(dims.asArrayRef()))
      if (other == symbol)
        return {ShapedType::kDynamic, argument, static_cast<int64_t>(dim)};
  }
  llvm_unreachable("the symbol comes from an argument of this function");
}

/// The value that `argument`, of a loop in which it keeps its shape, is bound
/// to at loop entry, or null. An scf.for may carry a tensor of another size.
static Value getLoopInit(BlockArgument argument) {
  auto loop =
      dyn_cast_or_null<scf::ForallOp>(argument.getOwner()->getParentOp());
  if (!loop || argument.getArgNumber() < loop.getRank())
    return {};
  return loop.getTiedOpOperand(argument)->get();
}

DimSource rmsnorm::traceSize(OpFoldResult size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return {*constant, Value()};
  auto value = cast<Value>(size);
  if (auto dim = value.getDefiningOp<tensor::DimOp>())
    if (std::optional<int64_t> index = dim.getConstantIndex();
        index && *index >= 0)
      return traceDim(dim.getSource(), *index);
  if (auto dim = value.getDefiningOp<memref::DimOp>())
    if (std::optional<int64_t> index = dim.getConstantIndex();
        index && *index >= 0)
      return traceDim(dim.getSource(), *index);
  return {ShapedType::kDynamic, value};
}

/// The size of dimension `dim` of a type that has dropped some dimensions of
/// `sizes`.
static OpFoldResult getKept(ArrayRef<OpFoldResult> sizes,
                            const llvm::SmallBitVector &dropped, int64_t dim) {
  for (auto [index, size] : llvm::enumerate(sizes))
    if (!dropped.test(index) && dim-- == 0)
      return size;
  llvm_unreachable("expected a dimension of the result");
}

std::optional<int64_t> rmsnorm::getUncollapsedDim(Operation *collapse,
                                                  int64_t dim) {
  auto memrefOp = dyn_cast<memref::CollapseShapeOp>(collapse);
  SmallVector<ReassociationIndices> groups =
      memrefOp
          ? memrefOp.getReassociationIndices()
          : cast<tensor::CollapseShapeOp>(collapse).getReassociationIndices();
  auto type = cast<ShapedType>(collapse->getOperand(0).getType());
  std::optional<int64_t> found;
  for (int64_t source : groups[dim]) {
    if (type.getDimSize(source) == 1)
      continue;
    if (found)
      return std::nullopt;
    found = source;
  }
  return found;
}

DimSource rmsnorm::traceDim(Value value, int64_t dim) {
  while (true) {
    auto type = cast<ShapedType>(value.getType());
    if (dim >= type.getRank())
      return {ShapedType::kDynamic, value, dim};
    if (!type.isDynamicDim(dim))
      return {type.getDimSize(dim), Value()};
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (Value init = getLoopInit(argument)) {
        value = init;
        continue;
      }
      auto function = dyn_cast_or_null<FunctionOpInterface>(
          argument.getOwner()->getParentOp());
      if (function && argument.getOwner()->isEntryBlock())
        if (auto dims = getArgumentDims(function, argument.getArgNumber()))
          if (dim < dims.size())
            return dims[dim] >= 0 ? DimSource{dims[dim], Value()}
                                  : getRepresentative(function, dims[dim]);
      return {ShapedType::kDynamic, value, dim};
    }
    Operation *op = value.getDefiningOp();
    if (auto destination = dyn_cast<DestinationStyleOpInterface>(op)) {
      value = destination.getTiedOpOperand(cast<OpResult>(value))->get();
    } else if (isa<tensor::CastOp, memref::CastOp>(op) &&
               isa<RankedTensorType, MemRefType>(op->getOperand(0).getType())) {
      value = op->getOperand(0);
    } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
      return traceSize(
          getKept(slice.getMixedSizes(), slice.getDroppedDims(), dim));
    } else if (auto view = dyn_cast<memref::ReinterpretCastOp>(op)) {
      return traceSize(view.getMixedSizes()[dim]);
    } else if (auto view = dyn_cast<memref::TransposeOp>(op)) {
      dim = view.getPermutation().getDimPosition(dim);
      value = view.getIn();
    } else if (auto slice = dyn_cast<memref::SubViewOp>(op)) {
      return traceSize(
          getKept(slice.getMixedSizes(), getDroppedDims(slice), dim));
    } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
      return traceSize(expand.getMixedOutputShape()[dim]);
    } else if (auto expand = dyn_cast<memref::ExpandShapeOp>(op)) {
      return traceSize(expand.getMixedOutputShape()[dim]);
    } else if (isa<tensor::CollapseShapeOp, memref::CollapseShapeOp>(op)) {
      std::optional<int64_t> source = getUncollapsedDim(op, dim);
      if (!source)
        return {ShapedType::kDynamic, value, dim};
      value = op->getOperand(0);
      dim = *source;
    } else if (auto alloc = dyn_cast<memref::AllocOp>(op)) {
      return traceSize(alloc.getMixedSizes()[dim]);
    } else if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
      return traceSize(empty.getMixedSizes()[dim]);
    } else {
      return {ShapedType::kDynamic, value, dim};
    }
  }
}

AffineExpr rmsnorm::getIndexArithmetic(Operation *op,
                                       ArrayRef<AffineExpr> operands) {
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    return map.getResult(0).replaceDimsAndSymbols(
        operands.take_front(map.getNumDims()),
        operands.drop_front(map.getNumDims()));
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
          arith::ExtUIOp, arith::TruncIOp>(op))
    return operands[0];
  return TypeSwitch<Operation *, AffineExpr>(op)
      .Case<arith::AddIOp>([&](auto) { return operands[0] + operands[1]; })
      .Case<arith::SubIOp>([&](auto) { return operands[0] - operands[1]; })
      .Case<arith::MulIOp>([&](auto) { return operands[0] * operands[1]; })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(
          [&](auto) { return operands[0].floorDiv(operands[1]); })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>(
          [&](auto) { return operands[0].ceilDiv(operands[1]); })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [&](auto) { return operands[0] % operands[1]; })
      .Default([](Operation *) { return AffineExpr(); });
}

LogicalResult rmsnorm::visitEqualSizes(
    Operation *op, function_ref<LogicalResult(DimSource, DimSource)> visit) {
  if (auto maps = dyn_cast<IndexingMapOpInterface>(op)) {
    llvm::SmallDenseMap<AffineExpr, DimSource> loops;
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      AffineMap map = maps.getMatchingIndexingMap(&operand);
      for (auto [dim, loop] : llvm::enumerate(map.getResults())) {
        if (!isa<AffineDimExpr>(loop))
          continue;
        DimSource size = traceDim(operand.get(), dim);
        auto [first, isNew] = loops.try_emplace(loop, size);
        if (!isNew && failed(visit(first->second, size)))
          return failure();
      }
    }
  } else if (auto scatter = dyn_cast<ScatterOp>(op)) {
    Value source = scatter.getSource(), dest = scatter.getDest();
    int64_t next = scatter.getNumBatchDims();
    for (int64_t dim = 0; dim < next; ++dim)
      for (Value indices : scatter.getIndices())
        if (failed(visit(traceDim(source, dim), traceDim(indices, dim))))
          return failure();
    for (int64_t dim = 0, rank = scatter.getDest().getType().getRank();
         dim < rank; ++dim)
      if (!scatter.isIndexed(dim) &&
          failed(visit(traceDim(source, next++), traceDim(dest, dim))))
        return failure();
  } else if (auto castOp = dyn_cast<tensor::CastOp>(op)) {
    auto type = dyn_cast<RankedTensorType>(castOp.getType());
    if (type && isa<RankedTensorType>(castOp.getSource().getType()))
      for (int64_t dim = 0; dim < type.getRank(); ++dim)
        if (failed(visit(traceDim(castOp.getSource(), dim),
                         traceDim(castOp.getResult(), dim))))
          return failure();
  } else if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op)) {
    int64_t next = 0;
    const llvm::SmallBitVector dropped = insertion.getDroppedDims();
    for (auto [dim, size] : llvm::enumerate(insertion.getMixedSizes()))
      if (!dropped.test(dim) &&
          failed(
              visit(traceDim(insertion.getSource(), next++), traceSize(size))))
        return failure();
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    for (auto [dim, group] :
         llvm::enumerate(expand.getReassociationIndices())) {
      auto parts = llvm::make_filter_range(group, [&](int64_t part) {
        return expand.getResultType().getDimSize(part) != 1;
      });
      if (llvm::hasSingleElement(parts) &&
          failed(visit(traceDim(expand.getSrc(), dim),
                       traceDim(expand.getResult(), *parts.begin()))))
        return failure();
    }
  }
  return success();
}

OpFoldResult rmsnorm::materializeDim(OpBuilder &builder, Location loc,
                                     DimSource source) {
  if (source.isStatic())
    return builder.getIndexAttr(source.size);
  if (source.dim < 0)
    return source.value;
  // The product, so that no op is needed for its size alone.
  if (auto collapse = source.value.getDefiningOp<tensor::CollapseShapeOp>()) {
    Value product;
    const ReassociationIndices group =
        collapse.getReassociationIndices()[source.dim];
    for (int64_t part : group) {
      Value size = getValueOrCreateConstantIndexOp(
          builder, loc,
          materializeDim(builder, loc, traceDim(collapse.getSrc(), part)));
      product =
          product ? arith::MulIOp::create(builder, loc, product, size) : size;
    }
    return product;
  }
  if (isa<MemRefType>(source.value.getType()))
    return memref::DimOp::create(builder, loc, source.value, source.dim)
        .getResult();
  return tensor::DimOp::create(builder, loc, source.value, source.dim)
      .getResult();
}
