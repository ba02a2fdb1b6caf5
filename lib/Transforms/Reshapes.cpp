// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reshapes.cpp - reshapes of arguments and results ------------------===//

#include "Reshapes.h"
#include "RowCluster.h"
#include "StoredLayouts.h"

#include "RMSNorm/IR/DimTrace.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rmsnorm;

bool rmsnorm::isReshape(Operation *op) {
  return isa_and_present<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op);
}

bool rmsnorm::isCollapsed(Value tensor) {
  return llvm::any_of(tensor.getUsers(), [](Operation *user) {
    auto collapse = dyn_cast<tensor::CollapseShapeOp>(user);
    return collapse &&
           llvm::any_of(
               llvm::seq<int64_t>(0, collapse.getResultType().getRank()),
               [&](int64_t dim) { return !getUncollapsedDim(user, dim); });
  });
}

bool rmsnorm::mergesRows(Value tensor) {
  if (auto collapse = tensor.getDefiningOp<tensor::CollapseShapeOp>()) {
    if (llvm::any_of(
            llvm::seq<int64_t>(0, collapse.getResultType().getRank() - 1),
            [&](int64_t dim) { return !getUncollapsedDim(collapse, dim); }))
      return true;
    tensor = collapse.getSrc();
  }
  Operation *op = tensor.getDefiningOp();
  auto groups = dyn_cast_or_null<OpResult>(op ? getReordered(op) : Value());
  if (!groups || groups == tensor)
    return false;
  return llvm::any_of(
      StoredLayout::match(groups,
                          cast<ShapedType>(groups.getType()).getRank() - 1),
      [&](const StoredLayout &layout) {
        return layout.getStored() == tensor &&
               llvm::any_of(llvm::drop_end(layout.getReassociation()),
                            [](const auto &parts) { return parts.size() > 1; });
      });
}

bool rmsnorm::isRead(Value tensor) {
  return llvm::any_of(tensor.getUses(), [](OpOperand &use) {
    if (isa<tensor::DimOp>(use.getOwner()))
      return false;
    if (isReshape(use.getOwner()) ||
        isa<tensor::ExtractSliceOp>(use.getOwner()))
      return isRead(use.getOwner()->getResult(0));
    auto op = dyn_cast<DestinationStyleOpInterface>(use.getOwner());
    return !op || !op.isDpsInit(&use) || isInitRead(use);
  });
}

Value rmsnorm::undoReshape(OpBuilder &builder, Operation *reshape, Value tensor,
                           Value source) {
  Location loc = reshape->getLoc();
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape))
    return tensor::CollapseShapeOp::create(builder, loc, source.getType(),
                                           tensor,
                                           expand.getReassociationIndices());
  return tensor::ExpandShapeOp::create(
      builder, loc, source.getType(), tensor,
      cast<tensor::CollapseShapeOp>(reshape).getReassociationIndices(),
      tensor::getMixedSizes(builder, loc, source));
}

/// Whether `op` inserts one of the last but one dimension, all of the others.
static bool isStacked(tensor::InsertSliceOp op) {
  const int64_t rank = op.getType().getRank();
  return rank >= 2 && op.getDroppedDims().count() == 1 &&
         op.getDroppedDims().test(rank - 2) &&
         !ShapedType::isDynamic(op.getStaticOffsets()[rank - 2]) &&
         op.getStaticOffsets()[rank - 1] == 0 &&
         op.getStaticSizes()[rank - 1] == op.getType().getDimSize(rank - 1) &&
         !op.getType().isDynamicDim(rank - 2) && op.hasUnitStride();
}

void rmsnorm::flattenInsertions(func::FuncOp function) {
  SmallVector<tensor::InsertSliceOp> first;
  function.walk([&](tensor::InsertSliceOp op) {
    if (isStacked(op) && op.getDest().getDefiningOp<tensor::EmptyOp>())
      first.push_back(op);
  });
  for (tensor::InsertSliceOp op : first) {
    RankedTensorType type = op.getType();
    const int64_t last = type.getRank() - 2;
    const int64_t columns = type.getDimSize(last + 1);
    SmallVector<OpFoldResult> sizes =
        op.getDest().getDefiningOp<tensor::EmptyOp>().getMixedSizes();
    OpBuilder builder(op);
    SmallVector<OpFoldResult> flat(llvm::drop_end(sizes));
    flat.back() = builder.getIndexAttr(type.getDimSize(last) * columns);
    Value row = tensor::EmptyOp::create(builder, op.getLoc(), flat,
                                        type.getElementType());
    SmallVector<Operation *> replaced;
    while (op) {
      replaced.push_back(op);
      builder.setInsertionPoint(op);
      SmallVector<OpFoldResult> offsets(op.getMixedOffsets());
      SmallVector<OpFoldResult> parts(op.getMixedSizes());
      SmallVector<OpFoldResult> strides(op.getMixedStrides());
      offsets.pop_back();
      strides.pop_back();
      offsets.back() =
          builder.getIndexAttr(op.getStaticOffsets()[last] * columns);
      parts.erase(parts.end() - 2);
      row = tensor::InsertSliceOp::create(builder, op.getLoc(), op.getSource(),
                                          row, offsets, parts, strides);
      auto next = op->hasOneUse()
                      ? dyn_cast<tensor::InsertSliceOp>(*op->user_begin())
                      : tensor::InsertSliceOp();
      if (next && next.getDest() == op.getResult() && isStacked(next)) {
        op = next;
        continue;
      }
      SmallVector<ReassociationIndices> groups;
      for (int64_t dim = 0; dim <= last; ++dim)
        groups.push_back({dim});
      groups.back().push_back(last + 1);
      op.getResult().replaceAllUsesWith(tensor::ExpandShapeOp::create(
          builder, op.getLoc(), type, row, groups, sizes));
      op = {};
    }
    for (Operation *old : llvm::reverse(replaced))
      old->erase();
  }
}
