// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Vectorize.cpp - rmsnorm-vectorize ---------------------------------===//

#include "Gathers.h"
#include "Reshapes.h"
#include "RowCluster.h"
#include "StoredLayouts.h"
#include "TileProgram.h"
#include "VectorizeLinalg.h"

#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Transforms/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_VECTORIZE
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// The elements that a tensor of `type` has in one row: its columns, or groups
/// of columns with those in a group, as one number; of what has neither, 1.
/// ShapedType::kDynamic if types do not tell.
static int64_t getRowElements(Type type, int64_t rowDims) {
  ArrayRef<int64_t> shape = cast<ShapedType>(type).getShape();
  const int64_t rank = shape.size();
  if (rank == 0)
    return 1;
  if (rank != rowDims + 2 || ShapedType::isDynamicShape(shape.take_back(2)))
    return shape.back();
  return shape[rank - 2] * shape.back();
}

/// Whether `op`, on one row of a loop with `rowDims` row dimensions, sums over
/// rows.
static bool sumsOverLeading(linalg::LinalgOp op, int64_t rowDims) {
  SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
  return llvm::is_contained(ArrayRef(iterators).take_front(
                                std::min<size_t>(rowDims, iterators.size())),
                            utils::IteratorType::reduction);
}

namespace {
/// Makes the tile program of one loop over rows.
class RowVectorizer final : public RowValues {
public:
  RowVectorizer(scf::ForallOp loop, int64_t rowDims)
      : loop(loop), rowDims(rowDims), builder(loop.getContext()) {}

  LogicalResult run();

  int64_t getElements(OpOperand &operand) override {
    return getColumns(operand.get()) ? kDynamicColumns
                                     : getLastDim(operand.get());
  }
  FailureOr<Value> getVector(OpOperand &operand) override;
  bool isPerColumn(OpOperand &operand) override {
    return getKind(operand) == TileKind::column;
  }
  void setVector(OpResult result, Value vector) override {
    vectors[result] = vector;
  }
  Value getColumns(OpOperand &operand) override {
    return getColumns(operand.get());
  }
  bool sumsRows(linalg::LinalgOp op) override {
    return sumsOverLeading(op, rowDims);
  }
  bool isIndexing(Operation &payload) override {
    return isa<linalg::IndexOp, affine::AffineApplyOp>(payload) ||
           countsColumns(payload, rowDims);
  }
  FailureOr<Value>
  gather(linalg::LinalgOp op, tensor::ExtractOp extract, int64_t elements,
         Value columns,
         function_ref<FailureOr<Value>(Value)> getIndex) override;

private:
  /// Elements of one row of `tensor`: its columns, groups of columns, or 1.
  int64_t getLastDim(Value tensor) const {
    return getRowElements(tensor.getType(), rowDims);
  }
  bool isLastDimDynamic(Value tensor) const;
  Value getColumns(Value tensor);
  std::optional<TileKind> getKind(OpOperand &operand);
  bool hasVector(Value tensor);
  FailureOr<Value> getVector(Value tensor, std::optional<TileKind> kind = {});
  /// Whether a row of `type` has one element for each group of columns.
  bool isGroupsOf(RankedTensorType type) const {
    const int64_t size = getRowElements(type, rowDims);
    return hasGroups && size > 1 && size < mostColumns;
  }
  bool isComputed(tensor::ExtractSliceOp slice);
  FailureOr<Value> load(Value tensor, std::optional<TileKind> kind);
  LogicalResult vectorize(Operation *op);
  LogicalResult insertPart(tensor::InsertSliceOp op);
  LogicalResult store(tensor::ParallelInsertSliceOp insert);
  LogicalResult sum(ColumnSumOp op);
  Value getZero() {
    return arith::ConstantIndexOp::create(builder, loop.getLoc(), 0);
  }

  scf::ForallOp loop;
  int64_t rowDims;
  OpBuilder builder;
  /// Whether the number of columns is a run-time value.
  bool hasDynamicColumns = false;
  /// Whether columns are divided into groups.
  bool hasGroups = false;
  /// The most elements of a row. What has fewer has groups of columns.
  int64_t mostColumns = 1;
  /// The number of columns, for each place where it comes from.
  SmallVector<std::pair<DimSource, Value>> columns;
  llvm::DenseMap<Value, Value> vectors;
  /// Sums over rows: vectorized where the summand leaves the loop, last.
  llvm::SmallPtrSet<Operation *, 2> rowSums;
};
} // namespace

static bool isTensor(Value value) {
  return isa<RankedTensorType>(value.getType());
}

/// Whether the number of columns of `tensor`, or of the buffer that it is a row
/// of, is a run-time value for the types.
bool RowVectorizer::isLastDimDynamic(Value tensor) const {
  if (!isTensor(tensor) || getLastDim(tensor) == 1)
    return false;
  auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
  if (slice && loop->isAncestor(slice) &&
      ShapedType::isDynamic(getLastDim(slice.getSource())))
    return true;
  return ShapedType::isDynamic(getLastDim(tensor));
}

Value RowVectorizer::getColumns(Value tensor) {
  if (!hasDynamicColumns || getLastDim(tensor) == 1)
    return {};
  OpBuilder::InsertionGuard guard(builder);
  DimSource source =
      traceDim(tensor, cast<ShapedType>(tensor.getType()).getRank() - 1);
  for (auto [known, value] : columns)
    if (known == source)
      return value;
  Operation *definition = source.value ? source.value.getDefiningOp() : nullptr;
  const bool isInside = definition && loop->isAncestor(definition);
  if (!isInside)
    builder.setInsertionPoint(loop);
  Value value = getValueOrCreateConstantIndexOp(
      builder, loop.getLoc(), materializeDim(builder, loop.getLoc(), source));
  if (!isInside)
    columns.push_back({source, value});
  return value;
}

FailureOr<Value> RowVectorizer::load(Value tensor,
                                     std::optional<TileKind> kind) {
  Value base = tensor;
  // A slice from outside of the loop is a tensor like any other.
  auto slice = tensor.getDefiningOp<tensor::ExtractSliceOp>();
  if (slice && !loop->isAncestor(slice))
    slice = {};
  if (slice) {
    if (slice.getSourceType().getRank() != slice.getType().getRank())
      return slice.emitOpError("expected a slice of full rank, got ")
             << slice.getType();
    base = slice.getSource();
  }
  auto type = cast<RankedTensorType>(tensor.getType());
  Location loc = tensor.getLoc();
  int64_t rank = type.getRank();
  bool dynamic = hasDynamicColumns && getLastDim(tensor) != 1;
  // What is the same for all groups of columns is repeated.
  const bool repeats = kind == TileKind::column && isGroupsOf(type);
  auto vectorType = VectorType::get({1, dynamic   ? kDynamicColumns
                                        : repeats ? mostColumns
                                                  : getLastDim(tensor)},
                                    type.getElementType());
  DenseElementsAttr constant;
  if (matchPattern(base, m_Constant(&constant)) && constant.isSplat())
    return arith::ConstantOp::create(
               builder, loc,
               DenseElementsAttr::get(vectorType,
                                      constant.getSplatValue<Attribute>()))
        .getResult();
  if (auto empty = base.getDefiningOp<tensor::EmptyOp>())
    return empty.emitOpError("expected contents, got a read of it");

  // A row of the rows, or the same columns for all of them? Where rows have one
  // index, that index tells; it is no longer there if there is one row only.
  auto isRow = [&] {
    if (rank != rowDims || rank > 1)
      return rank == rowDims;
    bool isIndexed = slice && !isZeroInteger(slice.getMixedOffsets()[0]);
    return isIndexed ||
           (type.getDimSize(0) == 1 && loop.getStaticUpperBound()[0] == 1);
  };
  const bool isGroups = isGroupsOf(type);
  if (!kind && rank == rowDims + 1 && !(isGroups && rank == 1))
    kind = isGroups ? TileKind::group : TileKind::tile;
  else if (!kind && (rank == 0 || isRow()))
    kind = TileKind::row;
  else if (!kind && rank == 1 && !isGroups)
    kind = TileKind::column;
  if (!kind)
    return emitError(loc, "expected a tensor of rank ")
           << rowDims + 1 << " (columns, or groups of them), " << rowDims
           << " (one value a row) or 1 (one value a column), got " << type;
  if (kind == TileKind::column)
    tensor = base;
  Value row = rank > (kind == TileKind::row ? 0 : 1) ? getZero() : Value();
  auto load = TileLoadOp::create(builder, loc, vectorType, *kind, tensor, row,
                                 /*index=*/Value(), getColumns(tensor),
                                 /*map=*/nullptr);
  const int64_t columns =
      repeats ? cast<RankedTensorType>(tensor.getType()).getDimSize(0) : 0;
  if (repeats && columns != mostColumns)
    load.setMap(AffineMap::get(1, 0, builder.getAffineDimExpr(0) % columns));
  return load.getResult();
}

bool RowVectorizer::hasVector(Value tensor) {
  Operation *definition = tensor.getDefiningOp();
  return vectors.contains(tensor) ||
         (definition && loop->isAncestor(definition) &&
          (isReshape(definition) || isa<tensor::CastOp>(definition)));
}

/// Whether `slice` is a part, of a known size, of a row that is computed here.
bool RowVectorizer::isComputed(tensor::ExtractSliceOp slice) {
  if (slice && ShapedType::isDynamic(slice.getStaticSizes().back()))
    return false;
  while (slice && loop->isAncestor(slice)) {
    if (vectors.contains(slice.getSource()))
      return true;
    slice = slice.getSource().getDefiningOp<tensor::ExtractSliceOp>();
  }
  return false;
}

FailureOr<Value> RowVectorizer::getVector(Value tensor,
                                          std::optional<TileKind> kind) {
  if (Value vector = vectors.lookup(tensor))
    return vector;
  Operation *definition = tensor.getDefiningOp();
  FailureOr<Value> vector;
  if (auto castOp = dyn_cast_or_null<tensor::CastOp>(definition);
      castOp && loop->isAncestor(castOp)) {
    vector = getVector(castOp.getSource(), kind);
  } else if (definition && loop->isAncestor(definition) &&
             isReshape(definition)) {
    vector = getVector(definition->getOperand(0), kind);
  } else if (rowSums.erase(definition)) {
    if (failed(vectorizeLinalg(builder, cast<linalg::LinalgOp>(definition),
                               *this)))
      return failure();
    return vectors.lookup(tensor);
  } else if (auto part = dyn_cast_or_null<tensor::ExtractSliceOp>(definition);
             part && isComputed(part)) {
    const int64_t last = part.getType().getRank() - 1;
    Value row = *getVector(part.getSource());
    const int64_t offset = part.getStaticOffsets()[last];
    if (part.getStaticStrides()[last] == 2)
      vector = vector::DeinterleaveOp::create(builder, part.getLoc(), row)
                   ->getResult(offset);
    else
      vector = vector::ExtractStridedSliceOp::create(
                   builder, part.getLoc(), row, ArrayRef<int64_t>{0, offset},
                   ArrayRef<int64_t>{1, part.getStaticSizes()[last]},
                   ArrayRef<int64_t>{1, 1})
                   .getResult();
  } else {
    vector = load(tensor, kind);
  }
  if (succeeded(vector))
    vectors[tensor] = *vector;
  return vector;
}

/// What `operand` is to a row where its rank does not tell: one value a column
/// if rows have rank 1, too, a tile or a value for some of the leading
/// dimensions.
std::optional<TileKind> RowVectorizer::getKind(OpOperand &operand) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  const int64_t loops = op.getNumLoops();
  AffineMap map = op.getMatchingIndexingMap(&operand);
  if (loops == rowDims + 2) {
    // On groups of columns: its map says what it has of them.
    const SmallVector<int64_t> dims = getOperandRowDims(operand, rowDims);
    if (map.isFunctionOfDim(rowDims + 1))
      return dims.empty() ? TileKind::column : TileKind::tile;
    if (map.isFunctionOfDim(rowDims))
      return TileKind::group;
    return isPartial(dims, rowDims) ? std::optional(TileKind::row)
                                    : std::nullopt;
  }
  // One loop is that of the rows or, in an op that knows none, the columns.
  const bool hasColumns = loops > rowDims && map.isFunctionOfDim(rowDims);
  if (rowDims > 0 && hasColumns && map.getNumResults() == 1)
    return TileKind::column;
  if (loops >= rowDims &&
      isPartial(getOperandRowDims(operand, rowDims), rowDims))
    return hasColumns ? TileKind::tile : TileKind::row;
  return std::nullopt;
}

FailureOr<Value> RowVectorizer::getVector(OpOperand &operand) {
  auto op = cast<linalg::LinalgOp>(operand.getOwner());
  AffineMap map = op.getMatchingIndexingMap(&operand);
  Value tensor = operand.get();
  if (static_cast<int64_t>(op.getNumLoops()) == rowDims + 2 &&
      map.isFunctionOfDim(rowDims + 1)) {
    const bool hasGroups = map.isFunctionOfDim(rowDims);
    const int64_t size = cast<ShapedType>(tensor.getType()).getShape().back();
    // Threads read whole vectors of a group's columns.
    if (!hasGroups && size % 16 != 0)
      return op.emitOpError("expected operand #")
             << operand.getOperandNumber()
             << ", the same for all groups of columns, to have a multiple of "
                "16 of them, got "
             << size;
    if (hasGroups && !hasVector(tensor))
      tensor = collapseOutside(builder, loop, tensor);
    if (!tensor)
      return op.emitOpError("expected operand #")
             << operand.getOperandNumber()
             << ", which has groups of columns, to come from outside of the "
                "loop over rows, or from a tensor of its rows";
  }
  return getVector(tensor, getKind(operand));
}

FailureOr<Value>
RowVectorizer::gather(linalg::LinalgOp op, tensor::ExtractOp extract,
                      int64_t elements, Value columns,
                      function_ref<FailureOr<Value>(Value)> getIndex) {
  std::string reason;
  std::optional<Gather> gather = matchGather(extract, op, rowDims, reason);
  if (!gather)
    return op.emitOpError(reason);
  FailureOr<Value> index = getIndex(gather->getIndex());
  if (failed(index))
    return failure();
  OpBuilder outside(loop);
  return gather->createLoad(builder, outside, *index, elements, columns);
}

LogicalResult RowVectorizer::vectorize(Operation *op) {
  builder.setInsertionPoint(op);
  if (isa<ForwardOp, BackwardOp>(op))
    return op->emitOpError(
        "expected no norm in a loop over rows; run rmsnorm-decompose first");
  if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    if (std::string reason = whyNoTileProgram(linalgOp); !reason.empty())
      return op->emitOpError(reason);
    if (std::string reason = whyNoGathers(linalgOp, rowDims); !reason.empty())
      return op->emitOpError("expected gathers of rows, but ") << reason;
    if (!sumsRows(linalgOp))
      return vectorizeLinalg(builder, linalgOp, *this);
    return success(rowSums.insert(op).second);
  }
  if (auto insert = dyn_cast<tensor::InsertSliceOp>(op))
    return insertPart(insert);
  // What only says where a row is, or how large.
  if (isa<tensor::ExtractSliceOp, tensor::EmptyOp, tensor::CastOp,
          tensor::ExpandShapeOp, tensor::CollapseShapeOp, tensor::DimOp>(op) ||
      (llvm::none_of(op->getOperands(), isTensor) &&
       llvm::none_of(op->getResults(), isTensor)))
    return success();
  return op->emitOpError("has no tile program: expected linalg ops and slices "
                         "in a loop over rows");
}

/// Puts columns into a row, which is not loaded if none of it stays.
LogicalResult RowVectorizer::insertPart(tensor::InsertSliceOp op) {
  FailureOr<Value> part = getVector(op.getSource());
  FailureOr<Value> row = vectors.lookup(op.getDest());
  const int64_t last = op.getType().getRank() - 1;
  if (!*row && !isInitRead(op.getDestMutable())) {
    auto type = VectorType::get({1, op.getType().getDimSize(last)},
                                op.getType().getElementType());
    row = arith::ConstantOp::create(builder, op.getLoc(),
                                    builder.getZeroAttr(type))
              .getResult();
  } else if (!*row) {
    row = getVector(op.getDest());
  }
  if (failed(part) || failed(row))
    return failure();
  const int64_t offset = op.getStaticOffsets()[last];
  if (op.getStaticStrides()[last] == 2) {
    // The other columns of the pairs stay.
    auto pairs = row->getDefiningOp<vector::InterleaveOp>();
    Value other =
        pairs ? pairs->getOperand(1 - offset)
              : vector::DeinterleaveOp::create(builder, op.getLoc(), *row)
                    ->getResult(1 - offset);
    vectors[op.getResult()] = vector::InterleaveOp::create(
        builder, op.getLoc(), offset == 0 ? *part : other,
        offset == 0 ? other : *part);
    return success();
  }
  vectors[op.getResult()] = vector::InsertStridedSliceOp::create(
      builder, op.getLoc(), *part, *row, ArrayRef<int64_t>{0, offset},
      ArrayRef<int64_t>{1, 1});
  return success();
}

LogicalResult RowVectorizer::store(tensor::ParallelInsertSliceOp insert) {
  builder.setInsertionPoint(loop.getTerminator());
  FailureOr<Value> value = getVector(insert.getSource());
  if (failed(value))
    return failure();
  const RankedTensorType type = insert.getSourceType();
  if (insert.getDestType().getRank() != type.getRank())
    return insert.emitOpError("expected a slice of full rank, got ") << type;
  Value slice = tensor::ExtractSliceOp::create(
      builder, insert.getLoc(), type, insert.getDest(),
      insert.getMixedOffsets(), insert.getMixedSizes(),
      insert.getMixedStrides());
  AffineMapAttr map = getStoredMap(insert, rowDims);
  TileKind kind = map                             ? TileKind::group
                  : type.getRank() == rowDims + 1 ? TileKind::tile
                                                  : TileKind::row;
  if (kind == TileKind::tile && isGroupsOf(type)) {
    if (type.getRank() == 1)
      return insert.emitOpError("expected rows of groups of columns, got one "
                                "row without a dimension for it");
    kind = TileKind::group;
  }
  const bool isTile = kind == TileKind::tile;
  insert.getSourceMutable().assign(
      TileStoreOp::create(builder, insert.getLoc(), type, kind, *value, slice,
                          type.getRank() > isTile ? getZero() : Value(),
                          isTile ? getColumns(slice) : Value(), map)
          .getResult());
  return success();
}

LogicalResult RowVectorizer::sum(ColumnSumOp op) {
  builder.setInsertionPoint(loop.getTerminator());
  FailureOr<Value> value = getVector(op.getSource(), TileKind::column);
  if (failed(value))
    return failure();
  if (Value columns = getColumns(op.getSource()))
    op.getColumnsMutable().assign(columns);
  op.getSourceMutable().assign(*value);
  return success();
}

LogicalResult RowVectorizer::run() {
  SmallVector<Operation *> body(
      llvm::make_pointer_range(loop.getBody()->without_terminator()));
  for (Operation *op : body) {
    hasGroups |= isReshape(op);
    if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
      hasGroups |= linalgOp.getNumLoops() > rowDims + 1;
      for (Value operand : op->getOperands()) {
        hasDynamicColumns |= isLastDimDynamic(operand);
        if (isTensor(operand))
          mostColumns = std::max(mostColumns, getLastDim(operand));
      }
    }
  }
  for (Operation *op : body)
    if (failed(vectorize(op)))
      return failure();
  // Summands in front of all stores.
  builder.setInsertionPoint(loop.getTerminator());
  for (Operation &op : loop.getTerminator().getYieldingOps())
    if (auto columnSum = dyn_cast<ColumnSumOp>(op);
        columnSum && failed(getVector(columnSum.getSource(), TileKind::column)))
      return failure();
  for (Operation &op : loop.getTerminator().getYieldingOps()) {
    LogicalResult result = failure();
    if (auto insert = dyn_cast<tensor::ParallelInsertSliceOp>(op))
      result = store(insert);
    else if (auto columnSum = dyn_cast<ColumnSumOp>(op))
      result = sum(columnSum);
    else
      op.emitOpError("expected tensor.parallel_insert_slice or "
                     "rmsnorm.column_sum to leave a loop over rows");
    if (failed(result))
      return failure();
  }
  for (Operation *op : llvm::reverse(body))
    if (op->use_empty() &&
        (isa<linalg::LinalgOp>(op) ||
         isa_and_nonnull<tensor::TensorDialect>(op->getDialect())))
      op->erase();
  return success();
}

/// Whether `loop` is what this pass leaves.
static bool isTileProgram(scf::ForallOp loop) {
  return llvm::any_of(*loop.getBody(), llvm::IsaPred<TileStoreOp>) &&
         llvm::none_of(*loop.getBody(),
                       llvm::IsaPred<linalg::LinalgOp, ForwardOp, BackwardOp>);
}

namespace {
struct Vectorize final : rmsnorm::impl::VectorizeBase<Vectorize> {
  using VectorizeBase::VectorizeBase;

  void runOnOperation() override {
    SmallVector<std::pair<scf::ForallOp, int64_t>> loops;
    getOperation()->walk([&](scf::ForallOp loop) {
      auto rowDims =
          loop->getAttrOfType<IntegerAttr>(RMSNormDialect::kRowsAttrName);
      if (rowDims && !isTileProgram(loop))
        loops.push_back({loop, rowDims.getInt()});
    });
    for (auto [loop, rowDims] : loops)
      if (failed(RowVectorizer(loop, rowDims).run()))
        return signalPassFailure();
  }
};
} // namespace
