// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowWiseOpInterfaceImpl.cpp - rows of linalg ops -------------------===//

#include "RMSNorm/Transforms/RowWiseOpInterfaceImpl.h"
#include "Gathers.h"
#include "RowCluster.h"
#include "TileProgram.h"

#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using linalg::LinalgOp;

/// Whether the leading results of `map` are the first `rowDims` dimensions and
/// no other result uses those.
static bool isRowMap(AffineMap map, int64_t rowDims) {
  if (map.getNumResults() < rowDims)
    return false;
  for (int64_t dim = 0; dim < rowDims; ++dim)
    if (map.getResult(dim) != getAffineDimExpr(dim, map.getContext()))
      return false;
  for (AffineExpr expr : map.getResults().drop_front(rowDims))
    for (int64_t dim = 0; dim < rowDims; ++dim)
      if (expr.isFunctionOfDim(dim))
        return false;
  return true;
}

/// The row dimensions that the leading results of `map` are.
static SmallVector<int64_t> getLeadingRowDims(AffineMap map, int64_t rowDims) {
  SmallVector<int64_t> dims;
  for (AffineExpr expr : map.getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim || dim.getPosition() >= rowDims ||
        llvm::is_contained(dims, dim.getPosition()))
      break;
    dims.push_back(dim.getPosition());
  }
  return dims;
}

/// Whether `exprs` index nothing, the columns: dimension `rowDims`, or groups
/// of columns and the columns in them.
static bool isColumnIndex(ArrayRef<AffineExpr> exprs, int64_t rowDims) {
  for (auto [number, expr] : llvm::enumerate(exprs))
    if (number > 1 ||
        expr != getAffineDimExpr(rowDims + number, expr.getContext()))
      return false;
  return true;
}

std::optional<int64_t> rmsnorm::findPartlyReadDim(LinalgOp op,
                                                  OpOperand &operand) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (auto [dim, expr] : llvm::enumerate(map.getResults()))
    if (isa<AffineConstantExpr>(expr) &&
        cast<ShapedType>(operand.get().getType()).getDimSize(dim) != 1)
      return dim;
  return std::nullopt;
}

/// `map` without results that index a dimension of size 1 with a constant.
static AffineMap dropUnitResults(AffineMap map) {
  SmallVector<AffineExpr> exprs;
  for (AffineExpr expr : map.getResults())
    if (!isa<AffineConstantExpr>(expr))
      exprs.push_back(expr);
  return AffineMap::get(map.getNumDims(), 0, exprs, map.getContext());
}

SmallVector<int64_t> rmsnorm::getOperandRowDims(OpOperand &operand,
                                                int64_t rowDims) {
  auto op = dyn_cast<LinalgOp>(operand.getOwner());
  if (!op || !isa<RankedTensorType>(operand.get().getType())) {
    const bool usesRow =
        cast<RowWiseOpInterface>(operand.getOwner()).usesRow(operand, rowDims);
    return llvm::to_vector(llvm::seq<int64_t>(0, usesRow ? rowDims : 0));
  }
  return getLeadingRowDims(dropUnitResults(op.getMatchingIndexingMap(&operand)),
                           rowDims);
}

SmallVector<int64_t> rmsnorm::getSegmentDims(LinalgOp op, int64_t rowDims) {
  SmallVector<int64_t> dims;
  for (auto [dim, kind] : llvm::enumerate(op.getIteratorTypesArray()))
    if (static_cast<int64_t>(dim) < rowDims &&
        kind == utils::IteratorType::parallel)
      dims.push_back(dim);
  return dims;
}

/// Whether `op` adds up all rows, or those of each segment, in f32, or takes
/// their maximum or minimum: for each column or of all of them.
static bool sumsAllRows(LinalgOp op, int64_t rowDims) {
  const int64_t loops = op.getNumLoops();
  if (rowDims == 0 || loops < rowDims || loops > rowDims + 1 ||
      op.getNumDpsInits() != 1)
    return false;
  // The first or the last of the leading dimensions stay.
  SmallVector<int64_t> exprs = getSegmentDims(op, rowDims);
  const int64_t kept = exprs.size();
  auto isFrom = [&](int64_t first) {
    return llvm::equal(exprs, llvm::seq<int64_t>(first, first + kept));
  };
  if (kept == rowDims || !(isFrom(0) || isFrom(rowDims - kept)))
    return false;
  if (loops > rowDims &&
      op.getIteratorTypesArray().back() == utils::IteratorType::parallel)
    exprs.push_back(rowDims);
  OpOperand &init = op.getDpsInitsMutable()[0];
  AffineMap map = op.getMatchingIndexingMap(&init);
  ArrayRef<AffineExpr> results = map.getResults();
  // One value may have a dimension of size 1.
  if (static_cast<int64_t>(exprs.size()) == kept && !results.empty() &&
      isa<AffineConstantExpr>(results.back()))
    results = results.drop_back();
  if (!llvm::equal(results, exprs,
                   [&](AffineExpr expr, int64_t dim) {
                     return expr == getAffineDimExpr(dim, map.getContext());
                   }) ||
      !getElementTypeOrSelf(init.get().getType()).isF32())
    return false;
  Operation *combiner = getCombiner(op, init);
  std::optional<ReduceKind> kind =
      combiner ? getReduceKind(combiner) : std::nullopt;
  return kind && kind != ReduceKind::mul;
}

static std::string whyNotRowWise(LinalgOp op, int64_t rowDims) {
  if (!op.hasPureTensorSemantics())
    return "it is not on tensors";
  int64_t loops = op.getNumLoops();
  const bool hasGroups = loops > rowDims + 1;
  const std::string tooMany = llvm::formatv("it has {0} loops", loops);
  if (loops < rowDims || loops > rowDims + 2)
    return tooMany;
  const bool sums = sumsAllRows(op, rowDims);
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  for (int64_t dim = 0; dim < rowDims && !sums; ++dim)
    if (iterators[dim] != utils::IteratorType::parallel)
      return "it combines rows, and not those of all its dimensions, or all "
             "but the first or last ones, by arith.addf, a maximum or a "
             "minimum in f32";
  for (OpOperand &operand : op->getOpOperands()) {
    unsigned number = operand.getOperandNumber();
    if (std::optional<int64_t> dim = findPartlyReadDim(op, operand))
      return llvm::formatv("of dimension {0} of its operand #{1} it uses one "
                           "element",
                           *dim, number);
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (op.isDpsInit(&operand) && sums)
      continue;
    if (op.isDpsInit(&operand)) {
      // A constant is the index of a dimension of size 1, at the end.
      ArrayRef<AffineExpr> exprs = map.getResults();
      if (!exprs.empty() && isa<AffineConstantExpr>(exprs.back()))
        exprs = exprs.drop_back();
      const size_t dims = getLeadingRowDims(map, rowDims).size();
      if (static_cast<int64_t>(dims) != rowDims ||
          (hasGroups && !isRowMap(map, rowDims)) ||
          !isColumnIndex(exprs.drop_front(dims), rowDims))
        return hasGroups ? tooMany
                         : std::string(llvm::formatv(
                               "its operand #{0} does not have the rows as its "
                               "leading dimensions",
                               number));
      continue;
    }
    map = dropUnitResults(map);
    SmallVector<int64_t> dims = getLeadingRowDims(map, rowDims);
    ArrayRef<AffineExpr> rest = map.getResults().drop_front(dims.size());
    // One value for each column of a group, the same for all groups.
    const bool repeats =
        hasGroups && dims.empty() && rest.size() == 1 &&
        rest.front() == getAffineDimExpr(rowDims + 1, map.getContext());
    if (hasGroups && !repeats && !isColumnIndex(rest, rowDims))
      return tooMany;
    if (!repeats && !isColumnIndex(rest, rowDims))
      return llvm::formatv("its operand #{0} does not have the rows, or some "
                           "of their dimensions, as its leading dimensions",
                           number);
  }
  return whyNoGathers(op, rowDims);
}

bool rmsnorm::isRowReduction(LinalgOp op) {
  const int64_t rowDims = static_cast<int64_t>(op.getNumLoops()) - 1;
  return rowDims > 0 && op.getNumReductionLoops() == 1 &&
         op.getIteratorTypesArray().back() == utils::IteratorType::reduction &&
         !linalg::isaContractionOpInterface(op) &&
         whyNotRowWise(op, rowDims).empty() && whyNoKernel(op).empty();
}

bool rmsnorm::isUniform(Operation *op) {
  auto linalgOp = dyn_cast<LinalgOp>(op);
  if (!linalgOp || !linalgOp.hasPureTensorSemantics() ||
      linalgOp.getNumLoops() != linalgOp.getNumParallelLoops() ||
      linalgOp.getNumLoops() > 1 || linalgOp.hasIndexSemantics() ||
      gathers(linalgOp))
    return false;
  return llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
    return !findPartlyReadDim(linalgOp, operand) &&
           isColumnIndex(
               dropUnitResults(linalgOp.getMatchingIndexingMap(&operand))
                   .getResults(),
               0);
  });
}

namespace {
template <typename OpTy>
struct LinalgRows : RowWiseOpInterface::ExternalModel<LinalgRows<OpTy>, OpTy> {
  std::optional<int64_t> getAnchorRowDims(Operation *op) const {
    auto linalgOp = cast<LinalgOp>(op);
    if (!op->hasAttr(RMSNormDialect::kRowWiseAttrName) ||
        linalgOp.getNumLoops() == 0)
      return std::nullopt;
    return linalgOp.getNumLoops() - 1;
  }
  std::string whyNotRowWise(Operation *op, int64_t rowDims) const {
    return ::whyNotRowWise(cast<LinalgOp>(op), rowDims);
  }
  SmallVector<int64_t> getRowSizes(Operation *op, int64_t rowDims) const {
    SmallVector<int64_t> ranges = cast<LinalgOp>(op).getStaticLoopRanges();
    ranges.resize(rowDims);
    return ranges;
  }
  bool usesRow(Operation *op, OpOperand &operand, int64_t rowDims) const {
    return rowDims == 0 ||
           isRowMap(cast<LinalgOp>(op).getMatchingIndexingMap(&operand),
                    rowDims);
  }
  bool sumsOverRows(Operation *op, unsigned, int64_t rowDims) const {
    return sumsAllRows(cast<LinalgOp>(op), rowDims);
  }
  bool readsInit(Operation *op, OpOperand &init) const {
    return cast<LinalgOp>(op).payloadUsesValueFromOperand(&init);
  }
};
} // namespace

namespace {
/// Columns divided into groups, or put together again.
template <typename OpTy>
struct ReshapeRows
    : RowWiseOpInterface::ExternalModel<ReshapeRows<OpTy>, OpTy> {
  std::optional<int64_t> getAnchorRowDims(Operation *) const {
    return std::nullopt;
  }
  std::string whyNotRowWise(Operation *op, int64_t rowDims) const {
    return isGroupReshape(op, rowDims)
               ? ""
               : "it is no division of columns into groups";
  }
  SmallVector<int64_t> getRowSizes(Operation *op, int64_t rowDims) const {
    return llvm::to_vector(
        cast<OpTy>(op).getResultType().getShape().take_front(rowDims));
  }
  bool usesRow(Operation *, OpOperand &operand, int64_t) const {
    return operand.getOperandNumber() == 0;
  }
  bool sumsOverRows(Operation *, unsigned, int64_t) const { return false; }
  bool readsInit(Operation *, OpOperand &) const { return false; }
};
} // namespace

//===----------------------------------------------------------------------===//
// Parts of rows
//===----------------------------------------------------------------------===//

/// Why `op`, a slice of `whole`, is not one of columns of all rows.
static std::string whyNoPart(OffsetSizeAndStrideOpInterface op, Value whole,
                             RankedTensorType part, int64_t rowDims) {
  auto type = cast<RankedTensorType>(whole.getType());
  if (type.getRank() != rowDims + 1 || part.getRank() != type.getRank())
    return llvm::formatv("it slices {0} into {1}", type, part);
  for (auto [dim, offset, size, stride] : llvm::enumerate(
           op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    const bool isColumns = static_cast<int64_t>(dim) == rowDims;
    const bool isAll =
        isZeroInteger(offset) && traceSize(size) == traceDim(whole, dim);
    const bool isStatic = getConstantIntValue(offset) &&
                          getConstantIntValue(size) && !type.isDynamicDim(dim);
    const bool isPairs = isColumns && isStatic &&
                         getConstantIntValue(stride) == 2 &&
                         *getConstantIntValue(offset) < 2 &&
                         2 * part.getDimSize(dim) == type.getDimSize(dim);
    if (!isPairs && (!isOneInteger(stride) || (isColumns ? !isStatic : !isAll)))
      return llvm::formatv("its dimension {0} is neither all rows nor columns "
                           "side by side, or every other of all, how many "
                           "types say",
                           dim);
  }
  return "";
}

/// Whether `op` and what inserts into its result leave nothing of what it
/// inserts into.
static bool overwrites(tensor::InsertSliceOp op) {
  const int64_t rowDims = op.getType().getRank() - 1;
  const int64_t columns = op.getType().getShape().back();
  SmallVector<std::pair<int64_t, int64_t>> parts;
  llvm::SmallBitVector pairs(2);
  while (op &&
         whyNoPart(op, op.getDest(), op.getSourceType(), rowDims).empty()) {
    if (op.getStaticStrides()[rowDims] == 2)
      pairs.set(op.getStaticOffsets()[rowDims]);
    else
      parts.push_back(
          {op.getStaticOffsets()[rowDims], op.getStaticSizes()[rowDims]});
    auto next = op->hasOneUse()
                    ? dyn_cast<tensor::InsertSliceOp>(*op->user_begin())
                    : tensor::InsertSliceOp();
    const bool isNext = next && next.getDest() == op.getResult();
    op = isNext ? next : tensor::InsertSliceOp();
  }
  llvm::sort(parts);
  int64_t end = 0;
  for (auto [offset, size] : parts)
    if (offset <= end)
      end = std::max(end, offset + size);
  return end == columns || pairs.all();
}

namespace {
template <typename OpTy>
struct SliceRows : RowWiseOpInterface::ExternalModel<SliceRows<OpTy>, OpTy> {
  static constexpr bool isInsert = std::is_same_v<OpTy, tensor::InsertSliceOp>;

  std::optional<int64_t> getAnchorRowDims(Operation *) const {
    return std::nullopt;
  }
  std::string whyNotRowWise(Operation *op, int64_t rowDims) const {
    auto slice = cast<OpTy>(op);
    Type part = isInsert ? slice.getSource().getType() : slice.getType();
    return whyNoPart(slice, op->getOperand(isInsert ? 1 : 0),
                     cast<RankedTensorType>(part), rowDims);
  }
  SmallVector<int64_t> getRowSizes(Operation *op, int64_t rowDims) const {
    auto type = cast<RankedTensorType>(op->getOperand(0).getType());
    return SmallVector<int64_t>(type.getShape().take_front(rowDims));
  }
  bool usesRow(Operation *, OpOperand &operand, int64_t) const {
    return isa<RankedTensorType>(operand.get().getType());
  }
  bool sumsOverRows(Operation *, unsigned, int64_t) const { return false; }
  bool readsInit(Operation *op, OpOperand &) const {
    if constexpr (isInsert)
      return !overwrites(cast<OpTy>(op));
    return true;
  }
};
} // namespace

template <typename... OpTypes> static void attachTo(MLIRContext *context) {
  (OpTypes::template attachInterface<LinalgRows<OpTypes>>(*context), ...);
}

void mlir::rmsnorm::registerRowWiseExternalModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, linalg::LinalgDialect *) {
    attachTo<
#define GET_OP_LIST
#include "mlir/Dialect/Linalg/IR/LinalgStructuredOps.cpp.inc"
        >(context);
  });
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    tensor::ExpandShapeOp::attachInterface<ReshapeRows<tensor::ExpandShapeOp>>(
        *context);
    tensor::CollapseShapeOp::attachInterface<
        ReshapeRows<tensor::CollapseShapeOp>>(*context);
    tensor::ExtractSliceOp::attachInterface<SliceRows<tensor::ExtractSliceOp>>(
        *context);
    tensor::InsertSliceOp::attachInterface<SliceRows<tensor::InsertSliceOp>>(
        *context);
  });
}
