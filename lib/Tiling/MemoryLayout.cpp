// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryLayout.cpp - how tensors will lie in memory ------------------===//

#include "MemoryLayout.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

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

/// Whether the last elements of what `slice` takes out of a tensor of type
/// `whole`, or puts into it, `columns` in a row, lie apart in it.
template <typename OpTy>
static bool liesApart(OpTy slice, RankedTensorType whole, int64_t columns) {
  const llvm::SmallBitVector dropped = slice.getDroppedDims();
  const int64_t last = whole.getRank() - 1;
  if (last >= 0 &&
      (dropped.test(last) || !isOneInteger(slice.getMixedStrides()[last])))
    return true;
  // Columns of several dimensions: all but the outermost one are whole.
  int64_t covered = 1;
  for (int64_t dim = last; dim >= 0; --dim) {
    const int64_t size = slice.getStaticSizes()[dim];
    if (ShapedType::isDynamic(size) || (covered *= size) >= columns)
      break;
    if (size != whole.getDimSize(dim))
      return true;
  }
  return false;
}

/// The same of a buffer.
static bool liesApart(MemRefType type, int64_t columns) {
  SmallVector<int64_t> strides;
  int64_t offset, covered = 1;
  if (!type.isLastDimUnitStride() ||
      failed(type.getStridesAndOffset(strides, offset)))
    return true;
  for (int64_t dim = type.getRank() - 1; dim >= 0 && covered < columns; --dim) {
    const int64_t size = type.getDimSize(dim);
    if (size != 1 && strides[dim] != covered)
      return true;
    if (ShapedType::isDynamic(size))
      break;
    covered *= size;
  }
  return false;
}

/// The buffer that `tensor` is in, if it is known.
static MemRefType getBufferType(Value tensor) {
  if (auto buffer = tensor.getDefiningOp<bufferization::ToTensorOp>())
    return dyn_cast<MemRefType>(buffer.getBuffer().getType());
  auto argument = dyn_cast<BlockArgument>(tensor);
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  if (!argument || !type)
    return {};
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function || !argument.getOwner()->isEntryBlock())
    return {};
  auto layout = function.getArgAttrOfType<MemRefLayoutAttrInterface>(
      argument.getArgNumber(),
      bufferization::BufferizationDialect::kBufferLayoutAttrName);
  return layout
             ? MemRefType::get(type.getShape(), type.getElementType(), layout)
             : MemRefType();
}

bool rmsnorm::lieTogether(Value tensor, int64_t columns) {
  while (Operation *definition = tensor.getDefiningOp()) {
    auto slice = dyn_cast<tensor::ExtractSliceOp>(definition);
    if (slice && liesApart(slice, slice.getSourceType(), columns))
      return false;
    if (!slice &&
        !isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
            definition))
      break;
    tensor = definition->getOperand(0);
  }
  MemRefType type = getBufferType(tensor);
  return !type || !liesApart(type, columns);
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
    return insert && (liesApart(insert, insert.getType(), columns) ||
                      isInsertedApart(insert.getResult(), columns));
  });
}
