// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Ops.cpp - operator level: rmsnorm.forward and rmsnorm.backward ----===//

#include "EnumFormat.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rmsnorm;

#define GET_OP_CLASSES
#include "RMSNorm/IR/RMSNormOps.cpp.inc"

MutableOperandRange ForwardOp::getDpsInitsMutable() {
  // output and, if present, rstd are the last operands.
  unsigned count = getRstd() ? 2 : 1;
  return MutableOperandRange(getOperation(),
                             getOperation()->getNumOperands() - count, count);
}

void ForwardOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    if (!isa<MemRefType>(operand.get().getType()))
      continue;
    if (isDpsInit(&operand))
      effects.emplace_back(MemoryEffects::Write::get(), &operand);
    else
      effects.emplace_back(MemoryEffects::Read::get(), &operand);
  }
}

LogicalResult
ForwardOp::reifyResultShapes(OpBuilder &builder,
                             ReifiedRankedShapedTypeDims &shapes) {
  for (Value init : getDpsInits())
    shapes.push_back(tensor::getMixedSizes(builder, getLoc(), init));
  return success();
}

//===----------------------------------------------------------------------===//
// TilingInterface: the iteration domain is the rows
//===----------------------------------------------------------------------===//

static int64_t getNumRowDims(ForwardOp op) {
  return cast<ShapedType>(op.getInput().getType()).getRank() - 1;
}

SmallVector<utils::IteratorType> ForwardOp::getLoopIteratorTypes() {
  return SmallVector<utils::IteratorType>(getNumRowDims(*this),
                                          utils::IteratorType::parallel);
}

SmallVector<Range> ForwardOp::getIterationDomain(OpBuilder &builder) {
  SmallVector<Range> domain;
  for (int64_t dim = 0, e = getNumRowDims(*this); dim < e; ++dim)
    domain.push_back({builder.getIndexAttr(0),
                      tensor::getMixedSize(builder, getLoc(), getOutput(), dim),
                      builder.getIndexAttr(1)});
  return domain;
}

/// The slice of `value` for the rows given: its leading dimensions are the
/// rows, a last one more than those is taken whole.
static Value getRowSlice(OpBuilder &builder, Location loc, Value value,
                         ArrayRef<OpFoldResult> offsets,
                         ArrayRef<OpFoldResult> sizes) {
  SmallVector<OpFoldResult> sliceOffsets(offsets), sliceSizes(sizes);
  int64_t rank = cast<ShapedType>(value.getType()).getRank();
  for (int64_t dim = offsets.size(); dim < rank; ++dim) {
    sliceOffsets.push_back(builder.getIndexAttr(0));
    sliceSizes.push_back(tensor::getMixedSize(builder, loc, value, dim));
  }
  SmallVector<OpFoldResult> strides(rank, builder.getIndexAttr(1));
  return tensor::ExtractSliceOp::create(builder, loc, value, sliceOffsets,
                                        sliceSizes, strides);
}

FailureOr<TilingResult>
ForwardOp::getTiledImplementation(OpBuilder &builder,
                                  ArrayRef<OpFoldResult> offsets,
                                  ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> operands;
  SmallVector<Operation *> slices;
  for (Value operand : getOperation()->getOperands()) {
    if (operand != getWeight()) {
      operand = getRowSlice(builder, getLoc(), operand, offsets, sizes);
      slices.push_back(operand.getDefiningOp());
    }
    operands.push_back(operand);
  }
  SmallVector<Type> resultTypes;
  for (unsigned i = operands.size() - getNumDpsInits(); i < operands.size();
       ++i)
    resultTypes.push_back(operands[i].getType());
  Operation *tiled =
      mlir::clone(builder, getOperation(), resultTypes, operands);
  return TilingResult{{tiled}, SmallVector<Value>(tiled->getResults()), slices};
}

LogicalResult ForwardOp::getResultTilePosition(
    OpBuilder &builder, unsigned resultNumber, ArrayRef<OpFoldResult> offsets,
    ArrayRef<OpFoldResult> sizes, SmallVector<OpFoldResult> &resultOffsets,
    SmallVector<OpFoldResult> &resultSizes) {
  resultOffsets.assign(offsets.begin(), offsets.end());
  resultSizes.assign(sizes.begin(), sizes.end());
  if (resultNumber == 0) {
    resultOffsets.push_back(builder.getIndexAttr(0));
    resultSizes.push_back(tensor::getMixedSize(builder, getLoc(), getOutput(),
                                               getNumRowDims(*this)));
  }
  return success();
}

FailureOr<TilingResult>
ForwardOp::generateResultTileValue(OpBuilder &builder, unsigned resultNumber,
                                   ArrayRef<OpFoldResult> offsets,
                                   ArrayRef<OpFoldResult> sizes) {
  int64_t rowDims = getNumRowDims(*this);
  FailureOr<TilingResult> tiled = getTiledImplementation(
      builder, offsets.take_front(rowDims), sizes.take_front(rowDims));
  if (failed(tiled))
    return failure();
  return TilingResult{tiled->tiledOps,
                      {tiled->tiledValues[resultNumber]},
                      tiled->generatedSlices};
}
