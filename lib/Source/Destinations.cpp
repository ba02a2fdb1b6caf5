// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Destinations.cpp - what is left of a destination -------------------===//

#include "RMSNorm/Source/Destinations.h"

#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// The insertion into the result of `op`, if that is all that uses it.
static tensor::InsertSliceOp getNext(tensor::InsertSliceOp op) {
  auto next = op->hasOneUse()
                  ? dyn_cast<tensor::InsertSliceOp>(*op->user_begin())
                  : tensor::InsertSliceOp();
  return next && next.getDest() == op.getResult() ? next
                                                  : tensor::InsertSliceOp();
}

static bool takesAll(tensor::InsertSliceOp op, int64_t dim) {
  return isZeroInteger(op.getMixedOffsets()[dim]) &&
         isOneInteger(op.getMixedStrides()[dim]) &&
         traceSize(op.getMixedSizes()[dim]) == traceDim(op.getDest(), dim);
}

/// Marks in `covered` which elements of the dimensions `dims` of what `op`
/// inserts into are overwritten. False if they are not known.
static bool cover(tensor::InsertSliceOp op, ArrayRef<int64_t> dims,
                  llvm::BitVector &covered) {
  SmallVector<int64_t> elements = {0};
  for (int64_t dim : dims) {
    const int64_t offset = op.getStaticOffsets()[dim],
                  size = op.getStaticSizes()[dim],
                  stride = op.getStaticStrides()[dim];
    if (ShapedType::isDynamic(offset) || ShapedType::isDynamic(size) ||
        ShapedType::isDynamic(stride))
      return false;
    SmallVector<int64_t> next;
    for (int64_t element : elements)
      for (int64_t i = 0; i < size; ++i)
        next.push_back(element * op.getType().getDimSize(dim) + offset +
                       i * stride);
    elements = std::move(next);
  }
  for (int64_t element : elements)
    covered.set(element);
  return true;
}

/// Whether `op` and what inserts into its result leave nothing of what it
/// inserts into.
static bool overwrites(tensor::InsertSliceOp op) {
  constexpr int64_t kMostElements = 1 << 16;
  RankedTensorType type = op.getType();
  SmallVector<int64_t> dims;
  int64_t count = 1;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool isWhole = true;
    for (tensor::InsertSliceOp next = op; next; next = getNext(next))
      isWhole &= takesAll(next, dim);
    if (isWhole)
      continue;
    if (type.isDynamicDim(dim) ||
        type.getDimSize(dim) > kMostElements / std::max<int64_t>(count, 1))
      return false;
    dims.push_back(dim);
    count *= type.getDimSize(dim);
  }
  llvm::BitVector covered(count);
  for (tensor::InsertSliceOp next = op; next; next = getNext(next))
    if (!cover(next, dims, covered))
      return false;
  return covered.all();
}

bool rmsnorm::isInitRead(OpOperand &init) {
  Operation *op = init.getOwner();
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    return linalgOp.payloadUsesValueFromOperand(&init);
  if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op))
    return !overwrites(insertion);
  return !isa<ForwardOp, BackwardOp>(op);
}
