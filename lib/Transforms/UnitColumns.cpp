// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- UnitColumns.cpp - one value a row with a dimension of size 1 ------===//

#include "UnitColumns.h"
#include "GroupReshapes.h"
#include "RowOps.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using linalg::ControlDropUnitDims;
using linalg::GenericOp;

/// What `value`, with a dimension of size 1 more, was expanded from, if it is
/// of `shape`, or null.
static Value getWithoutUnit(Value value, ArrayRef<int64_t> shape) {
  Value source;
  if (auto expand = value.getDefiningOp<tensor::ExpandShapeOp>())
    source = expand.getSrc();
  else if (auto insert = value.getDefiningOp<tensor::InsertSliceOp>())
    source = insert.getSource();
  return source && cast<ShapedType>(source.getType()).getShape() == shape
             ? source
             : Value();
}

/// What `value` has beside a last dimension of size 1, or null.
static Value getWithoutUnit(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() > 0 && type.getShape().back() == 1
             ? getWithoutUnit(value, type.getShape().drop_back())
             : Value();
}

/// Reads what was expanded to be broadcast as it was.
static void dropUnitResults(RewriterBase &rewriter, GenericOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  for (OpOperand *input : op.getDpsInputOperands()) {
    AffineMap &map = maps[input->getOperandNumber()];
    Value source = getWithoutUnit(input->get());
    if (!source || !isa<AffineConstantExpr>(map.getResults().back()))
      continue;
    map = map.dropResult(map.getNumResults() - 1);
    rewriter.modifyOpInPlace(op, [&] {
      input->set(source);
      op.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
  }
}

/// What reduces to one value a row, which is expanded, where `op` has a column
/// of size 1 for it; null if it has not.
static GenericOp dropUnitInit(RewriterBase &rewriter, GenericOp op) {
  if (op.getNumReductionLoops() == 0 || op->getNumResults() != 1)
    return {};
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  auto fill = op.getDpsInits().front().getDefiningOp<linalg::FillOp>();
  auto empty =
      fill ? fill.output().getDefiningOp<tensor::EmptyOp>() : tensor::EmptyOp();
  if (!empty || type.getRank() < 2 || type.getShape().back() != 1 ||
      !isa<AffineConstantExpr>(maps.back().getResults().back()))
    return {};
  maps.back() = maps.back().dropResult(maps.back().getNumResults() - 1);
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes = empty.getMixedSizes();
  Value init = tensor::EmptyOp::create(
      rewriter, loc, ArrayRef(sizes).drop_back(), type.getElementType());
  init = linalg::FillOp::create(rewriter, loc, fill.value(), init).getResult(0);
  auto reduced =
      GenericOp::create(rewriter, loc, init.getType(), op.getInputs(), init,
                        maps, op.getIteratorTypesArray());
  reduced.getRegion().takeBody(op.getRegion());
  rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(
      op, type, reduced.getResult(0), getGroupedDims(type.getRank()), sizes);
  return reduced;
}

/// The op that sets all of an argument to what `value` is a reduction's start
/// with, or null.
static linalg::FillOp getFillOfArgument(Value value) {
  auto fill = value.getDefiningOp<linalg::FillOp>();
  return fill && isa<BlockArgument>(fill.output()) ? fill : linalg::FillOp();
}

/// Drops loop `loop`, which runs once, and the dimensions it stands for.
static void dropLoop(RewriterBase &rewriter, GenericOp op, unsigned loop) {
  ControlDropUnitDims control;
  control.controlFn = [&](Operation *) { return SmallVector<unsigned>{loop}; };
  // An argument may have any strides: a slice of it has them, too.
  static const ControlDropUnitDims reshapes, slices = [] {
    ControlDropUnitDims options;
    options.rankReductionStrategy =
        ControlDropUnitDims::RankReductionStrategy::ExtractInsertSlice;
    return options;
  }();
  control.collapseFn = [](RewriterBase &rewriter, Location loc, Value operand,
                          ArrayRef<int64_t> shape,
                          ArrayRef<ReassociationIndices> dims,
                          const ControlDropUnitDims &) -> FailureOr<Value> {
    if (Value source = getWithoutUnit(operand, shape))
      return source;
    if (linalg::FillOp fill = getFillOfArgument(operand)) {
      FailureOr<Value> slice =
          slices.collapseFn(rewriter, loc, fill.output(), shape, dims, slices);
      if (failed(slice))
        return failure();
      return linalg::FillOp::create(rewriter, loc, fill.value(), *slice)
          .getResult(0);
    }
    return reshapes.collapseFn(rewriter, loc, operand, shape, dims,
                               isa<BlockArgument>(operand) ? slices : reshapes);
  };
  control.expandFn = [](RewriterBase &rewriter, Location loc, Value result,
                        Value dest, ArrayRef<ReassociationIndices> dims,
                        const ControlDropUnitDims &) -> FailureOr<Value> {
    if (linalg::FillOp fill = getFillOfArgument(dest))
      dest = fill.output();
    return reshapes.expandFn(rewriter, loc, result, dest, dims,
                             isa<BlockArgument>(dest) ? slices : reshapes);
  };
  rewriter.setInsertionPoint(op);
  auto dropped = linalg::dropUnitDims(rewriter, op, control);
  if (succeeded(dropped))
    rewriter.replaceOp(op, dropped->replacements);
}

/// Makes a row of what is one group of all its columns.
static void dropOnlyGroups(Operation *root) {
  llvm::SmallDenseSet<int64_t> rowDims;
  SmallVector<GenericOp> generics;
  root->walk([&](Operation *op) {
    if (std::optional<int64_t> dims = getAnchorRowDims(op))
      rowDims.insert(*dims);
    if (auto generic = dyn_cast<GenericOp>(op))
      generics.push_back(generic);
  });
  IRRewriter rewriter(root->getContext());
  for (GenericOp op : generics) {
    // Loops over rows, groups and a group's columns.
    const int64_t group = static_cast<int64_t>(op.getNumLoops()) - 2;
    if (!op.hasPureTensorSemantics() || op.hasIndexSemantics() ||
        !rowDims.contains(group) || rowDims.contains(group + 1) ||
        op.getStaticLoopRanges()[group] != 1 ||
        op.getIteratorTypesArray()[group] != utils::IteratorType::parallel)
      continue;
    dropLoop(rewriter, op, group);
  }
}

void rmsnorm::dropUnitColumns(Operation *root) {
  dropOnlyGroups(root);
  SmallVector<GenericOp> unit, others;
  SmallVector<Operation *> unused;
  bool hasRowsOfOne = false;
  root->walk([&](Operation *op) {
    // There one column is what a row has.
    if (getAnchorRowDims(op))
      for (Value operand : op->getOperands())
        if (auto type = dyn_cast<RankedTensorType>(operand.getType()))
          hasRowsOfOne |= type.getRank() == *getAnchorRowDims(op) + 1 &&
                          type.getShape().back() == 1;
    auto generic = dyn_cast<GenericOp>(op);
    if (!generic || !generic.hasPureTensorSemantics() ||
        generic.getNumLoops() < 2)
      return;
    if (op->getNumResults() > 1 && generic.hasIndexSemantics() &&
        llvm::any_of(op->getResults(),
                     [](Value result) { return result.use_empty(); }))
      unused.push_back(op);
    const bool isUnit =
        generic.getStaticLoopRanges().back() == 1 &&
        generic.getNumLoops() == generic.getNumParallelLoops() &&
        !generic.hasIndexSemantics();
    (isUnit ? unit : others).push_back(generic);
  });
  if (!unused.empty()) {
    RewritePatternSet patterns(root->getContext());
    linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
    llvm::erase_if(others, [&](GenericOp op) {
      return llvm::is_contained(unused, op.getOperation());
    });
    (void)applyOpPatternsGreedily(unused, std::move(patterns));
  }
  if (hasRowsOfOne)
    return;
  IRRewriter rewriter(root->getContext());
  for (GenericOp &op : others)
    if (GenericOp reduced = dropUnitInit(rewriter, op))
      op = reduced;
  for (GenericOp op : unit)
    dropLoop(rewriter, op, op.getNumLoops() - 1);
  for (GenericOp op : others)
    dropUnitResults(rewriter, op);
  // What stood between two that have dropped a dimension.
  SmallVector<Operation *> collapses;
  root->walk([&](tensor::CollapseShapeOp op) {
    if (Value source = getWithoutUnit(op.getSrc(), op.getType().getShape()))
      rewriter.replaceOp(op, source);
    else
      collapses.push_back(op);
  });
  RewritePatternSet patterns(root->getContext());
  linalg::FillOp::getCanonicalizationPatterns(patterns, root->getContext());
  (void)applyOpPatternsGreedily(collapses, std::move(patterns));
}
