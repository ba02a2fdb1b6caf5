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

bool rmsnorm::isInsertedApart(Value tensor) {
  return llvm::any_of(tensor.getUses(), [](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
            user))
      return isInsertedApart(user->getResult(0));
    auto insert = dyn_cast<tensor::InsertSliceOp>(user);
    auto destination = dyn_cast<DestinationStyleOpInterface>(user);
    if (destination && destination.isDpsInit(&use))
      return isInsertedApart(destination.getTiedOpResult(&use));
    if (!insert)
      return false;
    const int64_t last = insert.getType().getRank() - 1;
    return (last >= 0 && (insert.getDroppedDims().test(last) ||
                          !isOneInteger(insert.getMixedStrides()[last]))) ||
           isInsertedApart(insert.getResult());
  });
}
