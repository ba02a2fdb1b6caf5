// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowTiler.cpp - the loop over rows of a cluster -------------------===//

#include "RowTiler.h"

#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// Takes what stores groups of columns in another layout along with them; true
/// if nobody else outside uses them.
bool RowTiler::collectLayouts(OpResult result) {
  llvm::SmallDenseSet<Operation *> stores;
  if (!hasGroupsOf(result, cluster))
    return false;
  for (StoredLayout &layout : StoredLayout::match(result, cluster.rowDims)) {
    Value init =
        cast<linalg::LinalgOp>(layout.getOps().back()).getDpsInits().front();
    if (failed(moveValueDefinitions(rewriter, init, ops.back())))
      continue;
    stores.insert(layout.getOps().front());
    Value destination = layout.expandDestination(atEnd());
    outputs.push_back({result, destination, RowSum(), std::move(layout)});
  }
  return llvm::all_of(result.getUsers(), [&](Operation *user) {
    return cluster.members.contains(user) || stores.contains(user);
  });
}

void RowTiler::collectOutputs() {
  for (Operation *op : ops) {
    if (!cluster.members.contains(op))
      continue;
    for (OpResult result : op->getResults()) {
      if (llvm::all_of(result.getUsers(),
                       [&](Operation *user) {
                         return cluster.members.contains(user);
                       }) ||
          collectLayouts(result))
        continue;
      Value destination = result;
      while (Operation *definition = destination.getDefiningOp()) {
        if (!cluster.members.contains(definition))
          break;
        if (isa<tensor::ExtractSliceOp>(definition)) {
          destination = tensor::EmptyOp::create(
              atEnd(), op->getLoc(),
              tensor::getMixedSizes(atEnd(), op->getLoc(), destination),
              getElementTypeOrSelf(destination));
          break;
        }
        auto op = dyn_cast<DestinationStyleOpInterface>(definition);
        destination =
            op ? op.getTiedOpOperand(cast<OpResult>(destination))->get()
               : definition->getOperand(0);
      }
      if (cast<ShapedType>(destination.getType()).getRank() >
          cluster.rowDims + 1) {
        rewriter.setInsertionPointAfterValue(destination);
        destination = collapseGroups(rewriter, destination);
      }
      RowSum sum;
      if (sumsOverRows(result, cluster.rowDims)) {
        sum = RowSum::match(result, cluster.rowDims, /*withTail=*/!embedded);
        if (embedded && sum.init)
          sum.init = destination;
        if (Value last = sum.getDestination())
          destination = last;
        // What a sum over rows is written over does not matter.
        Value whole = sizes.getWhole(destination);
        if (auto fill =
                (whole ? whole : destination).getDefiningOp<linalg::FillOp>();
            fill && !sum.init)
          destination = fill.getOutputs().front();
      }
      outputs.push_back({result, destination, sum});
    }
  }
}

void RowTiler::createLoop() {
  Operation *anchor = *llvm::find_if(
      ops, [](Operation *op) { return getAnchorRowDims(op).has_value(); });
  Location loc = anchor->getLoc();
  atEnd();
  SmallVector<OpFoldResult> basis(sizes.getRows());
  OpFoldResult count = sizes.countRows(loc);
  auto mapping = rewriter.getArrayAttr(gpu::GPUBlockMappingAttr::get(
      rewriter.getContext(), gpu::MappingId::DimX));
  SmallVector<Value> destinations;
  for (const Output &output : outputs)
    destinations.push_back(output.destination);
  loop = scf::ForallOp::create(rewriter, loc, ArrayRef(count), destinations,
                               mapping);
  loop->setAttr(RMSNormDialect::kRowsAttrName,
                rewriter.getI64IntegerAttr(cluster.rowDims));
  rewriter.setInsertionPoint(loop.getTerminator());
  Value row = loop.getInductionVar(0);
  if (basis.size() == 1)
    indices.push_back(row);
  if (basis.size() > 1) {
    // Without rows there is no iteration, but a size of 0 is no basis.
    for (OpFoldResult &size : basis)
      if (isZeroInteger(size))
        size = rewriter.getIndexAttr(1);
    for (Value index :
         affine::AffineDelinearizeIndexOp::create(rewriter, loc, row, basis)
             .getResults())
      indices.push_back(index);
  }
}

/// The block argument for `destination`, or null. Of several, the one for
/// `result`.
Value RowTiler::getBlockArgument(Value destination, OpResult result) {
  Value found;
  for (auto [output, argument] : llvm::zip(outputs, loop.getRegionIterArgs())) {
    if (output.destination != destination)
      continue;
    if (output.result == result)
      return argument;
    if (!found)
      found = argument;
  }
  return found;
}

/// The block argument for `destination` if all that is written there in this
/// loop are the rows that are read with the dimensions `dims` of rows, in their
/// order, or null: an iteration that reads other rows may find them
/// overwritten.
Value RowTiler::getWrittenRows(Value destination, ArrayRef<int64_t> dims) {
  for (const Output &output : outputs) {
    if (output.destination != destination)
      continue;
    auto written = llvm::to_vector(llvm::seq<int64_t>(0, cluster.rowDims));
    if (auto op = dyn_cast<linalg::LinalgOp>(output.result.getOwner()))
      written = getOperandRowDims(*op.getTiedOpOperand(output.result),
                                  cluster.rowDims);
    if (output.layout || ArrayRef<int64_t>(written) != dims)
      return {};
  }
  return getBlockArgument(destination);
}

/// What the tiled op takes for `operand` of the original one, where `tiled` is
/// what the tiling interface made of it.
Value RowTiler::getTiledOperand(OpOperand &operand, Value tiled) {
  Value value = operand.get();
  auto owner = cast<DestinationStyleOpInterface>(operand.getOwner());
  if (owner.isDpsInit(&operand) &&
      sumsOverRows(owner.getTiedOpResult(&operand), cluster.rowDims)) {
    auto linalgOp = dyn_cast<linalg::LinalgOp>(operand.getOwner());
    return linalgOp ? createSummand(rewriter, linalgOp, tiled) : tiled;
  }
  if (Value row = values.lookupOrNull(value))
    return row;
  auto slice = tiled.getDefiningOp<tensor::ExtractSliceOp>();
  if (!slice || slice.getSource() != value)
    return tiled;
  auto op = dyn_cast<DestinationStyleOpInterface>(operand.getOwner());
  if (op.isDpsInit(&operand)) {
    OpResult result = op.getTiedOpResult(&operand);
    bool escapes = llvm::any_of(
        outputs, [&](const Output &output) { return output.result == result; });
    Value argument = escapes ? getBlockArgument(value, result) : Value();
    if (argument) {
      slice.getSourceMutable().assign(argument);
      return slice;
    }
    // Nobody outside sees it: no need for memory outside.
    if (!isInitRead(operand)) {
      SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
      return tensor::EmptyOp::create(rewriter, op.getLoc(), sizes,
                                     slice.getType().getElementType());
    }
  }
  // Written in this loop, too. An empty tensor has no contents to read.
  if (Value argument =
          getWrittenRows(value, getOperandRowDims(operand, cluster.rowDims));
      argument && !value.getDefiningOp<tensor::EmptyOp>())
    slice.getSourceMutable().assign(argument);
  return slice;
}

/// The number of columns that `op`, a linalg op, works on, or of those in
/// a group, which is static.
OpFoldResult RowTiler::getColumns(Operation *op, int64_t loopNumber) {
  auto linalgOp = cast<linalg::LinalgOp>(op);
  int64_t size = linalgOp.getStaticLoopRanges()[loopNumber];
  if (!ShapedType::isDynamic(size))
    return rewriter.getIndexAttr(size);
  for (OpOperand &operand : op->getOpOperands())
    if (std::optional<int64_t> dim = getColumnDim(operand, cluster.rowDims)) {
      OpBuilder::InsertionGuard guard(rewriter);
      rewriter.setInsertionPoint(loop);
      return materializeDim(rewriter, op->getLoc(),
                            traceDim(operand.get(), *dim));
    }
  llvm_unreachable("every loop of a linalg op is a dimension of an operand");
}

LogicalResult RowTiler::tile(TilingInterface op) {
  SmallVector<OpFoldResult> offsets = indices;
  SmallVector<OpFoldResult> sizes(indices.size(), rewriter.getIndexAttr(1));
  const int64_t loops = op.getLoopIteratorTypes().size();
  for (int64_t dim = indices.size(); dim < loops; ++dim) {
    offsets.push_back(rewriter.getIndexAttr(0));
    sizes.push_back(getColumns(op, dim));
  }
  rewriter.setInsertionPoint(loop.getTerminator());
  FailureOr<TilingResult> result =
      op.getTiledImplementation(rewriter, offsets, sizes);
  if (failed(result) || result->tiledOps.size() != 1)
    return op->emitOpError("could not be tiled to one row");
  Operation *tiled = result->tiledOps.front();
  tiled->removeAttr(RMSNormDialect::kRowWiseAttrName);
  rewriter.setInsertionPoint(tiled);
  for (auto [operand, tiledOperand] :
       llvm::zip(op->getOpOperands(), tiled->getOpOperands())) {
    Value value = getTiledOperand(operand, tiledOperand.get());
    if (value.getType() != tiledOperand.get().getType())
      value = tensor::CastOp::create(rewriter, op.getLoc(),
                                     tiledOperand.get().getType(), value);
    tiledOperand.set(value);
  }
  for (Operation *slice : result->generatedSlices)
    if (slice->use_empty())
      rewriter.eraseOp(slice);
  values.map(op->getResults(), result->tiledValues);
  return success();
}

/// The iteration's row of `rows`, computed here or read.
Value RowTiler::getRow(Value rows) {
  if (Value row = values.lookupOrNull(rows))
    return row;
  Value argument = getWrittenRows(
      rows, llvm::to_vector(llvm::seq<int64_t>(0, cluster.rowDims)));
  return extractRow(rewriter, argument ? argument : rows, indices);
}

/// A row of groups, or of columns again.
void RowTiler::tileReshape(Operation *op) {
  rewriter.setInsertionPoint(loop.getTerminator());
  values.map(op->getResult(0),
             reshapeRow(rewriter, op, getRow(op->getOperand(0))));
}

/// Takes a part out of the iteration's row or puts one in.
void RowTiler::tileSlice(Operation *op) {
  rewriter.setInsertionPoint(loop.getTerminator());
  auto slice = cast<OffsetSizeAndStrideOpInterface>(op);
  const int64_t rowDims = slice.getMixedSizes().size() - 1;
  SmallVector<OpFoldResult> offsets(rowDims, rewriter.getIndexAttr(0));
  SmallVector<OpFoldResult> sizes(rowDims, rewriter.getIndexAttr(1));
  offsets.push_back(slice.getMixedOffsets()[rowDims]);
  sizes.push_back(slice.getMixedSizes()[rowDims]);
  Value source = values.lookup(op->getOperand(0)), tiled;
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    tiled = tensor::InsertSliceOp::create(rewriter, op->getLoc(), source,
                                          getRow(insert.getDest()), offsets,
                                          sizes, slice.getMixedStrides());
  else
    tiled =
        tensor::ExtractSliceOp::create(rewriter, op->getLoc(), source, offsets,
                                       sizes, slice.getMixedStrides());
  values.map(op->getResult(0), tiled);
}

/// Repeats an op that knows no rows.
void RowTiler::repeat(Operation *op) {
  rewriter.setInsertionPoint(loop.getTerminator());
  for (Value operand : op->getOperands())
    if (Operation *empty = operand.getDefiningOp<tensor::EmptyOp>())
      if (!values.contains(operand))
        rewriter.clone(*empty, values);
  Operation *clone = rewriter.clone(*op, values);
  rewriter.setInsertionPoint(loop);
  if (embedded)
    sizes.share(clone, /*rowDims=*/0);
}

/// The iteration's summand of what is summed up over rows.
void RowTiler::sumUp(const Output &output, Value row, BlockArgument argument) {
  Value init = output.sum.init;
  // Another sum that is written there may be so before.
  if (init && init == output.destination)
    init = argument;
  rewriter.setInsertionPointToEnd(loop.getTerminator().getBody());
  ColumnSumOp::create(rewriter, output.result.getLoc(), row, argument,
                      /*columns=*/Value(), init, output.sum.kind,
                      output.sum.start, output.sum.dims);
}

void RowTiler::createTerminator() {
  for (auto [output, argument, result] :
       llvm::zip(outputs, loop.getRegionIterArgs(), loop.getResults())) {
    Value row = values.lookup(output.result);
    Location loc = output.result.getLoc();
    if (output.layout) {
      output.layout->insertRow(rewriter, loop, row, argument, indices);
      rewriter.setInsertionPointAfter(loop);
      rewriter.replaceAllUsesWith(output.layout->getStored(),
                                  output.layout->collapse(rewriter, result));
      continue;
    }
    const OpResult computed = output.sum.getResult(output.result);
    auto wholeType = cast<RankedTensorType>(computed.getType());
    const bool hasGroups = wholeType.getRank() > cluster.rowDims + 1;
    if (hasGroups) {
      rewriter.setInsertionPoint(loop.getTerminator());
      row = collapseGroups(rewriter, row);
    }
    auto replaceUses = [&, &output = output, &result = result] {
      Value whole = result;
      if (hasGroups) {
        rewriter.setInsertionPointAfter(loop);
        whole = expandGroups(rewriter, result, wholeType);
      }
      if (sizes.getWhole(output.destination)) {
        rewriter.setInsertionPointAfter(loop);
        whole = sizes.insertIntoWhole(result, output.destination);
      }
      rewriter.replaceUsesWithIf(computed, whole, [&](OpOperand &use) {
        return !cluster.members.contains(use.getOwner());
      });
    };
    if (sumsOverRows(output.result, cluster.rowDims)) {
      sumUp(output, row, argument);
      replaceUses();
      continue;
    }
    rewriter.setInsertionPoint(loop.getTerminator());
    auto type = cast<RankedTensorType>(row.getType());
    SmallVector<OpFoldResult> offsets = indices;
    if (auto op = dyn_cast<linalg::LinalgOp>(output.result.getOwner())) {
      // Rows may be written in another order than they are read.
      SmallVector<int64_t> dims = getOperandRowDims(
          *op.getTiedOpOperand(output.result), cluster.rowDims);
      offsets =
          llvm::map_to_vector(dims, [&](int64_t dim) { return indices[dim]; });
    }
    SmallVector<OpFoldResult> slice(indices.size(), rewriter.getIndexAttr(1));
    for (int64_t dim = indices.size(); dim < type.getRank(); ++dim) {
      offsets.push_back(rewriter.getIndexAttr(0));
      slice.push_back(tensor::getMixedSize(rewriter, loc, row, dim));
    }
    SmallVector<OpFoldResult> strides(slice.size(), rewriter.getIndexAttr(1));
    rewriter.setInsertionPointToEnd(loop.getTerminator().getBody());
    tensor::ParallelInsertSliceOp::create(rewriter, loc, row, argument, offsets,
                                          slice, strides);
    replaceUses();
  }
}

FailureOr<scf::ForallOp> RowTiler::run() {
  if (embedded)
    for (Operation *op : cluster.members)
      sizes.share(op, cluster.rowDims);
  collectOutputs();
  createLoop();
  for (Operation *op : ops) {
    if (!cluster.members.contains(op))
      repeat(op);
    else if (isGroupReshape(op, cluster.rowDims))
      tileReshape(op);
    else if (takesPart(op))
      tileSlice(op);
    else if (failed(tile(cast<TilingInterface>(op))))
      return failure();
  }
  createTerminator();
  SmallVector<tensor::DimOp> dims;
  loop.walk([&](tensor::DimOp op) { dims.push_back(op); });
  redirectDims(dims, embedded ? loop : scf::ForallOp());
  for (const Output &output : outputs)
    for (linalg::LinalgOp op : llvm::reverse(output.sum.tail)) {
      llvm::erase(followers, op.getOperation());
      rewriter.eraseOp(op);
    }
  for (const Output &output : outputs)
    for (Operation *op : output.layout
                             ? llvm::reverse(output.layout->getOps())
                             : llvm::reverse(ArrayRef<Operation *>())) {
      llvm::erase(followers, op);
      rewriter.eraseOp(op);
    }
  // Behind what makes results of the loop's.
  Operation *last = ops.back()->getPrevNode();
  for (Operation *follower : followers) {
    follower->moveAfter(last);
    last = follower;
  }
  for (Operation *op : llvm::reverse(ops))
    if (op->use_empty())
      rewriter.eraseOp(op);
  return loop;
}
