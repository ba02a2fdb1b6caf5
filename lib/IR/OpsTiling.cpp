// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpsTiling.cpp - TilingInterface: the iteration domain is the rows --===//

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static int64_t getRank(Value value) {
  return cast<ShapedType>(value.getType()).getRank();
}

/// The rows, sized by `base`, an init: a size read from an input would become
/// a tensor.dim of the loop's own result once that replaces the input.
static SmallVector<Range> getRowDomain(OpBuilder &builder, Location loc,
                                       Value base) {
  SmallVector<Range> domain;
  if (!isa<RankedTensorType>(base.getType()))
    return domain;
  for (int64_t dim = 0, e = getRank(base) - 1; dim < e; ++dim)
    domain.push_back({builder.getIndexAttr(0),
                      tensor::getMixedSize(builder, loc, base, dim),
                      builder.getIndexAttr(1)});
  return domain;
}

/// The slice of `value` for the rows given: its leading dimensions are the
/// rows, a last one more than those is taken whole. The rank stays.
static tensor::ExtractSliceOp getRowSlice(OpBuilder &builder, Location loc,
                                          Value value,
                                          ArrayRef<OpFoldResult> offsets,
                                          ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> sliceOffsets(offsets), sliceSizes(sizes);
  int64_t rank = getRank(value);
  for (int64_t dim = offsets.size(); dim < rank; ++dim) {
    sliceOffsets.push_back(builder.getIndexAttr(0));
    sliceSizes.push_back(tensor::getMixedSize(builder, loc, value, dim));
  }
  SmallVector<OpFoldResult> strides(rank, builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, loc, value, sliceOffsets,
                                        sliceSizes, strides);
}

/// `op` on the rows given. `weight` is taken whole, and `dweight` (both may be
/// null) is replaced by a new f32 tensor for the sum over these rows.
static FailureOr<TilingResult> getTiledNorm(DestinationStyleOpInterface op,
                                            OpBuilder &builder,
                                            ArrayRef<OpFoldResult> offsets,
                                            ArrayRef<OpFoldResult> sizes,
                                            Value weight, OpOperand *dweight) {
  if (!op.hasPureTensorSemantics())
    return failure();
  Location loc = op.getLoc();
  SmallVector<Value> operands;
  SmallVector<Operation *> slices;
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (&operand == dweight) {
      operands.push_back(tensor::EmptyOp::create(
          builder, loc, tensor::getMixedSizes(builder, loc, value),
          builder.getF32Type()));
    } else if (value == weight) {
      operands.push_back(value);
    } else {
      slices.push_back(getRowSlice(builder, loc, value, offsets, sizes));
      operands.push_back(slices.back()->getResult(0));
    }
  }
  SmallVector<Type> types;
  for (OpOperand &init : op.getDpsInitsMutable())
    types.push_back(operands[init.getOperandNumber()].getType());
  Operation *tiled = mlir::clone(builder, op, types, operands);
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), slices};
}

/// A result with a last dimension more than the rows is taken whole there.
static void getRowPosition(OpBuilder &builder, Location loc, Value init,
                           ArrayRef<OpFoldResult> offsets,
                           ArrayRef<OpFoldResult> sizes,
                           SmallVector<OpFoldResult> &resultOffsets,
                           SmallVector<OpFoldResult> &resultSizes) {
  resultOffsets.assign(offsets.begin(), offsets.end());
  resultSizes.assign(sizes.begin(), sizes.end());
  if (getRank(init) == static_cast<int64_t>(offsets.size()))
    return;
  resultOffsets.push_back(builder.getIndexAttr(0));
  resultSizes.push_back(
      tensor::getMixedSize(builder, loc, init, offsets.size()));
}

//===----------------------------------------------------------------------===//
// forward
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> ForwardOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(getRank(getInput()) - 1,
                                          utils::IteratorType::parallel);
}

SmallVector<Range> ForwardOp::getIterationDomain(OpBuilder &builder) {
  return getRowDomain(builder, getLoc(), getOutput());
}

FailureOr<TilingResult>
ForwardOp::getTiledImplementation(OpBuilder &builder,
                                  ArrayRef<OpFoldResult> offsets,
                                  ArrayRef<OpFoldResult> sizes) {
  return getTiledNorm(*this, builder, offsets, sizes, getWeight(),
                      /*dweight=*/nullptr);
}

LogicalResult ForwardOp::getResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  getRowPosition(builder, getLoc(), getDpsInits()[resultNumber], offsets, sizes,
                 resultOffsets, resultSizes);
  return success();
}

FailureOr<TilingResult>
ForwardOp::generateResultTileValue(OpBuilder &builder, unsigned resultNumber,
                                   ArrayRef<OpFoldResult> offsets,
                                   ArrayRef<OpFoldResult> sizes) {
  int64_t rowDims = getRank(getInput()) - 1;
  FailureOr<TilingResult> tiled = getTiledImplementation(
      builder, offsets.take_front(rowDims), sizes.take_front(rowDims));
  if (failed(tiled))
    return failure();
  return TilingResult{tiled->tiledOps,
                      {tiled->tiledValues[resultNumber]},
                      tiled->generatedSlices};
}

//===----------------------------------------------------------------------===//
// backward
//===----------------------------------------------------------------------===//

SmallVector<utils::IteratorType> BackwardOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(
      getRank(getInput()) - 1, getDweight() ? utils::IteratorType::reduction
                                            : utils::IteratorType::parallel);
}

SmallVector<Range> BackwardOp::getIterationDomain(OpBuilder &builder) {
  return getRowDomain(builder, getLoc(), getDx());
}

FailureOr<TilingResult>
BackwardOp::getTiledImplementation(OpBuilder &builder,
                                   ArrayRef<OpFoldResult> offsets,
                                   ArrayRef<OpFoldResult> sizes) {
  OpOperand *dweight = nullptr;
  if (getDweight())
    dweight = &getDweightMutable()[0];
  return getTiledNorm(*this, builder, offsets, sizes, getWeight(), dweight);
}

LogicalResult BackwardOp::getResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  // A tile's part of dweight is a summand, not a slice.
  if (resultNumber != 0)
    return failure();
  getRowPosition(builder, getLoc(), getDx(), offsets, sizes, resultOffsets,
                 resultSizes);
  return success();
}

FailureOr<TilingResult>
BackwardOp::generateResultTileValue(OpBuilder &builder, unsigned resultNumber,
                                    ArrayRef<OpFoldResult> offsets,
                                    ArrayRef<OpFoldResult> sizes) {
  if (resultNumber != 0)
    return failure();
  int64_t rowDims = getRank(getInput()) - 1;
  FailureOr<TilingResult> tiled = getTiledImplementation(
      builder, offsets.take_front(rowDims), sizes.take_front(rowDims));
  if (failed(tiled))
    return failure();
  return TilingResult{
      tiled->tiledOps, {tiled->tiledValues[0]}, tiled->generatedSlices};
}
