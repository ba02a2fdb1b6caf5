// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowIndex.cpp - rows of buffers with some leading dimensions -------===//

#include "RowIndex.h"

#include "RMSNorm/IR/AccessMap.h"
#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/TypeSwitch.h"

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
  SmallVector<unsigned> dims(order.begin(), order.end());
  const int64_t rank = cast<MemRefType>(base.getType()).getRank();
  for (int64_t dim = dims.size(); dim < rank; ++dim)
    dims.push_back(dim);
  auto map = AffineMap::getPermutationMap(dims, builder.getContext());
  return memref::TransposeOp::create(builder, base.getLoc(), base,
                                     AffineMapAttr::get(map));
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

namespace {
/// An access to rows, and which dimensions of its buffer, of those that count
/// rows, are of size 1.
struct RowAccess {
  template <typename OpTy>
  RowAccess(OpTy op, scf::ForallOp loop) : base(op.getBaseMutable()) {
    std::optional<RowIndex> index = matchRowIndex(op.getRow(), loop);
    hasAll = !index || index->hasAll();
    auto type = cast<MemRefType>(op.getBase().getType());
    units.resize(type.getRank() - (op.getKind() == TileKind::row ? 0 : 1));
    auto dims = llvm::to_vector(llvm::seq<int64_t>(0, units.size()));
    if constexpr (std::is_same_v<OpTy, TileStoreOp>) {
      const AccessMap access = op.getAccess();
      if (!access.isPlain()) {
        units.resize(type.getRank());
        store = op;
        dims.clear();
        for (unsigned dim = 0; dim < access.getNumRowDims(); ++dim)
          dims.push_back(access.getPlace(dim));
      }
    }
    for (int64_t dim : dims)
      units[dim] = traceDim(op.getBase(), dim) == DimSource{1, Value()};
    // Of one row, too, there is a number.
    if (units.count() == dims.size() && !dims.empty())
      units.reset(dims.front());
  }

  OpOperand &base;
  /// Whether each row of the loop has a row of its own.
  bool hasAll;
  /// If it says in which dimensions rows are counted.
  TileStoreOp store;
  llvm::SmallBitVector units;
};
} // namespace

/// `base` without the dimensions `units`.
static Value dropUnits(OpBuilder &builder, Value base,
                       const llvm::SmallBitVector &units) {
  Location loc = base.getLoc();
  auto type = cast<MemRefType>(base.getType());
  SmallVector<OpFoldResult> offsets(type.getRank(), builder.getIndexAttr(0));
  SmallVector<OpFoldResult> strides(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(builder, loc, base);
  SmallVector<int64_t> shape(type.getShape());
  for (int dim = units.find_last(); dim >= 0; dim = units.find_prev(dim)) {
    sizes[dim] = builder.getIndexAttr(1);
    shape.erase(shape.begin() + dim);
  }
  MemRefType result = memref::SubViewOp::inferRankReducedResultType(
      shape, type, offsets, sizes, strides);
  return memref::SubViewOp::create(builder, loc, result, base, offsets, sizes,
                                   strides);
}

void rmsnorm::dropUnitDimensions(scf::ForallOp loop) {
  SmallVector<RowAccess> accesses;
  auto add = [&](auto op) {
    if (isa<MemRefType>(op.getBase().getType()) && op.getRow() &&
        !loop->isAncestor(op.getBase().getParentBlock()->getParentOp()))
      accesses.emplace_back(op, loop);
  };
  for (Operation &op : *loop.getBody())
    llvm::TypeSwitch<Operation *>(&op).Case<TileLoadOp, TileStoreOp>(add);
  // Rows are counted in the sizes of any buffer that has all of them.
  const RowAccess *most = nullptr;
  for (const RowAccess &access : accesses)
    if (!access.store && (!most || access.units.size() > most->units.size()))
      most = &access;
  auto disagrees = [&](const RowAccess &access) {
    if (access.store)
      return access.units.any() && most && most->units.any();
    return access.units.size() == most->units.size()
               ? access.units != most->units
               : access.hasAll && access.units.size() > 1 && most->units.any();
  };
  if (llvm::none_of(accesses, disagrees))
    return;
  OpBuilder outside(loop);
  SmallVector<std::tuple<Value, llvm::SmallBitVector, Value>> views;
  for (RowAccess &access : accesses) {
    Value base = access.base.get();
    if (access.units.none())
      continue;
    auto known = llvm::find_if(views, [&](const auto &view) {
      return std::get<0>(view) == base && std::get<1>(view) == access.units;
    });
    if (known == views.end()) {
      views.push_back(
          {base, access.units, dropUnits(outside, base, access.units)});
      known = std::prev(views.end());
    }
    access.base.set(std::get<2>(*known));
    if (!access.store)
      continue;
    access.store.setMap(access.store.getAccess().dropPlaces(access.units));
  }
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
             store && store.getAccess().isPlain())
      order(store);
  }
}

LogicalResult rmsnorm::collectSegments(scf::ForallOp loop, int64_t numSizes,
                                       SmallVectorImpl<int64_t> &segments) {
  for (auto sum : loop.getBody()->getOps<AccumulateOp>()) {
    if (!sum.getMap())
      continue;
    const SmallVector<int64_t> dims = sum.getDims();
    if (!segments.empty() && dims != segments)
      return sum.emitOpError("expected all sums over rows of a loop to be over "
                             "the same dimensions, or all, got those but [")
             << dims << "] and [" << segments << "]";
    if (sum.getMap()->getNumDims() - 1 != numSizes)
      return sum.emitOpError("expected rows that are counted in the ")
             << numSizes << " leading dimensions that the map is of";
    segments.assign(dims.begin(), dims.end());
  }
  return success();
}
