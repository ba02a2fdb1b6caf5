// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reshapes.cpp - reshapes of arguments and results ------------------===//

#include "Reshapes.h"
#include "GroupReshapes.h"
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

namespace {
/// Columns of rows: the first one, how many, and how far apart.
struct Columns {
  int64_t first, count, step;
};
} // namespace

/// Which columns of [.., K * P] `slice` of [.., K, P], `type`, takes or puts:
/// all of one k or, of pairs, all of one p.
template <typename OpTy>
static std::optional<Columns> getColumns(OpTy slice, RankedTensorType type) {
  const int64_t last = type.getRank() - 1;
  llvm::SmallBitVector dropped = slice.getDroppedDims();
  if (last < 1 || dropped.count() != 1 || !slice.hasUnitStride())
    return std::nullopt;
  const int64_t one = dropped.find_first(), whole = 2 * last - 1 - one;
  const int64_t offset = slice.getStaticOffsets()[one];
  if (one < last - 1 || type.isDynamicDim(last) ||
      type.isDynamicDim(last - 1) || ShapedType::isDynamic(offset) ||
      slice.getStaticSizes()[whole] != type.getDimSize(whole))
    return std::nullopt;
  const int64_t columns = type.getDimSize(last);
  if (one == last - 1)
    return Columns{offset * columns, columns, 1};
  return columns == 2 ? std::optional(
                            Columns{offset, type.getDimSize(last - 1), columns})
                      : std::nullopt;
}

namespace {
/// The operands of a slice of rows that takes or puts `columns` where `slice`
/// does it in two dimensions.
struct RowSlice {
  RowSlice(OffsetSizeAndStrideOpInterface slice, const Columns &columns)
      : offsets(slice.getMixedOffsets()), sizes(slice.getMixedSizes()),
        strides(slice.getMixedStrides()) {
    Builder builder(slice.getContext());
    for (auto [values, value] :
         {std::pair(&offsets, columns.first), std::pair(&sizes, columns.count),
          std::pair(&strides, columns.step)}) {
      values->pop_back();
      values->back() = builder.getIndexAttr(value);
    }
  }

  SmallVector<OpFoldResult> offsets, sizes, strides;
};
} // namespace

/// Slices of rows whose columns are divided in two dimensions. Those of an
/// argument at one place are tensors of their own.
static void flattenSlices(func::FuncOp function) {
  function.walk([](tensor::ExtractSliceOp op) {
    auto expand = op.getSource().getDefiningOp<tensor::ExpandShapeOp>();
    auto columns = getColumns(op, op.getSourceType());
    if (!expand || !columns ||
        (isa<BlockArgument>(expand.getSrc()) && columns->step == 1) ||
        expand.getReassociationIndices() !=
            getGroupedDims(op.getSourceType().getRank()))
      return;
    const RowSlice slice(op, *columns);
    OpBuilder builder(op);
    op.replaceAllUsesWith(
        tensor::ExtractSliceOp::create(builder, op.getLoc(), op.getType(),
                                       expand.getSrc(), slice.offsets,
                                       slice.sizes, slice.strides)
            .getResult());
    op.erase();
    if (expand->use_empty())
      expand.erase();
  });
}

void rmsnorm::flattenParts(func::FuncOp function) {
  flattenSlices(function);
  SmallVector<tensor::InsertSliceOp> first;
  function.walk([&](tensor::InsertSliceOp op) {
    if (getColumns(op, op.getType()) &&
        op.getDest().getDefiningOp<tensor::EmptyOp>())
      first.push_back(op);
  });
  for (tensor::InsertSliceOp op : first) {
    RankedTensorType type = op.getType();
    const int64_t last = type.getRank() - 2;
    SmallVector<OpFoldResult> sizes =
        op.getDest().getDefiningOp<tensor::EmptyOp>().getMixedSizes();
    OpBuilder builder(op);
    SmallVector<OpFoldResult> flat(llvm::drop_end(sizes));
    flat.back() =
        builder.getIndexAttr(type.getDimSize(last) * type.getDimSize(last + 1));
    Value row = tensor::EmptyOp::create(builder, op.getLoc(), flat,
                                        type.getElementType());
    SmallVector<Operation *> replaced;
    while (op) {
      replaced.push_back(op);
      builder.setInsertionPoint(op);
      const RowSlice slice(op, *getColumns(op, type));
      row = tensor::InsertSliceOp::create(builder, op.getLoc(), op.getSource(),
                                          row, slice.offsets, slice.sizes,
                                          slice.strides);
      auto next = op->hasOneUse()
                      ? dyn_cast<tensor::InsertSliceOp>(*op->user_begin())
                      : tensor::InsertSliceOp();
      if (next && next.getDest() == op.getResult() && getColumns(next, type)) {
        op = next;
        continue;
      }
      // Whoever has them as rows again, has them.
      for (Operation *user : llvm::make_early_inc_range(op->getUsers()))
        if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(user);
            collapse && collapse.getType() == row.getType()) {
          collapse.replaceAllUsesWith(row);
          collapse.erase();
        }
      if (!op->use_empty())
        op.getResult().replaceAllUsesWith(tensor::ExpandShapeOp::create(
            builder, op.getLoc(), type, row, getGroupedDims(type.getRank()),
            sizes));
      op = {};
    }
    for (Operation *old : llvm::reverse(replaced))
      old->erase();
  }
}
