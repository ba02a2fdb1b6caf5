// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpsScatter.cpp - rows at indices that are known at run time --------===//

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;

int64_t ScatterOp::getNumBatchDims() {
  return cast<ShapedType>(getIndices().front().getType()).getRank();
}

LogicalResult ScatterOp::verify() {
  // (C1)
  auto dest = getDest().getType();
  for (Type type : getOperandTypes())
    if (cast<RankedTensorType>(type).getEncoding())
      return emitOpError("expected tensors without encoding, got ") << type;
  // (C2)
  ArrayRef<int64_t> dims = getDims();
  bool isAscending = !dims.empty() && dims.size() == getIndices().size() &&
                     dims.front() >= 0 && dims.back() < dest.getRank();
  for (size_t i = 1; i < dims.size(); ++i)
    isAscending &= dims[i - 1] < dims[i];
  if (!isAscending)
    return emitOpError("expected 'dims' to name a dimension of 'dest' for each "
                       "of 'at', ascending, at least one, got [")
           << dims << "] for " << getIndices().size() << " of 'at' and "
           << dest;
  // (C3)
  auto source = getSource().getType();
  auto first = cast<RankedTensorType>(getIndices().front().getType());
  SmallVector<int64_t> shape(first.getShape());
  for (Value indices : getIndices())
    if (failed(verifyCompatibleShape(indices.getType(), first)))
      return emitOpError("expected all of 'at' to have one shape, got ")
             << first << " and " << indices.getType();
  for (int64_t dim = 0; dim < dest.getRank(); ++dim)
    if (!isIndexed(dim))
      shape.push_back(dest.getDimSize(dim));
  if (failed(verifyCompatibleShape(shape, source.getShape())) ||
      source.getElementType() != dest.getElementType())
    return emitOpError("expected 'source' to have the shape of 'at', then the "
                       "dimensions of 'dest' without 'dims', and its elements, "
                       "got ")
           << source << " for " << first << " and " << dest;
  return success();
}

LogicalResult
ScatterOp::reifyResultShapes(OpBuilder &builder,
                             ReifiedRankedShapedTypeDims &shapes) {
  shapes.push_back(tensor::getMixedSizes(builder, getLoc(), getDest()));
  return success();
}
