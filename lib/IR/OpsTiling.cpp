// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpsTiling.cpp - TilingInterface: the iteration domain is the rows --===//

#include "Norms.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static int64_t getRank(Value value) {
  return cast<ShapedType>(value.getType()).getRank();
}

ArrayAttr rmsnorm::getNormMaps(Operation *op, int64_t rank,
                               ArrayRef<Value> perColumn) {
  MLIRContext *context = op->getContext();
  return Builder(context).getAffineMapArrayAttr(
      llvm::map_to_vector(op->getOperands(), [&](Value operand) {
        SmallVector<AffineExpr> exprs;
        const bool hasRows = !llvm::is_contained(perColumn, operand);
        for (int64_t dim = 0, own = getRank(operand); dim < own; ++dim)
          exprs.push_back(
              getAffineDimExpr(hasRows ? dim : rank - own + dim, context));
        return AffineMap::get(rank, 0, exprs, context);
      }));
}

SmallVector<Range> rmsnorm::getNormDomain(DestinationStyleOpInterface op,
                                          OpBuilder &builder) {
  // A size read from an input would become a tensor.dim of the loop's own
  // result once that replaces the input.
  Value init = op.getDpsInits().front();
  SmallVector<Range> domain;
  if (!isa<RankedTensorType>(init.getType()))
    return domain;
  for (int64_t dim = 0, e = getRank(init) - 1; dim < e; ++dim)
    domain.push_back({builder.getIndexAttr(0),
                      tensor::getMixedSize(builder, op.getLoc(), init, dim),
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

FailureOr<TilingResult> rmsnorm::getTiledNorm(DestinationStyleOpInterface op,
                                              OpBuilder &builder,
                                              ArrayRef<OpFoldResult> offsets,
                                              ArrayRef<OpFoldResult> sizes,
                                              Value weight,
                                              OpOperand *dweight) {
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

void rmsnorm::getNormPosition(OpBuilder &builder, Location loc, Value init,
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
