// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Loops.cpp - the loops of an op on tensors -------------------------===//

#include "RMSNorm/Access/Loops.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::access;

bool access::asksForCluster(Operation *op) {
  return getRowLoops(op) && (!isa<linalg::LinalgOp>(op) ||
                             op->hasAttr(RMSNormDialect::kRowWiseAttrName));
}

/// The first map of the most results: of the operand that has all rows and
/// columns.
static AffineMap getWidestMap(linalg::LinalgOp op) {
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  return *llvm::max_element(maps, [](AffineMap a, AffineMap b) {
    return a.getNumResults() < b.getNumResults();
  });
}

/// The loops of the columns, the last dimension first.
static SmallVector<unsigned> getColumnLoops(linalg::LinalgOp op,
                                            Columns columns) {
  SmallVector<unsigned> loops;
  if (columns == Columns::none || op.getNumLoops() == 0)
    return loops;
  const SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  const SmallVector<utils::IteratorType> types = op.getIteratorTypesArray();
  auto isReduced = [&](unsigned loop) {
    return types[loop] == utils::IteratorType::reduction &&
           !ShapedType::isDynamic(sizes[loop]);
  };
  const bool hasRows = op.getNumReductionLoops() < op.getNumLoops();
  for (AffineExpr expr : llvm::reverse(getWidestMap(op).getResults())) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop || (!loops.empty() &&
                  !(columns == Columns::reduced && hasRows &&
                    isReduced(loops.front()) && isReduced(loop.getPosition()))))
      break;
    loops.push_back(loop.getPosition());
  }
  if (loops.empty())
    loops.push_back(op.getNumLoops() - 1);
  return loops;
}

std::optional<SmallVector<unsigned>> access::getRowLoops(Operation *op,
                                                         Columns columns) {
  auto getOfNorm = [](auto norm) -> std::optional<SmallVector<unsigned>> {
    if (!norm.hasPureTensorSemantics())
      return std::nullopt;
    return llvm::to_vector(llvm::seq<unsigned>(0, norm.getNumRowDims()));
  };
  if (auto forward = dyn_cast<ForwardOp>(op))
    return getOfNorm(forward);
  if (auto backward = dyn_cast<BackwardOp>(op))
    return getOfNorm(backward);
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  if (!linalgOp)
    return std::nullopt;
  SmallVector<unsigned> rows =
      llvm::to_vector(llvm::seq<unsigned>(0, linalgOp.getNumLoops()));
  const SmallVector<unsigned> others = getColumnLoops(linalgOp, columns);
  llvm::erase_if(
      rows, [&](unsigned loop) { return llvm::is_contained(others, loop); });
  return rows;
}

/// Takes a dimension for each loop from an operand or result that `map`
/// indexes. False if the map has other results than loops and constants.
static bool addDims(LoopNest &nest, Value value, AffineMap map) {
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (auto loop = dyn_cast<AffineDimExpr>(expr)) {
      auto &entry = nest.dims[loop.getPosition()];
      if (!entry.first)
        entry = {value, static_cast<int64_t>(dim)};
    } else if (!isa<AffineConstantExpr>(expr)) {
      return false;
    }
  }
  return true;
}

/// Whether one iteration writes each element of `result`, apart from
/// reductions.
static bool writesAll(OpResult result, AffineMap map) {
  llvm::SmallDenseSet<unsigned> seen;
  for (auto [dim, expr] : llvm::enumerate(map.getResults())) {
    if (isa<AffineSymbolExpr>(expr))
      continue;
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (loop ? !seen.insert(loop.getPosition()).second
             : cast<ShapedType>(result.getType()).getDimSize(dim) != 1)
      return false;
  }
  return true;
}

static std::optional<LoopNest> getLinalgNest(linalg::LinalgOp op) {
  if (!op.hasPureTensorSemantics())
    return std::nullopt;
  LoopNest nest;
  nest.dims.resize(op.getNumLoops());
  for (utils::IteratorType type : op.getIteratorTypesArray())
    nest.isReduction.push_back(type == utils::IteratorType::reduction);
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!addDims(nest, operand.get(), map))
      return std::nullopt;
    if (isa<RankedTensorType>(operand.get().getType()) &&
        (!op.isDpsInit(&operand) || op.payloadUsesValueFromOperand(&operand)))
      nest.reads.push_back({&operand, map});
  }
  for (OpResult result : op->getResults())
    nest.writes.push_back({result, op.getIndexingMapMatchingResult(result)});
  return nest;
}

template <typename OpTy> static std::optional<LoopNest> getNormNest(OpTy op) {
  if (!op.hasPureTensorSemantics())
    return std::nullopt;
  Value input = op.getInput();
  const int64_t rank = cast<RankedTensorType>(input.getType()).getRank();
  LoopNest nest;
  for (int64_t dim = 0; dim < rank; ++dim)
    nest.dims.push_back({input, dim});
  nest.isReduction.assign(rank, false);
  nest.normColumns = rank - 1;
  for (OpOperand &operand : op->getOpOperands())
    if (!op.isDpsInit(&operand))
      nest.reads.push_back({&operand, op.getMatchingIndexingMap(&operand)});
  for (OpResult result : op->getResults())
    nest.writes.push_back(
        {result, op.getMatchingIndexingMap(op.getTiedOpOperand(result))});
  return nest;
}

/// Loops over the slices, then over their elements.
static LoopNest getScatterNest(ScatterOp op) {
  MLIRContext *context = op.getContext();
  const int64_t rank = op.getSource().getType().getRank();
  LoopNest nest;
  for (int64_t dim = 0; dim < rank; ++dim)
    nest.dims.push_back({op.getSource(), dim});
  nest.isReduction.assign(rank, false);
  nest.reads.push_back({&op.getSourceMutable(),
                        AffineMap::getMultiDimIdentityMap(rank, context)});
  unsigned batch = op.getNumBatchDims();
  SmallVector<AffineExpr> exprs;
  for (unsigned dim = 0; dim < batch; ++dim)
    exprs.push_back(getAffineDimExpr(dim, context));
  const AffineMap slices = AffineMap::get(rank, 0, exprs, context);
  for (OpOperand &indices : op.getIndicesMutable())
    nest.reads.push_back({&indices, slices});
  exprs.clear();
  unsigned symbols = 0;
  for (int64_t dim = 0; dim < op.getDest().getType().getRank(); ++dim)
    exprs.push_back(op.isIndexed(dim) ? getAffineSymbolExpr(symbols++, context)
                                      : getAffineDimExpr(batch++, context));
  nest.writes.push_back({cast<OpResult>(op.getResult()),
                         AffineMap::get(rank, symbols, exprs, context)});
  return nest;
}

std::optional<LoopNest> access::getLoopNest(Operation *op) {
  std::optional<LoopNest> nest;
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op))
    nest = getLinalgNest(linalgOp);
  else if (auto forward = dyn_cast<ForwardOp>(op))
    nest = getNormNest(forward);
  else if (auto backward = dyn_cast<BackwardOp>(op))
    nest = getNormNest(backward);
  else if (auto scatter = dyn_cast<ScatterOp>(op))
    nest = getScatterNest(scatter);
  if (!nest ||
      llvm::any_of(nest->dims, [](const auto &dim) { return !dim.first; }) ||
      !llvm::all_of(nest->writes, [](const auto &write) {
        return writesAll(write.first, write.second);
      }))
    return std::nullopt;
  return nest;
}

bool access::isCopy(Operation *op) {
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && linalgOp.isSingleInputOutput() &&
         linalgOp.isAllParallelLoops() &&
         isa<RankedTensorType>(op->getOperand(0).getType()) &&
         linalgOp.getBlock()->getTerminator()->getOperand(0) ==
             linalgOp.getBlock()->getArgument(0);
}

Value access::getFilled(Operation *op) {
  // What asks for a kernel is computed there.
  if (op && op->hasAttr(RMSNormDialect::kRowWiseAttrName))
    return Value();
  if (auto fill = dyn_cast_or_null<linalg::FillOp>(op))
    return fill.value();
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!generic || generic.getNumDpsInits() != 1 ||
      !generic.getBody()->without_terminator().empty() ||
      !generic.getIndexingMapsArray().back().isPermutation())
    return Value();
  Value value = generic.getBody()->getTerminator()->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == generic.getBody())
    value = generic->getOperand(argument.getArgNumber());
  return isa<ShapedType>(value.getType()) ? Value() : value;
}

Layout access::getIndices(AffineMap map, ArrayRef<Sum> loops) {
  return llvm::map_to_vector(map.getResults(), [&](AffineExpr expr) {
    if (auto loop = dyn_cast<AffineDimExpr>(expr))
      return loops[loop.getPosition()];
    Sum sum;
    if (auto index = dyn_cast<AffineSymbolExpr>(expr)) {
      sum.operand = index.getPosition();
      return sum;
    }
    sum.offset = cast<AffineConstantExpr>(expr).getValue();
    return sum;
  });
}

std::optional<Layout> access::invert(const LoopNest &nest, AffineMap map,
                                     const Layout &layout) {
  // Nobody knows which slice it is in.
  if (map.getNumSymbols() > 0)
    return std::nullopt;
  Layout loops(nest.dims.size());
  llvm::SmallDenseSet<unsigned> seen;
  for (auto [expr, sum] : llvm::zip_equal(map.getResults(), layout)) {
    auto loop = dyn_cast<AffineDimExpr>(expr);
    if (!loop) {
      Sum constant;
      constant.offset = cast<AffineConstantExpr>(expr).getValue();
      if (!(sum == constant))
        return std::nullopt;
      continue;
    }
    if (!seen.insert(loop.getPosition()).second)
      return std::nullopt;
    loops[loop.getPosition()] = sum;
  }
  if (seen.size() != loops.size())
    return std::nullopt;
  return loops;
}
