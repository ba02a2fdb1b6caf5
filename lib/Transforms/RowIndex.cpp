// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowIndex.cpp - rows of buffers with some leading dimensions -------===//

#include "RowIndex.h"

#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static bool match(Value row, scf::ForallOp loop, RowIndex &index) {
  if (auto indices = row.getDefiningOp<affine::AffineDelinearizeIndexOp>()) {
    const int64_t dim = cast<OpResult>(row).getResultNumber();
    if (indices.getLinearIndex() != loop.getInductionVar(0) ||
        (index.indices && index.indices != indices) ||
        llvm::is_contained(index.dims, dim))
      return false;
    index.indices = indices;
    index.dims.push_back(dim);
    return true;
  }
  auto sum = row.getDefiningOp<arith::AddIOp>();
  auto product =
      sum ? sum.getLhs().getDefiningOp<arith::MulIOp>() : arith::MulIOp();
  if (!product || !match(product.getLhs(), loop, index) ||
      !match(sum.getRhs(), loop, index))
    return false;
  OpFoldResult size = index.indices.getPaddedBasis()[index.dims.back()];
  return size && traceSize(size) == traceSize(product.getRhs());
}

std::optional<RowIndex> rmsnorm::matchRowIndex(Value row, scf::ForallOp loop) {
  RowIndex index;
  if (!row || !match(row, loop, index))
    return std::nullopt;
  return index;
}

bool rmsnorm::isRowIndex(Operation *op) {
  return isa<affine::AffineDelinearizeIndexOp, arith::MulIOp, arith::AddIOp>(
             op) &&
         llvm::all_of(op->getResultTypes(), llvm::IsaPred<IndexType>) &&
         llvm::all_of(op->getUsers(), [](Operation *user) {
           return isa<TileLoadOp, TileStoreOp>(user) || isRowIndex(user);
         });
}

bool RowIndex::hasAll() {
  return dims.size() == indices.getPaddedBasis().size();
}

/// `base` with the leading dimensions `order`, the others behind them.
static Value createView(OpBuilder &builder, Value base,
                        ArrayRef<int64_t> order) {
  Location loc = base.getLoc();
  SmallVector<int64_t> dims(order);
  auto type = cast<MemRefType>(base.getType());
  for (int64_t dim = dims.size(); dim < type.getRank(); ++dim)
    dims.push_back(dim);
  auto metadata = memref::ExtractStridedMetadataOp::create(builder, loc, base);
  auto [typeStrides, typeOffset] = type.getStridesAndOffset();
  SmallVector<int64_t> strides = applyPermutation(typeStrides, dims);
  auto viewType = MemRefType::get(
      applyPermutation(type.getShape(), dims), type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), typeOffset, strides),
      type.getMemorySpace());
  return memref::ReinterpretCastOp::create(
      builder, loc, viewType, base, metadata.getConstifiedMixedOffset(),
      applyPermutation(memref::getMixedSizes(builder, loc, base), dims),
      applyPermutation(metadata.getConstifiedMixedStrides(), dims));
}

/// The row that is counted in the `index.dims`.
static Value createRow(OpBuilder &builder, Location loc, RowIndex &index) {
  if (index.hasAll())
    return index.indices.getLinearIndex();
  SmallVector<OpFoldResult> basis = index.indices.getPaddedBasis();
  OpBuilder outside(index.indices->getParentOp());
  Value row;
  for (int64_t dim : index.dims) {
    Value next = index.indices.getResult(dim);
    if (row)
      next = arith::AddIOp::create(
          builder, loc,
          arith::MulIOp::create(
              builder, loc, row,
              getValueOrCreateConstantIndexOp(outside, loc, basis[dim])),
          next);
    row = next;
  }
  return row;
}

void rmsnorm::orderDimensions(scf::ForallOp loop) {
  llvm::DenseMap<std::pair<Value, ArrayAttr>, Value> views;
  OpBuilder outside(loop);
  auto order = [&](auto op) {
    auto index = matchRowIndex(op.getRow(), loop);
    if (!index || llvm::is_sorted(index->dims))
      return;
    auto type = dyn_cast<MemRefType>(op.getBase().getType());
    if (!type || loop->isAncestor(op.getBase().getParentBlock()->getParentOp()))
      return;
    // Dimensions of size 1 are no indices: they keep their places.
    SmallVector<int64_t> own, dims;
    const int64_t leading =
        type.getRank() - (op.getKind() == TileKind::row ? 0 : 1);
    for (int64_t dim = 0; dim < leading; ++dim)
      if (type.getDimSize(dim) != 1)
        own.push_back(dim);
    if (own.size() != index->dims.size())
      return;
    SmallVector<int64_t> sorted = index->dims;
    llvm::sort(sorted);
    for (int64_t dim = 0, next = 0; dim < leading; ++dim)
      dims.push_back(type.getDimSize(dim) == 1
                         ? dim
                         : own[llvm::find(index->dims, sorted[next++]) -
                               index->dims.begin()]);
    Value &view = views[{op.getBase(), outside.getI64ArrayAttr(dims)}];
    if (!view)
      view = createView(outside, op.getBase(), dims);
    index->dims = sorted;
    OpBuilder builder(op);
    op.getBaseMutable().assign(view);
    op.getRowMutable().assign(createRow(builder, op.getLoc(), *index));
  };
  for (Operation &op : llvm::make_early_inc_range(*loop.getBody())) {
    if (auto load = dyn_cast<TileLoadOp>(op))
      order(load);
    else if (auto store = dyn_cast<TileStoreOp>(op);
             store && !store.getRowDims())
      order(store);
  }
}

LogicalResult rmsnorm::collectSegments(scf::ForallOp loop, int64_t numSizes,
                                       SmallVectorImpl<int64_t> &segments) {
  for (auto sum : loop.getBody()->getOps<AccumulateOp>()) {
    ArrayRef<int64_t> dims = sum.getDims();
    if (dims.empty())
      continue;
    if (!segments.empty() && dims != ArrayRef<int64_t>(segments))
      return sum.emitOpError("expected all sums over rows of a loop to be over "
                             "the same dimensions, or all, got dims [")
             << dims << "] and [" << segments << "]";
    auto rank = loop->getAttrOfType<IntegerAttr>(RMSNormDialect::kRowsAttrName);
    if (rank.getInt() != numSizes)
      return sum.emitOpError("expected rows that are counted in the ")
             << numSizes << " leading dimensions that dims are of";
    segments.assign(dims.begin(), dims.end());
  }
  return success();
}
