// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Views.cpp - layouts through reshapes, slices and casts ------------===//

#include "RMSNorm/Access/Views.h"

#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;

bool access::isView(Operation *op) {
  if (isa_and_present<tensor::CastOp>(op))
    return isa<RankedTensorType>(op->getOperand(0).getType()) &&
           isa<RankedTensorType>(op->getResult(0).getType());
  return isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                         tensor::ExtractSliceOp>(op);
}

Value access::getViewSource(Value value) {
  while (isView(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

static SmallVector<Size> getSizes(Digits &digits, Value value,
                                  ArrayRef<int64_t> dims) {
  return llvm::map_to_vector(
      dims, [&](int64_t dim) { return digits.getSizes().get(value, dim); });
}

/// From a tensor with more dimensions, `wide`, to one with fewer.
static std::optional<Layout> joinGroups(Digits &digits, Value wide,
                                        ArrayRef<ReassociationIndices> groups,
                                        const Layout &layout) {
  Layout joined;
  for (const ReassociationIndices &group : groups) {
    std::optional<Sum> sum =
        digits.join(ArrayRef(layout).slice(group.front(), group.size()),
                    getSizes(digits, wide, group));
    if (!sum)
      return std::nullopt;
    joined.push_back(std::move(*sum));
  }
  return joined;
}

/// From a tensor with fewer dimensions to one with more, `wide`.
static std::optional<Layout> splitGroups(Digits &digits, Value wide,
                                         ArrayRef<ReassociationIndices> groups,
                                         const Layout &layout) {
  // A tensor of rank 0 has no groups; all dimensions have size 1 then.
  if (groups.empty())
    return Layout(cast<RankedTensorType>(wide.getType()).getRank());
  Layout parts;
  for (auto [sum, group] : llvm::zip_equal(layout, groups)) {
    std::optional<Layout> split =
        digits.split(sum, getSizes(digits, wide, group));
    if (!split)
      return std::nullopt;
    llvm::append_range(parts, *split);
  }
  return digits.resolve(parts);
}

/// From the slice to the tensor that it is cut from or inserted into.
static std::optional<Layout> addOffsets(OffsetSizeAndStrideOpInterface slice,
                                        const llvm::SmallBitVector &dropped,
                                        const Layout &layout) {
  Layout whole;
  auto *sum = layout.begin();
  for (auto [dim, mixedOffset, mixedStride] :
       llvm::enumerate(slice.getMixedOffsets(), slice.getMixedStrides())) {
    std::optional<int64_t> offset = getConstantIntValue(mixedOffset);
    std::optional<int64_t> stride = getConstantIntValue(mixedStride);
    if (!offset || !stride)
      return std::nullopt;
    std::optional<Sum> scaled =
        Digits::scale(dropped.test(dim) ? Sum() : *sum++, *offset, *stride);
    if (!scaled)
      return std::nullopt;
    whole.push_back(std::move(*scaled));
  }
  return whole;
}

/// Whether the slice has all of dimension `dim` of `whole`.
static bool takesAll(Digits &digits, OffsetSizeAndStrideOpInterface slice,
                     Value whole, int64_t dim) {
  Sizes &sizes = digits.getSizes();
  return isZeroInteger(slice.getMixedOffsets()[dim]) &&
         isOneInteger(slice.getMixedStrides()[dim]) &&
         sizes.get(slice.getMixedSizes()[dim]) == sizes.get(whole, dim);
}

std::optional<Layout> access::readThrough(Digits &digits, Operation *view,
                                          const Layout &layout) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(view))
    return joinGroups(digits, expand.getResult(),
                      expand.getReassociationIndices(), layout);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(view))
    return splitGroups(digits, collapse.getSrc(),
                       collapse.getReassociationIndices(), layout);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(view))
    return addOffsets(slice, slice.getDroppedDims(), layout);
  return layout;
}

std::optional<Layout> access::writeThrough(Digits &digits, Operation *view,
                                           const Layout &layout) {
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(view))
    return splitGroups(digits, expand.getResult(),
                       expand.getReassociationIndices(), layout);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(view))
    return joinGroups(digits, collapse.getSrc(),
                      collapse.getReassociationIndices(), layout);
  auto slice = dyn_cast<tensor::ExtractSliceOp>(view);
  if (!slice)
    return layout;
  Layout kept;
  const llvm::SmallBitVector dropped = slice.getDroppedDims();
  for (auto [dim, sum] : llvm::enumerate(layout)) {
    if (!takesAll(digits, slice, slice.getSource(), dim))
      return std::nullopt;
    if (!dropped.test(dim))
      kept.push_back(sum);
  }
  return kept;
}

std::optional<Layout> access::writeThrough(tensor::InsertSliceOp op,
                                           const Layout &layout) {
  return addOffsets(op, op.getDroppedDims(), layout);
}

static std::optional<Layout> getInsertedLayout(Digits &digits,
                                               tensor::InsertSliceOp op,
                                               const Layout &layout) {
  Layout whole;
  const llvm::SmallBitVector dropped = op.getDroppedDims();
  auto *next = layout.begin();
  for (int64_t dim = 0; dim < op.getType().getRank(); ++dim) {
    const Sum sum = dropped.test(dim) ? Sum() : *next++;
    if (takesAll(digits, op, op.getDest(), dim)) {
      whole.push_back(sum);
      continue;
    }
    const Size size = digits.getSizes().get(op.getDest(), dim);
    if (digits.hasRows(sum) || !size.isStatic())
      return std::nullopt;
    whole.push_back(digits.getSum(digits.add(size, /*isRow=*/false)));
  }
  return whole;
}

std::optional<Layout> access::getWholeLayout(Digits &digits, Value value,
                                             const Layout &layout) {
  Layout whole;
  for (auto [dim, sum] : llvm::enumerate(layout)) {
    const Size size = digits.getSizes().get(value, dim);
    if (!digits.hasColumns(sum) || digits.counts(sum, size)) {
      whole.push_back(sum);
      continue;
    }
    if (digits.hasRows(sum) || !size.isStatic())
      return std::nullopt;
    whole.push_back(digits.getSum(digits.add(size, /*isRow=*/false)));
  }
  return whole;
}

std::optional<Layout> access::getPartLayout(Digits &digits,
                                            tensor::InsertSliceOp op,
                                            const Layout &layout) {
  Layout part;
  const llvm::SmallBitVector dropped = op.getDroppedDims();
  for (auto [dim, sum] : llvm::enumerate(layout)) {
    const bool isWhole = takesAll(digits, op, op.getDest(), dim);
    const Size size = digits.getSizes().get(op.getMixedSizes()[dim]);
    if (!isWhole && (digits.hasRows(sum) || !size.isStatic()))
      return std::nullopt;
    if (!dropped.test(dim))
      part.push_back(
          isWhole ? sum : digits.getSum(digits.add(size, /*isRow=*/false)));
  }
  return part;
}

std::optional<Layout> access::getViewLayout(Digits &digits, Operation *view,
                                            const Layout &layout) {
  if (auto insertion = dyn_cast<tensor::InsertSliceOp>(view))
    return getInsertedLayout(digits, insertion, layout);
  auto slice = dyn_cast<tensor::ExtractSliceOp>(view);
  if (!slice)
    return writeThrough(digits, view, layout);
  Layout kept;
  const llvm::SmallBitVector dropped = slice.getDroppedDims();
  for (auto [dim, sum] : llvm::enumerate(layout)) {
    Sum part = sum;
    if (!takesAll(digits, slice, slice.getSource(), dim)) {
      std::optional<int64_t> size =
          getConstantIntValue(slice.getMixedSizes()[dim]);
      if (digits.hasRows(sum) || !size || *size < 1)
        return std::nullopt;
      // Columns are positions: those of the slice have a digit of their own.
      part = dropped.test(dim)
                 ? Sum()
                 : digits.getSum(digits.add(Size(*size), /*isRow=*/false));
    }
    if (!dropped.test(dim))
      kept.push_back(part);
  }
  return kept;
}

bool access::isOutside(const Digits &digits,
                       OffsetSizeAndStrideOpInterface slice,
                       const Layout &layout) {
  for (auto [dim, sum] : llvm::enumerate(layout)) {
    std::optional<int64_t> offset =
        getConstantIntValue(slice.getMixedOffsets()[dim]);
    std::optional<int64_t> size =
        getConstantIntValue(slice.getMixedSizes()[dim]);
    std::optional<int64_t> stride =
        getConstantIntValue(slice.getMixedStrides()[dim]);
    if (!offset || !stride || *stride < 1 || sum.operand)
      continue;
    if (auto range = digits.getRange(sum);
        range && (range->second < *offset ||
                  (size && range->first > *offset + (*size - 1) * *stride)))
      return true;
    // Between the elements of the slice.
    const bool inSteps = llvm::all_of(sum.terms, [&](const Term &term) {
      return term.factor.getNumber() % *stride == 0;
    });
    if (inSteps && (sum.offset - *offset) % *stride != 0)
      return true;
  }
  return false;
}
