// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GroupReshapes.cpp - columns divided into groups --------------------===//

#include "GroupReshapes.h"
#include "Reshapes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::rmsnorm;

bool rmsnorm::isGroupReshape(Operation *op, std::optional<int64_t> rowDims) {
  if (!isReshape(op))
    return false;
  auto expand = dyn_cast<tensor::ExpandShapeOp>(op);
  auto expanded = cast<RankedTensorType>(expand ? expand.getType()
                                                : op->getOperand(0).getType());
  const int64_t rank = expanded.getRank();
  return rank >= 2 && rowDims.value_or(rank - 2) == rank - 2 &&
         !ShapedType::isDynamicShape(expanded.getShape().take_back(2)) &&
         (expand
              ? expand.getReassociationIndices()
              : cast<tensor::CollapseShapeOp>(op).getReassociationIndices()) ==
             getGroupedDims(rank);
}

Value rmsnorm::getRowsOfGroups(Operation *op) {
  return isa<tensor::ExpandShapeOp>(op) ? op->getOperand(0) : op->getResult(0);
}

/// Whether `value` is made of columns divided into groups.
static bool hasGroups(Value value) {
  Operation *op = value.getDefiningOp();
  if (auto expand = dyn_cast_or_null<tensor::ExpandShapeOp>(op))
    return isGroupReshape(expand) &&
           !llvm::is_contained(expand.getResultType().getShape().take_back(2),
                               1);
  if (!isa_and_present<linalg::LinalgOp>(op))
    return false;
  const int64_t rank = cast<ShapedType>(value.getType()).getRank();
  return llvm::any_of(op->getOperands(), [&](Value operand) {
    auto type = dyn_cast<RankedTensorType>(operand.getType());
    return type && type.getRank() == rank && hasGroups(operand);
  });
}

/// Whether `use` is by an op on groups of columns, and of an operand that has
/// groups and their columns, or is written by it.
static bool hasGroups(OpOperand &use) {
  auto op = dyn_cast<linalg::LinalgOp>(use.getOwner());
  if (!op)
    return false;
  if (op.isDpsInit(&use) && hasGroups(op.getTiedOpResult(&use)))
    return true;
  AffineMap map = op.getMatchingIndexingMap(&use);
  const unsigned loops = op.getNumLoops(), rank = map.getNumResults();
  return rank >= 2 && loops >= 2 &&
         map.getResult(rank - 2) ==
             getAffineDimExpr(loops - 2, map.getContext()) &&
         map.getResult(rank - 1) ==
             getAffineDimExpr(loops - 1, map.getContext()) &&
         llvm::any_of(op->getOperands(), [&](Value operand) {
           auto type = dyn_cast<RankedTensorType>(operand.getType());
           return type && type.getRank() == static_cast<int64_t>(loops) &&
                  hasGroups(operand);
         });
}

bool rmsnorm::isReshaped(BlockArgument argument) {
  return isCollapsed(argument) ||
         llvm::any_of(argument.getUses(),
                      [](OpOperand &use) { return hasGroups(use); });
}

Value rmsnorm::collapseOutside(OpBuilder &builder, Operation *loop,
                               Value tensor) {
  auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
  if (slice && !loop->isAncestor(slice))
    slice = {};
  Value whole = slice ? slice.getSource() : tensor;
  if (loop->isAncestor(whole.getParentBlock()->getParentOp()) ||
      (slice && slice.getType().getRank() != slice.getSourceType().getRank()))
    return {};
  OpBuilder outside(loop);
  Value collapsed = collapseGroups(outside, whole);
  if (!slice)
    return collapsed;
  SmallVector<OpFoldResult> offsets(slice.getMixedOffsets());
  SmallVector<OpFoldResult> sizes(slice.getMixedSizes());
  SmallVector<OpFoldResult> strides(slice.getMixedStrides());
  offsets.pop_back();
  strides.pop_back();
  sizes.pop_back();
  sizes.back() = builder.getIndexAttr(
      cast<ShapedType>(collapsed.getType()).getShape().back());
  return tensor::ExtractSliceOp::create(builder, tensor.getLoc(), collapsed,
                                        offsets, sizes, strides);
}

SmallVector<ReassociationIndices> rmsnorm::getGroupedDims(int64_t rank) {
  SmallVector<ReassociationIndices> dims;
  for (int64_t dim = 0; dim < rank - 1; ++dim)
    dims.push_back({dim});
  dims.back().push_back(rank - 1);
  return dims;
}

Value rmsnorm::collapseGroups(OpBuilder &builder, Value value) {
  const int64_t rank = cast<ShapedType>(value.getType()).getRank();
  return tensor::CollapseShapeOp::create(builder, value.getLoc(), value,
                                         getGroupedDims(rank));
}

Value rmsnorm::expandGroups(OpBuilder &builder, Value value,
                            RankedTensorType type) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, value.getLoc(), value);
  const int64_t rank = sizes.size();
  sizes.back() = builder.getIndexAttr(type.getDimSize(rank - 1));
  sizes.push_back(builder.getIndexAttr(type.getDimSize(rank)));
  return tensor::ExpandShapeOp::create(builder, value.getLoc(), type, value,
                                       getGroupedDims(rank + 1), sizes);
}

Value rmsnorm::extractRow(OpBuilder &builder, Value tensor,
                          ArrayRef<OpFoldResult> indices) {
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, tensor.getLoc(), tensor);
  SmallVector<OpFoldResult> offsets(sizes.size(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  for (auto [dim, index] : llvm::enumerate(indices)) {
    offsets[dim] = index;
    sizes[dim] = builder.getIndexAttr(1);
  }
  return tensor::ExtractSliceOp::create(builder, tensor.getLoc(), tensor,
                                        offsets, sizes, strides);
}

Value rmsnorm::reshapeRow(OpBuilder &builder, Operation *op, Value row) {
  if (isa<tensor::CollapseShapeOp>(op))
    return collapseGroups(builder, row);
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<int64_t> shape(type.getRank() - 2, 1);
  llvm::append_range(shape, type.getShape().take_back(2));
  return expandGroups(builder, row, type.clone(shape));
}
