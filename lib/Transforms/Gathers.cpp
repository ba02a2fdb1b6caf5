// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Gathers.cpp - rows of tables at run-time indices ------------------===//

#include "Gathers.h"

#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using linalg::LinalgOp;

bool rmsnorm::gathers(LinalgOp op) {
  return !op.getBlock()->getOps<tensor::ExtractOp>().empty();
}

/// What is added to the number of the column to make `value`; none if that is
/// something else.
static std::optional<int64_t> matchColumn(Value value, int64_t rowDims) {
  if (auto index = value.getDefiningOp<linalg::IndexOp>())
    return static_cast<int64_t>(index.getDim()) == rowDims
               ? std::optional<int64_t>(0)
               : std::nullopt;
  if (auto sum = value.getDefiningOp<arith::AddIOp>()) {
    for (unsigned i : {0, 1})
      if (std::optional<int64_t> constant =
              getConstantIntValue(sum->getOperand(1 - i)))
        if (auto column = matchColumn(sum->getOperand(i), rowDims))
          return *column + *constant;
    return std::nullopt;
  }
  auto apply = value.getDefiningOp<affine::AffineApplyOp>();
  if (!apply)
    return std::nullopt;
  AffineMap map = apply.getAffineMap();
  SmallVector<Value> operands(apply.getOperands());
  affine::canonicalizeMapAndOperands(&map, &operands);
  if (operands.size() != 1)
    return std::nullopt;
  MLIRContext *context = value.getContext();
  auto added = dyn_cast<AffineConstantExpr>(
      map.getResult(0) - (map.getNumDims() ? getAffineDimExpr(0, context)
                                           : getAffineSymbolExpr(0, context)));
  std::optional<int64_t> column = matchColumn(operands.front(), rowDims);
  return added && column ? std::optional(*column + added.getValue())
                         : std::nullopt;
}

/// Whether `value` is the same for all columns of a row and of no use for its
/// number.
static bool isRowValue(Value value, LinalgOp op, int64_t rowDims) {
  if (value.getParentBlock() != op.getBlock())
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    AffineMap map =
        op.getMatchingIndexingMap(op.getMatchingOpOperand(argument));
    for (int64_t dim = rowDims; dim < op.getNumLoops(); ++dim)
      if (map.isFunctionOfDim(dim))
        return false;
    return true;
  }
  Operation *definition = value.getDefiningOp();
  return !isa<linalg::IndexOp>(definition) &&
         llvm::all_of(definition->getOperands(), [&](Value operand) {
           return isRowValue(operand, op, rowDims);
         });
}

std::optional<Gather> rmsnorm::matchGather(tensor::ExtractOp extract,
                                           LinalgOp op, int64_t rowDims,
                                           std::string &reason) {
  Gather gather;
  gather.extract = extract;
  auto table = cast<RankedTensorType>(extract.getTensor().getType());
  for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
    const int64_t number = dim;
    if (getConstantIntValue(index))
      continue;
    if (auto column = matchColumn(index, rowDims);
        column && number == table.getRank() - 1) {
      gather.firstColumn = column;
      continue;
    }
    if (gather.dim >= 0 || !isRowValue(index, op, rowDims)) {
      reason = llvm::formatv("of dimension {0} of {1}, a table, it reads "
                             "neither columns side by side, in the last one, "
                             "nor one row that is an operand's affair",
                             number, table)
                   .str();
      return std::nullopt;
    }
    gather.dim = number;
  }
  if (gather.dim < 0) {
    reason =
        llvm::formatv("it reads the same row of {0} for all rows", table).str();
    return std::nullopt;
  }
  if (op.getNumLoops() > rowDims + 1) {
    reason = "it gathers rows and divides columns into groups";
    return std::nullopt;
  }
  if (!gather.firstColumn)
    return gather;
  const int64_t columns = op.getStaticLoopRanges()[rowDims];
  const int64_t size = table.getShape().back();
  const bool isKnown =
      !ShapedType::isDynamic(columns) && !ShapedType::isDynamic(size);
  if (*gather.firstColumn < 0 || (isKnown ? *gather.firstColumn + columns > size
                                          : *gather.firstColumn != 0)) {
    reason = llvm::formatv("it reads columns {0} and on of {1}, which are not "
                           "known to be there",
                           *gather.firstColumn, table)
                 .str();
    return std::nullopt;
  }
  return gather;
}

bool rmsnorm::countsColumns(Operation &op, int64_t rowDims) {
  return isa<linalg::IndexOp, arith::AddIOp, affine::AffineApplyOp>(op) &&
         matchColumn(op.getResult(0), rowDims);
}

std::string rmsnorm::whyNoGathers(LinalgOp op, int64_t rowDims) {
  std::string reason;
  for (Operation &payload : op.getBlock()->without_terminator()) {
    if (auto extract = dyn_cast<tensor::ExtractOp>(payload)) {
      if (!matchGather(extract, op, rowDims, reason))
        return reason;
      continue;
    }
    const bool counts = countsColumns(payload, rowDims);
    const bool isOther =
        isa<linalg::IndexOp, affine::AffineApplyOp>(payload) && !counts;
    auto countsOn = [&](Operation *user) {
      return isa<tensor::ExtractOp>(user) || countsColumns(*user, rowDims);
    };
    if ((isOther && !payload.use_empty()) ||
        (counts && !llvm::all_of(payload.getUsers(), countsOn)))
      return "it uses numbers of its loops for more than to count the columns "
             "of a table";
  }
  return "";
}

/// The table's rows, of `columns` columns: of rank 2, or 1 without columns.
Value Gather::createTable(OpBuilder &builder, OpFoldResult columns) {
  Value table = extract.getTensor();
  auto type = cast<RankedTensorType>(table.getType());
  SmallVector<OpFoldResult> offsets,
      strides(type.getRank(), builder.getIndexAttr(1));
  SmallVector<OpFoldResult> sizes =
      tensor::getMixedSizes(builder, extract.getLoc(), table);
  SmallVector<int64_t> shape;
  bool isWhole = true;
  for (int64_t number = 0; number < type.getRank(); ++number) {
    offsets.push_back(builder.getIndexAttr(0));
    if (number == dim) {
      shape.push_back(type.getDimSize(number));
      continue;
    }
    if (firstColumn && number == type.getRank() - 1) {
      offsets.back() = builder.getIndexAttr(*firstColumn);
      isWhole &= *firstColumn == 0 &&
                 isEqualConstantIntOrValue(sizes[number], columns);
      sizes[number] = columns;
      shape.push_back(
          getConstantIntValue(columns).value_or(ShapedType::kDynamic));
      continue;
    }
    isWhole = false;
    offsets.back() = builder.getIndexAttr(
        *getConstantIntValue(extract.getIndices()[number]));
    sizes[number] = builder.getIndexAttr(1);
  }
  if (isWhole)
    return table;
  return tensor::ExtractSliceOp::create(
      builder, extract.getLoc(),
      RankedTensorType::get(shape, type.getElementType()), table, offsets,
      sizes, strides);
}

Value Gather::createLoad(OpBuilder &builder, OpBuilder &outside, Value indices,
                         int64_t columns, Value dynamicColumns) {
  OpFoldResult count = builder.getIndexAttr(columns);
  if (dynamicColumns)
    count = dynamicColumns;
  Value table = createTable(outside, count);
  Type element = extract.getType();
  if (!firstColumn)
    return TileLoadOp::create(builder, extract.getLoc(),
                              VectorType::get({1, 1}, element), TileKind::row,
                              table, /*row=*/Value(), indices,
                              /*columns=*/Value(), /*map=*/nullptr);
  return TileLoadOp::create(builder, extract.getLoc(),
                            VectorType::get({1, columns}, element),
                            TileKind::tile, table, /*row=*/Value(), indices,
                            dynamicColumns, /*map=*/nullptr);
}

/// Visits the arguments of which elements become `value`, of the body of a
/// linalg op, or a tensor, as they are but for a limit.
static void visitArguments(Value value,
                           function_ref<void(BlockArgument)> visit) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto op = dyn_cast<LinalgOp>(parent))
      visitArguments(op.getMatchingOpOperand(argument)->get(), visit);
    else if (isa<func::FuncOp>(parent))
      visit(argument);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (auto linalgOp = dyn_cast<LinalgOp>(op))
    visitArguments(linalgOp.getBlock()->getTerminator()->getOperand(
                       cast<OpResult>(value).getResultNumber()),
                   visit);
  else if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
               arith::ExtUIOp, arith::TruncIOp, arith::MaxSIOp, arith::MaxUIOp,
               arith::MinSIOp, arith::MinUIOp>(op))
    for (Value operand : op->getOperands())
      visitArguments(operand, visit);
  else if (auto select = dyn_cast<arith::SelectOp>(op))
    for (Value operand : {select.getTrueValue(), select.getFalseValue()})
      visitArguments(operand, visit);
  else if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
               tensor::ExtractOp, tensor::ExtractSliceOp>(op))
    visitArguments(op->getOperand(0), visit);
}

SmallVector<IndexArgument> rmsnorm::getIndexArguments(func::FuncOp function) {
  SmallVector<IndexArgument> all;
  function.walk([&](tensor::ExtractOp extract) {
    for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
      const int64_t number = dim;
      visitArguments(index, [&](BlockArgument argument) {
        all.push_back({argument, extract.getTensor(), number});
      });
    }
  });
  return all;
}

/// Gathers nothing but what `slice` takes: by some of the indices, other
/// columns of the table.
static void gatherSlice(RewriterBase &rewriter, tensor::ExtractSliceOp slice) {
  auto op = slice.getSource().getDefiningOp<linalg::GenericOp>();
  const int64_t rank = slice.getType().getRank();
  if (!op || !gathers(op) || op.getNumDpsInits() != 1 ||
      !slice.hasUnitStride() || op.getNumParallelLoops() != rank ||
      slice.getSourceType().getRank() != rank ||
      !op.getIndexingMapsArray().back().isIdentity() ||
      op.payloadUsesValueFromOperand(op.getDpsInitOperand(0)) ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isProjectedPermutation(); }))
    return;
  rewriter.setInsertionPoint(slice);
  Location loc = slice.getLoc();
  SmallVector<OpFoldResult> offsets = slice.getMixedOffsets();
  SmallVector<OpFoldResult> sizes = slice.getMixedSizes();
  auto isWhole = [&](int64_t dim) {
    return isZeroInteger(offsets[dim]) &&
           traceSize(sizes[dim]) == traceDim(slice.getSource(), dim);
  };
  SmallVector<Value> operands;
  for (OpOperand *input : op.getDpsInputOperands()) {
    operands.push_back(input->get());
    AffineMap map = op.getMatchingIndexingMap(input);
    SmallVector<OpFoldResult> ownOffsets, ownSizes;
    bool isAll = true;
    for (AffineExpr expr : map.getResults()) {
      const unsigned loop = cast<AffineDimExpr>(expr).getPosition();
      ownOffsets.push_back(offsets[loop]);
      ownSizes.push_back(sizes[loop]);
      isAll &= isWhole(loop);
    }
    if (!isAll)
      operands.back() = tensor::ExtractSliceOp::create(
          rewriter, loc, operands.back(), ownOffsets, ownSizes,
          SmallVector<OpFoldResult>(ownSizes.size(), rewriter.getIndexAttr(1)));
  }
  Value empty = tensor::EmptyOp::create(rewriter, loc, sizes,
                                        slice.getType().getElementType());
  operands.push_back(empty);
  auto part = cast<linalg::GenericOp>(
      mlir::clone(rewriter, op.getOperation(), empty.getType(), operands));
  for (auto count :
       llvm::to_vector(part.getBlock()->getOps<linalg::IndexOp>())) {
    OpFoldResult offset = offsets[count.getDim()];
    if (isZeroInteger(offset))
      continue;
    rewriter.setInsertionPointAfter(count);
    Value number = arith::AddIOp::create(
        rewriter, loc, count,
        getValueOrCreateConstantIndexOp(rewriter, loc, offset));
    rewriter.replaceAllUsesExcept(count, number, number.getDefiningOp());
  }
  Value result = part.getResult(0);
  if (result.getType() != slice.getType()) {
    rewriter.setInsertionPointAfter(part);
    result = tensor::CastOp::create(rewriter, loc, slice.getType(), result);
  }
  rewriter.replaceOp(slice, result);
  if (op->use_empty())
    rewriter.eraseOp(op);
}

void rmsnorm::gatherSlices(RewriterBase &rewriter, Operation *root) {
  SmallVector<tensor::ExtractSliceOp> slices;
  root->walk([&](tensor::ExtractSliceOp slice) { slices.push_back(slice); });
  for (tensor::ExtractSliceOp slice : slices)
    gatherSlice(rewriter, slice);
}
