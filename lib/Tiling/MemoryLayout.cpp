// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryLayout.cpp - how tensors will lie in memory ------------------===//

#include "MemoryLayout.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;

bool rmsnorm::isBuffer(Value value) {
  while (Operation *definition = value.getDefiningOp()) {
    if (isa<bufferization::ToTensorOp>(definition))
      return true;
    if (!isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
             tensor::ExtractSliceOp>(definition))
      return false;
    value = definition->getOperand(0);
  }
  return false;
}

bool rmsnorm::hasInnerStrideOne(Value tensor) {
  while (Operation *definition = tensor.getDefiningOp()) {
    if (auto buffer = dyn_cast<bufferization::ToTensorOp>(definition)) {
      auto type = dyn_cast<MemRefType>(buffer.getBuffer().getType());
      return type && type.isLastDimUnitStride();
    }
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(definition)) {
      const llvm::SmallBitVector dropped = slice.getDroppedDims();
      const int64_t last = slice.getSourceType().getRank() - 1;
      if (last >= 0 &&
          (dropped.test(last) || !isOneInteger(slice.getMixedStrides()[last])))
        return false;
    } else if (!isa<tensor::CastOp, tensor::CollapseShapeOp,
                    tensor::ExpandShapeOp>(definition)) {
      break;
    }
    tensor = definition->getOperand(0);
  }
  return true;
}

/// The same of one insertion.
static bool liesApart(tensor::InsertSliceOp insert, int64_t columns) {
  const llvm::SmallBitVector dropped = insert.getDroppedDims();
  const int64_t last = insert.getType().getRank() - 1;
  if (last >= 0 &&
      (dropped.test(last) || !isOneInteger(insert.getMixedStrides()[last])))
    return true;
  // Columns of several dimensions: all but the outermost one are whole.
  int64_t covered = 1;
  for (int64_t dim = last; dim >= 0; --dim) {
    const int64_t size = insert.getStaticSizes()[dim];
    if (ShapedType::isDynamic(size) || (covered *= size) >= columns)
      break;
    if (size != insert.getType().getDimSize(dim))
      return true;
  }
  return false;
}

bool rmsnorm::isInsertedApart(Value tensor, int64_t columns) {
  return llvm::any_of(tensor.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
            user))
      return isInsertedApart(user->getResult(0), columns);
    auto insert = dyn_cast<tensor::InsertSliceOp>(user);
    auto destination = dyn_cast<DestinationStyleOpInterface>(user);
    if (destination && destination.isDpsInit(&use))
      return isInsertedApart(destination.getTiedOpResult(&use), columns);
    return insert && (liesApart(insert, columns) ||
                      isInsertedApart(insert.getResult(), columns));
  });
}
