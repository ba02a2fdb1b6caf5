// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OutlineRows.cpp - rmsnorm-outline-rows ----------------------------===//

#include "PackBuffers.h"
#include "RMSNorm/IR/AccessMap.h"
#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/IR/Disjoint.h"
#include "RMSNorm/Transforms/Passes.h"
#include "RowIndex.h"
#include "RowsProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_OUTLINEROWS
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// Makes a `rmsnorm.rows` of one loop over rows.
class Outliner {
public:
  explicit Outliner(scf::ForallOp forall)
      : forall(forall), program(*forall.getBody()),
        rewriter(forall.getContext()) {}

  LogicalResult run();

private:
  /// Whether there is one row: its number may be folded to 0 then.
  bool isSingleRow() { return isOneInteger(forall.getMixedUpperBound()[0]); }
  bool isPart(VectorType type);
  LogicalResult collectBuffers();
  LogicalResult setColumns(Operation *op, Value columns, int64_t bound);
  LogicalResult collectSizes();
  LogicalResult setSizes(affine::AffineDelinearizeIndexOp indices, int64_t rank,
                         ArrayRef<std::pair<Value, int64_t>> leading);
  LogicalResult collectScalars();
  AccessAttr getAccess(Value buffer, bool reads, bool writes);
  RowsOp createRows();
  AffineMap getSomeRows(TileLoadOp load, ArrayRef<int64_t> dims);
  void countRows(TileStoreOp store);
  void moveProgram(RowsOp rows);

  scf::ForallOp forall;
  Block &program;
  IRRewriter rewriter;
  /// The buffers in the order of their first use, and what is done with them.
  llvm::MapVector<Value, std::pair<bool, bool>> buffers;
  SmallVector<OpFoldResult> sizes;
  /// The leading size that each index of a row is of, if rows are taken apart.
  SmallVector<int64_t> dimOfIndex;
  SmallVector<int64_t> segments;
  /// N or its bound; the number of columns where only a call knows it.
  int64_t columns = 1;
  Value dynamicColumns;
  /// Values from outside that are operands, and ones that are computed inside.
  SetVector<Value> scalars, sunk;
};
} // namespace

/// All accesses of a program agree on N.
LogicalResult Outliner::setColumns(Operation *op, Value count, int64_t bound) {
  if (columns != 1 && (columns != bound || dynamicColumns != count))
    return op->emitOpError("expected all tiles of a loop over rows to have the "
                           "same number of columns, got ")
           << columns << " and " << bound
           << (columns == bound ? ", and two values for how many exist" : "");
  columns = bound;
  dynamicColumns = count;
  return success();
}

/// Whether rows are taken apart into values of the columns of `type`.
bool Outliner::isPart(VectorType type) {
  return llvm::any_of(program, [&](Operation &op) {
    return isa<vector::ExtractStridedSliceOp, vector::DeinterleaveOp>(op) &&
           cast<VectorType>(op.getResult(0).getType()).getDimSize(1) ==
               type.getDimSize(1);
  });
}

LogicalResult Outliner::collectBuffers() {
  Value row = forall.getInductionVar(0);
  auto add = [&](auto op, Value buffer, Value rowOperand, Value count,
                 VectorType type, TileKind kind, bool writes) -> LogicalResult {
    if (rowOperand && rowOperand != row &&
        (writes || !matchRowIndex(rowOperand, forall)) &&
        !(isSingleRow() && isConstantIntValue(rowOperand, 0)))
      return op.emitOpError("expected the row of the loop it is in");
    if (!isa<MemRefType>(buffer.getType()) ||
        forall->isAncestor(buffer.getParentBlock()->getParentOp()))
      return op.emitOpError("expected a buffer from outside of the loop over "
                            "rows, got ")
             << buffer.getType();
    auto &[isRead, isWritten] = buffers[buffer];
    (writes ? isWritten : isRead) = true;
    if ((!isPerColumn(type) && !count) || kind == TileKind::group ||
        isPart(type))
      return success();
    return setColumns(op, count, type.getDimSize(1));
  };
  for (Operation &op : program) {
    LogicalResult result = success();
    if (auto load = dyn_cast<TileLoadOp>(op))
      result = add(load, load.getBase(), load.getRow(), load.getColumns(),
                   load.getType(), load.getKind(), /*writes=*/false);
    else if (auto store = dyn_cast<TileStoreOp>(op))
      result = add(store, store.getBase(), store.getRow(), store.getColumns(),
                   cast<VectorType>(store.getValue().getType()),
                   store.getKind(), /*writes=*/true);
    else if (auto sum = dyn_cast<AccumulateOp>(op))
      for (bool writes : {true, false}) {
        Value buffer = writes ? Value(sum.getDest()) : sum.getInit();
        if (buffer && succeeded(result))
          result = add(sum, buffer, Value(), sum.getColumns(),
                       sum.getSource().getType(), TileKind::column, writes);
      }
    else if (auto reduce = dyn_cast<RowReduceOp>(op);
             reduce && isPerColumn(reduce.getInputs().front().getType()))
      result = setColumns(
          reduce, reduce.getColumns(),
          cast<VectorType>(reduce.getInputs().front().getType()).getDimSize(1));
    if (failed(result))
      return failure();
  }
  if (buffers.empty())
    return forall.emitOpError("expected a loop over rows to access a buffer");
  return success();
}

/// The leading sizes by which `indices` takes the row apart, those of `leading`
/// buffers with all of them: `rank` dimensions, of which ones of size 1 are no
/// indices.
LogicalResult Outliner::setSizes(affine::AffineDelinearizeIndexOp indices,
                                 int64_t rank,
                                 ArrayRef<std::pair<Value, int64_t>> leading) {
  auto isUnit = [&](int64_t dim) {
    return llvm::any_of(leading, [&](auto buffer) {
      return buffer.second == rank &&
             cast<MemRefType>(buffer.first.getType()).getDimSize(dim) == 1;
    });
  };
  for (OpFoldResult size : indices.getPaddedBasis()) {
    auto value = dyn_cast_or_null<Value>(size);
    if (!size ||
        (value && forall->isAncestor(value.getParentBlock()->getParentOp())))
      return indices.emitOpError("expected bounds of all indices, from outside "
                                 "of the loop over rows");
    const int64_t last = rank;
    while (rank > 1 && !isOneInteger(size) &&
           static_cast<int64_t>(sizes.size()) < last && isUnit(sizes.size()))
      sizes.push_back(rewriter.getIndexAttr(1));
    dimOfIndex.push_back(sizes.size());
    sizes.push_back(size);
  }
  while (static_cast<int64_t>(sizes.size()) < rank && isUnit(sizes.size()))
    sizes.push_back(rewriter.getIndexAttr(1));
  const int64_t count = sizes.size();
  // Nothing is counted in the first one.
  for (auto [base, dims] : leading)
    for (int64_t dim = 1; dim < dims; ++dim)
      if (dims != count || !(traceDim(base, dim) == traceSize(sizes[dim])))
        return indices.emitOpError("expected the leading sizes of ")
               << base.getType()
               << ", which all rows of the loop are counted in";
  return success();
}

/// The leading sizes, of the first buffer that has all of them, static where
/// any has it. The loop's bound is their product.
LogicalResult Outliner::collectSizes() {
  SmallVector<std::pair<Value, int64_t>> leading;
  affine::AffineDelinearizeIndexOp indices;
  for (Operation &op : program) {
    Value base;
    int64_t trailing = 1;
    auto load = dyn_cast<TileLoadOp>(op);
    if (auto index =
            load ? matchRowIndex(load.getRow(), forall) : std::nullopt) {
      if (indices && indices.getMixedBasis() != index->indices.getMixedBasis())
        return index->indices.emitOpError("expected all rows of a loop to be "
                                          "counted in the same sizes");
      indices = index->indices;
    } else if (load) {
      base = load.getRow() ? load.getBase() : Value();
      trailing = load.getKind() == TileKind::row ? 0 : 1;
    } else if (auto store = dyn_cast<TileStoreOp>(op)) {
      base = store.getRow() && store.getAccess().isPlain() ? store.getBase()
                                                           : Value();
      trailing = store.getKind() == TileKind::row ? 0 : 1;
    }
    if (base)
      leading.push_back(
          {base, cast<MemRefType>(base.getType()).getRank() - trailing});
  }
  int64_t rank = 0;
  for (auto [base, count] : leading)
    rank = std::max(rank, count);
  if (indices)
    return setSizes(indices, rank, leading);
  if (rank <= 1) {
    sizes = forall.getMixedUpperBound();
    return success();
  }
  std::optional<int64_t> rows = 1;
  for (int64_t dim = 0; dim < rank; ++dim) {
    OpFoldResult size;
    for (auto [base, count] : leading) {
      auto type = cast<MemRefType>(base.getType());
      if (count == rank && !type.isDynamicDim(dim))
        size = rewriter.getIndexAttr(type.getDimSize(dim));
    }
    for (auto [base, count] : leading)
      if (count == rank && !size)
        size = memref::DimOp::create(rewriter, forall.getLoc(), base, dim)
                   .getResult();
    sizes.push_back(size);
    std::optional<int64_t> count = getConstantIntValue(size);
    rows = rows && count ? std::optional(*rows * *count) : std::nullopt;
  }
  std::optional<int64_t> bound =
      getConstantIntValue(forall.getMixedUpperBound().front());
  if (bound && rows != bound) {
    InFlightDiagnostic error = forall.emitOpError(
        "expected as many iterations as its buffers have rows, got ");
    error << *bound;
    return error;
  }
  return success();
}

/// What the program uses from outside beside its buffers. Constants and float
/// arithmetic are computed inside: a launch computes indices only.
LogicalResult Outliner::collectScalars() {
  std::function<LogicalResult(Operation *, Value)> add =
      [&](Operation *user, Value value) -> LogicalResult {
    if (forall->isAncestor(value.getParentBlock()->getParentOp()) ||
        value == dynamicColumns || buffers.count(value) || sunk.count(value))
      return success();
    Operation *def = value.getDefiningOp();
    if (def && (def->hasTrait<OpTrait::ConstantLike>() ||
                (!value.getType().isIntOrIndex() && isPure(def) &&
                 def->getNumRegions() == 0))) {
      for (Value operand : def->getOperands())
        if (failed(add(user, operand)))
          return failure();
      sunk.insert(value);
      return success();
    }
    if (!value.getType().isIntOrIndexOrFloat())
      return user->emitOpError("expected scalars from outside of the loop over "
                               "rows, got ")
             << value.getType();
    scalars.insert(value);
    return success();
  };
  WalkResult walk = program.walk([&](Operation *op) {
    if (isRowIndex(op))
      return WalkResult::advance();
    for (Value operand : op->getOperands())
      if (failed(add(op, operand)))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

AccessAttr Outliner::getAccess(Value buffer, bool reads, bool writes) {
  const AccessKind kind = !writes ? AccessKind::read
                          : reads ? AccessKind::update
                                  : AccessKind::write;
  // Views of one buffer may overlap; its first view names the class.
  int64_t alias = -1;
  Value root = getRootBuffer(buffer);
  auto isView = [&](Value other) { return getRootBuffer(other) == root; };
  auto all = llvm::make_first_range(buffers);
  if (llvm::count_if(all, isView) > 1)
    alias = std::distance(all.begin(), llvm::find_if(all, isView));
  return AccessAttr::get(rewriter.getContext(), kind,
                         kind == AccessKind::read && isConstantBuffer(buffer),
                         alias);
}

RowsOp Outliner::createRows() {
  SmallVector<Value> dynamicSizes;
  SmallVector<int64_t> staticSizes;
  dispatchIndexOpFoldResults(sizes, dynamicSizes, staticSizes);
  SmallVector<Value> operands;
  SmallVector<Attribute> accesses;
  for (auto &[buffer, access] : buffers) {
    operands.push_back(buffer);
    accesses.push_back(getAccess(buffer, access.first, access.second));
  }
  return RowsOp::create(
      rewriter, forall.getLoc(), /*partials=*/TypeRange(), dynamicSizes,
      dynamicColumns, operands, scalars.getArrayRef(), staticSizes, columns,
      rewriter.getArrayAttr(accesses), ScheduleAttr(), segments);
}

/// The map of `load`, whose base has the leading sizes that the indices `dims`
/// are of.
AffineMap Outliner::getSomeRows(TileLoadOp load, ArrayRef<int64_t> dims) {
  const bool hasColumn = load.getAccess().hasColumn();
  return AccessMap::getSome(
      rewriter.getContext(), sizes.size(),
      llvm::map_to_vector(dims, [&](int64_t dim) { return dimOfIndex[dim]; }),
      hasColumn, hasColumn);
}

/// Counts the rows of `store` by their number, where its base has other sizes
/// than the rows.
void Outliner::countRows(TileStoreOp store) {
  const AccessMap access = store.getAccess();
  if (access.isPlain())
    return;
  auto type = cast<MemRefType>(store.getBase().getType());
  SmallVector<int64_t> own;
  for (unsigned dim = 0; dim < access.getNumRowDims(); ++dim)
    own.push_back(type.getDimSize(access.getPlace(dim)));
  bool isSame = own.size() == sizes.size();
  for (size_t dim = 1; isSame && dim < own.size(); ++dim)
    isSame = ShapedType::isDynamic(own[dim]) ||
             getConstantIntValue(sizes[dim]) == own[dim];
  if (!isSame && !ShapedType::isDynamicShape(ArrayRef(own).drop_front()))
    store.setMap(access.countRows(own));
}

void Outliner::moveProgram(RowsOp rows) {
  Block &tile = createBody(rewriter, rows);
  Block &body = rows.getBody().front();
  IRMapping mapping;
  mapping.map(rows->getOperands(), body.getArguments());
  rewriter.setInsertionPointToStart(&body);
  for (Value value : sunk)
    rewriter.clone(*value.getDefiningOp(), mapping);
  Value number = tile.getArgument(0);
  rewriter.setInsertionPointToEnd(&tile);
  mapping.map(forall.getInductionVar(0), number);
  for (Operation &op : program.without_terminator()) {
    if (isRowIndex(&op))
      continue;
    Operation *clone = rewriter.clone(op, mapping);
    // rmsnorm.rows says how many columns there are.
    auto setTile = [&](auto access) {
      access.getColumnsMutable().clear();
      if (access.getRow())
        access.getRowMutable().assign(number);
    };
    if (auto load = dyn_cast<TileLoadOp>(clone)) {
      if (auto index = matchRowIndex(cast<TileLoadOp>(op).getRow(), forall))
        load.setMap(getSomeRows(load, index->dims));
      setTile(load);
    } else if (auto store = dyn_cast<TileStoreOp>(clone)) {
      countRows(store);
      setTile(store);
    } else if (auto sum = dyn_cast<AccumulateOp>(clone))
      sum.getColumnsMutable().clear();
    else if (auto reduce = dyn_cast<RowReduceOp>(clone))
      reduce.getColumnsMutable().clear();
  }
  YieldOp::create(rewriter, forall.getLoc());
  sinkLastReductions(tile);
}

LogicalResult Outliner::run() {
  if (!forall.isNormalized() || forall.getRank() != 1 ||
      forall.getNumResults() != 0)
    return forall.emitOpError("expected a bufferized loop over rows from 0 "
                              "with step 1")
           << (forall.getNumResults() == 0
                   ? ""
                   : ", got one on tensors: one-shot-bufferize comes first");
  rewriter.setInsertionPoint(forall);
  if (failed(collectBuffers()) || failed(collectScalars()) ||
      failed(collectSizes()) ||
      failed(collectSegments(forall, sizes.size(), segments)))
    return failure();
  moveProgram(createRows());
  rewriter.eraseOp(forall);
  return success();
}

namespace {
struct OutlineRows final : rmsnorm::impl::OutlineRowsBase<OutlineRows> {
  using OutlineRowsBase::OutlineRowsBase;

  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation()->walk([&](scf::ForallOp forall) {
      if (forall->hasAttr(RMSNormDialect::kRowsAttrName))
        loops.push_back(forall);
    });
    for (scf::ForallOp forall : loops) {
      dropUnitDimensions(forall);
      orderDimensions(forall);
      if (failed(packBuffers(forall, pack)) || failed(Outliner(forall).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
