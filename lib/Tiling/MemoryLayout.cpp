// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryLayout.cpp - how tensors will lie in memory ------------------===//

#include "MemoryLayout.h"

#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/Rows/RowsProgram.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::rmsnorm;

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
static bool takesApart(OpTy slice, ShapedType whole, int64_t columns) {
  const llvm::SmallBitVector dropped = slice.getDroppedDims();
  const SmallVector<OpFoldResult> steps = slice.getMixedStrides();
  const int64_t last = whole.getRank() - 1;
  int64_t covered = 1;
  for (int64_t dim = last; dim >= 0; --dim) {
    if (!isOneInteger(steps[dim]) || (dim == last && dropped.test(dim)))
      return true;
    // Columns of several dimensions: all but the outermost one are whole.
    const DimSource size = traceSize(slice.getMixedSizes()[dim]);
    if (!size.isStatic() || (covered *= size.size) >= columns)
      break;
    if (size.size != whole.getDimSize(dim))
      return true;
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

/// Whether `columns` of a row lie apart in what `tensor` is a view of, or is
/// computed in.
static bool isOfWhatLiesApart(Value tensor, int64_t columns) {
  while (Operation *definition = tensor.getDefiningOp()) {
    // What an op computes may be in its destination.
    if (auto destination = dyn_cast<DestinationStyleOpInterface>(definition)) {
      tensor = destination.getTiedOpOperand(cast<OpResult>(tensor))->get();
      continue;
    }
    if (auto rows = dyn_cast<RowsOp>(definition)) {
      tensor =
          rows.getWritten()[cast<OpResult>(tensor).getResultNumber()]->get();
      continue;
    }
    if (auto insertion = dyn_cast<tensor::InsertSliceOp>(definition)) {
      tensor = insertion.getDest();
      continue;
    }
    auto slice = dyn_cast<tensor::ExtractSliceOp>(definition);
    if (slice && takesApart(slice, slice.getSourceType(), columns))
      return true;
    if (!slice &&
        !isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
            definition))
      break;
    tensor = definition->getOperand(0);
  }
  MemRefType type = getBufferType(tensor);
  return type && liesApart(type, columns);
}

bool rmsnorm::lieTogether(Value tensor, int64_t columns) {
  // What an op computes may be computed where it is put.
  return !(tensor.getDefiningOp<DestinationStyleOpInterface>() &&
           isInsertedApart(tensor, columns)) &&
         !isOfWhatLiesApart(tensor, columns);
}

bool rmsnorm::isInsertedApart(Value tensor, int64_t columns) {
  return llvm::any_of(tensor.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp>(
            user))
      return isInsertedApart(user->getResult(0), columns);
    if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(user))
      return &use == &insert.getSourceMutable() &&
             takesApart(insert, insert.getDestType(), columns);
    if (auto copy = dyn_cast<bufferization::MaterializeInDestinationOp>(user))
      if (auto type = dyn_cast<MemRefType>(copy.getDest().getType()))
        return liesApart(type, columns);
    auto insert = dyn_cast<tensor::InsertSliceOp>(user);
    auto destination = dyn_cast<DestinationStyleOpInterface>(user);
    if (destination && destination.isDpsInit(&use))
      return isInsertedApart(destination.getTiedOpResult(&use), columns);
    return insert && (takesApart(insert, insert.getType(), columns) ||
                      isOfWhatLiesApart(insert.getDest(), columns) ||
                      isInsertedApart(insert.getResult(), columns));
  });
}
