// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- StoredLayouts.cpp - groups stored in another order than row-major -===//

#include "StoredLayouts.h"
#include "RowCluster.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static std::optional<Transpose> matchPermutation(Operation *op) {
  if (auto transpose = dyn_cast_or_null<linalg::TransposeOp>(op);
      transpose && transpose.hasPureTensorSemantics())
    return Transpose{transpose.getInput(),
                     SmallVector<int64_t>(transpose.getPermutation())};
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!generic || !generic.hasPureTensorSemantics())
    return std::nullopt;
  if (auto permutation = linalg::isaTransposeOpInterface(generic))
    return Transpose{generic.getDpsInputs().front(), *permutation};
  // With the loops of what is copied.
  SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
  if (!generic.isAllParallelLoops() || !generic.isSingleInputOutput() ||
      !generic.isSingleYieldOp() || !maps[0].isIdentity() ||
      !maps[1].isPermutation())
    return std::nullopt;
  return Transpose{
      generic.getDpsInputs().front(),
      llvm::map_to_vector(maps[1].getResults(), [](AffineExpr expr) {
        return static_cast<int64_t>(cast<AffineDimExpr>(expr).getPosition());
      })};
}

std::optional<Transpose> rmsnorm::matchTranspose(Value value) {
  std::optional<Transpose> match = matchPermutation(value.getDefiningOp());
  return match && !isIdentityPermutation(match->permutation) ? match
                                                             : std::nullopt;
}

linalg::GenericOp rmsnorm::createCopy(OpBuilder &builder, Location loc,
                                      const Transpose &transpose, Value dest) {
  const unsigned rank = transpose.permutation.size();
  auto map =
      AffineMap::getPermutationMap(transpose.permutation, builder.getContext());
  return linalg::GenericOp::create(
      builder, loc, dest.getType(), transpose.source, dest,
      {builder.getMultiDimIdentityMap(rank), map},
      SmallVector<utils::IteratorType>(rank, utils::IteratorType::parallel),
      [](OpBuilder &builder, Location loc, ValueRange elements) {
        linalg::YieldOp::create(builder, loc, elements.front());
      });
}

std::optional<SmallVector<int64_t>>
rmsnorm::matchTransposedInit(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumDpsInits() != 1 ||
      matchTranspose(op->getResult(0)))
    return std::nullopt;
  OpOperand &init = op.getDpsInitsMutable()[0];
  AffineMap map = op.getMatchingIndexingMap(&init);
  if (!map.isProjectedPermutation() || map.getNumResults() < 2 ||
      (op.payloadUsesValueFromOperand(&init) &&
       !init.get().getDefiningOp<linalg::FillOp>()))
    return std::nullopt;
  auto permutation = llvm::map_to_vector(
      compressUnusedDims(map).getResults(), [](AffineExpr expr) -> int64_t {
        return cast<AffineDimExpr>(expr).getPosition();
      });
  if (permutation.back() + 1 == static_cast<int64_t>(permutation.size()))
    return std::nullopt;
  return permutation;
}

//===----------------------------------------------------------------------===//
// Matching
//===----------------------------------------------------------------------===//

StoredLayout::StoredLayout(Value groups, int64_t rowDims) : rowDims(rowDims) {
  auto type = cast<RankedTensorType>(groups.getType());
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    original.emplace_back();
    if (size == 1)
      continue;
    original.back().push_back(parts.size());
    parts.push_back({static_cast<int64_t>(dim), size});
  }
  stored = original;
}

/// Takes the innermost `size` elements of `from`.
bool StoredLayout::takeParts(SmallVectorImpl<unsigned> &from, int64_t size,
                             SmallVectorImpl<unsigned> &taken) {
  if (ShapedType::isDynamic(size)) {
    taken.assign(from.begin(), from.end());
    from.clear();
    return true;
  }
  while (size != 1) {
    if (from.empty() || size == 0)
      return false;
    const unsigned part = from.back();
    int64_t &own = parts[part].size;
    if (!ShapedType::isDynamic(own) && own != 0 && size % own == 0) {
      taken.insert(taken.begin(), part);
      from.pop_back();
      size /= own;
      continue;
    }
    if (!ShapedType::isDynamic(own) && own % size != 0)
      return false;
    if (!ShapedType::isDynamic(own))
      own /= size;
    const int64_t dim = parts[part].dim;
    auto &all = original[dim];
    all.insert(std::next(llvm::find(all, part)), parts.size());
    taken.insert(taken.begin(), parts.size());
    parts.push_back({dim, size});
    size = 1;
  }
  return true;
}

bool StoredLayout::expand(tensor::ExpandShapeOp op) {
  Dims expanded(op.getResultType().getRank());
  for (auto [from, dims] : llvm::zip(stored, op.getReassociationIndices())) {
    for (int64_t dim : llvm::reverse(dims)) {
      const int64_t size = op.getResultType().getDimSize(dim);
      // What is left may be more than it.
      if ((ShapedType::isDynamic(size) && dim != dims.front()) ||
          !takeParts(from, size, expanded[dim]))
        return false;
    }
    if (!from.empty())
      return false;
  }
  stored = std::move(expanded);
  return true;
}

/// The groups become the first rows of more.
bool StoredLayout::insert(tensor::InsertSliceOp op) {
  RankedTensorType type = op.getType();
  if (!ops.empty() || op.getSourceType().getRank() != type.getRank() ||
      !op.hasUnitStride() || !op.hasZeroOffset() || original[0].empty())
    return false;
  for (int64_t dim = 1; dim < type.getRank(); ++dim)
    if (!(traceDim(op.getSource(), dim) == traceDim(op.getDest(), dim)))
      return false;
  parts[original[0].front()].size = type.getDimSize(0);
  return true;
}

/// Whether rows that `op`, if it is part of the layout, does not insert are
/// those of the destination, at their places.
bool StoredLayout::keepsRest(tensor::InsertSliceOp op) const {
  auto destination = cast<linalg::LinalgOp>(ops.back()).getDpsInits().front();
  SmallVector<Operation *> undone;
  for (Value value = op.getDest(); value != destination;) {
    Operation *definition = value.getDefiningOp();
    if (!definition || isa<tensor::InsertSliceOp>(definition) ||
        definition->getNumOperands() == 0)
      return false;
    undone.push_back(definition);
    value = definition->getOperand(0);
  }
  StoredLayout rest(destination,
                    cast<ShapedType>(destination.getType()).getRank());
  auto follows = [&](Operation *next) { return rest.follow(next); };
  return llvm::all_of(llvm::reverse(undone), follows) &&
         llvm::all_of(ArrayRef(ops).drop_front(), follows) &&
         rest.stored == rest.original;
}

/// Whether `op` is one that a layout may have; adds it if so.
bool StoredLayout::follow(Operation *op) {
  if (auto expansion = dyn_cast<tensor::ExpandShapeOp>(op)) {
    if (!expand(expansion))
      return false;
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    Dims collapsed;
    for (const ReassociationIndices &dims :
         collapse.getReassociationIndices()) {
      collapsed.emplace_back();
      for (int64_t dim : dims)
        llvm::append_range(collapsed.back(), stored[dim]);
    }
    stored = std::move(collapsed);
  } else if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op)) {
    if (!insert(insertion))
      return false;
  } else {
    std::optional<Transpose> transpose = op->getNumResults() == 1
                                             ? matchTranspose(op->getResult(0))
                                             : std::nullopt;
    if (!transpose)
      return false;
    stored = applyPermutation(stored, transpose->permutation);
  }
  ops.push_back(op);
  return true;
}

std::pair<SmallVector<unsigned>, bool> StoredLayout::getRowParts() const {
  SmallVector<unsigned> rows;
  bool isDivided = false;
  for (const auto &dim : ArrayRef(original).take_front(rowDims)) {
    llvm::append_range(rows, dim);
    isDivided |= dim.size() > 1;
  }
  return {rows, isDivided};
}

bool StoredLayout::isStorable() const {
  SmallVector<unsigned> groups;
  for (const auto &dim : stored) {
    int64_t dynamic = 0;
    for (unsigned part : dim) {
      dynamic += ShapedType::isDynamic(parts[part].size);
      if (!isRow(part))
        groups.push_back(part);
    }
    if (dynamic > 1)
      return false;
  }
  auto [rows, isDivided] = getRowParts();
  const bool isCounted =
      !isDivided ||
      llvm::all_of(ArrayRef(rows).drop_front(), [&](unsigned row) {
        return !ShapedType::isDynamic(parts[row].size);
      });
  // Rows in another order are an affair of the op that copies them.
  const bool isPlain = static_cast<int64_t>(stored.size()) == rowDims + 1 &&
                       stored.back() == original[rowDims];
  auto insertion = dyn_cast<tensor::InsertSliceOp>(ops.front());
  return !isPlain && isCounted && ArrayRef(groups).equals(original[rowDims]) &&
         (!insertion || keepsRest(insertion));
}

SmallVector<StoredLayout, 1> StoredLayout::match(OpResult groups,
                                                 int64_t rowDims) {
  auto type = dyn_cast<RankedTensorType>(groups.getType());
  SmallVector<StoredLayout, 1> layouts;
  if (!type || rowDims <= 0 || type.getRank() != rowDims + 1 ||
      type.isDynamicDim(rowDims) || type.getDimSize(rowDims) == 1)
    return layouts;
  for (OpOperand &first : groups.getUses()) {
    StoredLayout layout(groups, rowDims);
    std::optional<StoredLayout> match;
    for (OpOperand *use = &first;
         use->getOperandNumber() == 0 && layout.follow(use->getOwner());) {
      Value value = use->getOwner()->getResult(0);
      if (isa<linalg::LinalgOp>(use->getOwner()) && layout.isStorable())
        match = layout;
      if (!value.hasOneUse())
        break;
      use = &*value.use_begin();
    }
    if (match)
      layouts.push_back(std::move(*match));
  }
  return layouts;
}

bool rmsnorm::reorders(Operation *op) {
  return isa_and_present<tensor::ExpandShapeOp, tensor::CollapseShapeOp,
                         tensor::InsertSliceOp>(op) ||
         (op && op->getNumResults() == 1 && matchTranspose(op->getResult(0)));
}

Value rmsnorm::getReordered(Operation *op) {
  Value value = op->getResult(0);
  while (reorders(value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return value;
}

Value rmsnorm::getStoredGroups(Operation *op, int64_t rowDims) {
  if (auto groups = dyn_cast<OpResult>(getReordered(op)))
    for (const StoredLayout &layout : StoredLayout::match(groups, rowDims))
      if (llvm::is_contained(layout.getOps(), op))
        return groups;
  return {};
}

bool rmsnorm::hasGroupsOf(Value value, const RowCluster &cluster) {
  auto type = cast<RankedTensorType>(value.getType());
  const bool hasGroups = llvm::any_of(cluster.members, [&](Operation *op) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
    return isGroupReshape(op, cluster.rowDims) ||
           (linalgOp && linalgOp.getNumLoops() > cluster.rowDims + 1);
  });
  return hasGroups && type.getRank() == cluster.rowDims + 1 &&
         llvm::any_of(cluster.columns, [&](const DimSource &columns) {
           return columns.isStatic() && columns.size > type.getShape().back();
         });
}

//===----------------------------------------------------------------------===//
// Storing
//===----------------------------------------------------------------------===//

OpResult StoredLayout::getStored() const { return ops.back()->getResult(0); }

SmallVector<ReassociationIndices> StoredLayout::getReassociation() const {
  SmallVector<ReassociationIndices> reassociation;
  int64_t next = 0;
  for (const auto &dim : stored) {
    reassociation.emplace_back();
    for (size_t i = 0; i < std::max<size_t>(1, dim.size()); ++i)
      reassociation.back().push_back(next++);
  }
  return reassociation;
}

Value StoredLayout::expandDestination(OpBuilder &builder) const {
  Value destination = cast<linalg::LinalgOp>(ops.back()).getDpsInits().front();
  auto type = cast<RankedTensorType>(destination.getType());
  SmallVector<int64_t> shape;
  for (auto [dim, size] : llvm::zip(stored, type.getShape())) {
    if (dim.size() <= 1)
      shape.push_back(size);
    else
      for (unsigned part : dim)
        shape.push_back(parts[part].size);
  }
  if (static_cast<int64_t>(shape.size()) == type.getRank())
    return destination;
  return tensor::ExpandShapeOp::create(builder, destination.getLoc(),
                                       type.clone(shape), destination,
                                       getReassociation());
}

Value StoredLayout::collapse(OpBuilder &builder, Value value) const {
  SmallVector<ReassociationIndices> dims = getReassociation();
  if (cast<RankedTensorType>(value.getType()).getRank() ==
      static_cast<int64_t>(dims.size()))
    return value;
  return tensor::CollapseShapeOp::create(builder, value.getLoc(), value, dims);
}

void StoredLayout::insertRow(OpBuilder &builder, scf::ForallOp loop, Value row,
                             Value dest, ArrayRef<OpFoldResult> indices) const {
  const Location loc = row.getLoc();
  builder.setInsertionPoint(loop.getTerminator());
  auto [rows, isDivided] = getRowParts();
  SmallVector<OpFoldResult> rowIndices;
  if (isDivided) {
    SmallVector<OpFoldResult> basis;
    for (unsigned part : ArrayRef(rows).drop_front())
      basis.push_back(builder.getIndexAttr(parts[part].size));
    for (Value index : affine::AffineDelinearizeIndexOp::create(
                           builder, loc, loop.getInductionVar(0), basis,
                           /*hasOuterBound=*/false)
                           .getResults())
      rowIndices.push_back(index);
  } else {
    for (unsigned part : rows)
      rowIndices.push_back(indices[parts[part].dim]);
  }
  SmallVector<OpFoldResult> offsets, sizes;
  SmallVector<int64_t> shape;
  auto add = [&](OpFoldResult offset, int64_t size) {
    offsets.push_back(offset);
    sizes.push_back(builder.getIndexAttr(size));
    shape.push_back(size);
  };
  for (const auto &dim : stored) {
    if (dim.empty())
      add(builder.getIndexAttr(0), 1);
    for (unsigned part : dim) {
      if (isRow(part))
        add(rowIndices[llvm::find(rows, part) - rows.begin()], 1);
      else
        add(builder.getIndexAttr(0), parts[part].size);
    }
  }
  // Only dimensions of size 1 change their places.
  auto type = cast<RankedTensorType>(row.getType());
  auto getAll = [](int64_t rank) {
    return SmallVector<ReassociationIndices>{
        llvm::to_vector<2>(llvm::seq<int64_t>(0, rank))};
  };
  Value groups = tensor::CollapseShapeOp::create(builder, loc, row,
                                                 getAll(type.getRank()));
  Value source = tensor::ExpandShapeOp::create(builder, loc, type.clone(shape),
                                               groups, getAll(shape.size()));
  SmallVector<OpFoldResult> strides(sizes.size(), builder.getIndexAttr(1));
  builder.setInsertionPointToEnd(loop.getTerminator().getBody());
  tensor::ParallelInsertSliceOp::create(builder, loc, source, dest, offsets,
                                        sizes, strides);
}

AffineMapAttr rmsnorm::getStoredMap(tensor::ParallelInsertSliceOp insert,
                                    int64_t rowDims) {
  ArrayRef<int64_t> shape = insert.getSourceType().getShape();
  const int64_t rank = shape.size();
  if (rank <= rowDims + 1 &&
      llvm::all_of(shape.take_front(rowDims),
                   [](int64_t size) { return size == 1; }))
    return {};
  // Where an index is a constant does not matter, but for sizes other than 1.
  SmallVector<std::pair<int64_t, int64_t>> dims;
  for (int64_t dim = 0; dim < rank; ++dim) {
    auto index = dyn_cast<Value>(insert.getMixedOffsets()[dim]);
    auto result = dyn_cast_or_null<OpResult>(index);
    const bool isUnit = !index && insert.getDestType().getDimSize(dim) == 1;
    if (shape[dim] == 1)
      dims.push_back({result   ? int64_t(result.getResultNumber())
                      : isUnit ? INT64_MAX
                               : -1,
                      dim});
  }
  llvm::sort(dims);
  Builder builder(insert.getContext());
  SmallVector<AffineExpr> results(rank);
  for (auto [number, dim] : llvm::enumerate(dims))
    results[dim.second] = builder.getAffineDimExpr(number);
  AffineExpr group = builder.getAffineDimExpr(dims.size());
  int64_t divisor = 1;
  const auto *outermost =
      llvm::find_if(results, [](AffineExpr result) { return !result; });
  for (int64_t dim = rank - 1; dim >= 0; --dim) {
    if (results[dim])
      continue;
    results[dim] = group.floorDiv(divisor);
    if (&results[dim] != outermost)
      results[dim] = results[dim] % shape[dim];
    divisor *= shape[dim];
  }
  return AffineMapAttr::get(
      AffineMap::get(dims.size() + 1, 0, results, insert.getContext()));
}
