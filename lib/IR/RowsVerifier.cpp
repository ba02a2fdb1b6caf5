// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowsVerifier.cpp - what holds of programs at the rows level -------===//

#include "AccessVerifier.h"

#include "RMSNorm/IR/TileTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include <map>

using namespace mlir;
using namespace mlir::rmsnorm;

//===----------------------------------------------------------------------===//
// rows
//===----------------------------------------------------------------------===//

/// (C13)
static LogicalResult verifyTensors(RowsOp rows) {
  if (!rows.hasTensors())
    return llvm::any_of(rows.getResultTypes(), llvm::IsaPred<TensorType>)
               ? rows.emitOpError("expected tensors as results only where the "
                                  "buffers are tensors")
               : success();
  if (!llvm::all_of(rows.getBuffers().getTypes(), llvm::IsaPred<TensorType>))
    return rows.emitOpError("expected only tensors or only memrefs, got both");
  if (rows.getScheduleAttr() ||
      llvm::any_of(rows.getAccesses().getAsRange<AccessAttr>(),
                   [](AccessAttr access) {
                     return access.getConstant() || access.getAlias() >= 0;
                   }))
    return rows.emitOpError("expected tensors to have neither a schedule nor "
                            "'constant' or 'alias', of which bufferization "
                            "decides");
  SmallVector<Type> types;
  for (OpOperand *written : rows.getWritten())
    types.push_back(written->get().getType());
  if (!llvm::equal(types, rows.getResultTypes()))
    return rows.emitOpError(
        "expected a result for each tensor that is written, "
        "of its type, in their order");
  return success();
}

LogicalResult RowsOp::verify() {
  // (C1), before the ops of the body are verified, which rely on it.
  if (!llvm::equal(
          getBody().front().getArgumentTypes(),
          llvm::map_range((*this)->getOperandTypes(), RowsOp::getArgumentType)))
    return emitOpError("expected block arguments of the operands' types, in "
                       "their order; of tensors, memrefs");
  if (llvm::count_if(getStaticSizes(), ShapedType::isDynamic) !=
          static_cast<int64_t>(getSizes().size()) ||
      llvm::any_of(getStaticSizes(), [](int64_t size) {
        return size < 0 && !ShapedType::isDynamic(size);
      }))
    return emitOpError("expected static sizes >= 0, and an operand for each "
                       "of the others");
  // (C2)
  if (getAccesses().size() != getBuffers().size())
    return emitOpError("expected as many accesses as buffers, got ")
           << getAccesses().size() << " and " << getBuffers().size();
  // Whether it is written, too.
  llvm::SmallDenseMap<Value, bool> seen;
  std::map<int64_t, int64_t> members;
  for (auto [buffer, access] :
       llvm::zip(getBuffers(), getAccesses().getAsRange<AccessAttr>())) {
    auto [known, isNew] = seen.try_emplace(buffer, access.writes());
    known->second |= access.writes();
    if (!isNew && known->second && getScheduleAttr())
      return emitOpError("expected each buffer that is written once, got one "
                         "of type ")
             << buffer.getType() << " twice";
    if (access.getConstant() && access.getKind() != AccessKind::read)
      return emitOpError("expected a constant buffer to be read only, got ")
             << stringifyAccessKind(access.getKind());
    if (access.getAlias() >= 0)
      ++members[access.getAlias()];
  }
  for (auto [alias, count] : members)
    if (count < 2)
      return emitOpError("expected two buffers at least of an alias class, got "
                         "one of class ")
             << alias;
  if (failed(verifyTensors(*this)))
    return failure();
  // (C3)
  const ArrayRef<int64_t> digits = getDigits();
  const bool isSingle = digits.size() == 1;
  bool fits = !digits.empty() && digits.size() <= 5 &&
              (isSingle || !getDynamicColumns());
  // The product of digits that are too large may be anything.
  int64_t columns = 1;
  for (int64_t size : digits) {
    fits &= size >= (isSingle ? 1 : 2) && size <= kDynamicColumns / columns;
    columns *= fits ? size : 1;
  }
  if (!fits || (columns == kDynamicColumns && !getDynamicColumns())) {
    InFlightDiagnostic error = emitOpError("expected columns from 1 to ");
    error << kDynamicColumns - 1 << ", or " << kDynamicColumns
          << " with the dynamic number of them, or up to 5 digits of 2 at "
             "least, got ";
    llvm::interleaveComma(digits, error);
    return error;
  }
  // (C12)
  if (!keepsRowsTogether(getSegments()))
    return emitOpError("expected segments to be the first or the last of the ")
           << getStaticSizes().size() << " leading sizes, and not all, got "
           << getSegmentsAttr();
  ScheduleAttr schedule = getScheduleAttr();
  if (schedule && schedule.getCluster() > 1 &&
      (schedule.getTileRows() != 1 || getDynamicColumns()))
    return emitOpError("expected tiles of one row of static size in a cluster");
  return success();
}

namespace {
/// Checks the body of one op.
class BodyVerifier {
public:
  explicit BodyVerifier(RowsOp rows)
      : rows(rows), schedule(rows.getScheduleAttr()), accesses(rows) {
    rows.getBody().walk([&](TraverseOp) { isPlaced = true; });
  }

  LogicalResult run();

private:
  LogicalResult verifyOp(Operation *op);
  LogicalResult verifyType(Operation *op, Type type);
  LogicalResult verifyGroups(GroupReduceOp op);
  LogicalResult verifyOnce();
  LogicalResult verifyPlacement(Block &block);
  LogicalResult verifyStores(Block &block);
  LogicalResult verifyYield();
  LogicalResult verifySumStores();

  RowsOp rows;
  ScheduleAttr schedule;
  AccessVerifier accesses;
  bool isPlaced = false;
};
} // namespace

/// (C5)
LogicalResult BodyVerifier::verifyType(Operation *op, Type type) {
  auto vector = dyn_cast<VectorType>(type);
  if (!vector && type.isIntOrIndexOrFloat())
    return success();
  const ArrayRef<int64_t> digits = rows.getDigits();
  auto getExpected = [&] {
    std::string text = "Rx";
    llvm::raw_string_ostream stream(text);
    llvm::interleave(digits, stream, "x");
    return text;
  };
  if (!vector || vector.isScalable() ||
      vector.getRank() != static_cast<int64_t>(digits.size()) + 1)
    return op->emitOpError("expected scalars and vectors of ")
           << getExpected() << ", as rmsnorm.rows says, or with 1 for some of "
           << "the digits, got " << type;
  // Of a digit that is taken apart a value has some indices.
  const bool isWhole = isa<RowReduceOp, AccumulateOp, TilesOp>(op);
  bool fits =
      !isWhole || !isPerColumn(vector) || getColumnShape(vector) == digits;
  for (auto [own, size] : llvm::zip(getColumnShape(vector), digits))
    fits &= own <= size;
  if (!fits)
    return op->emitOpError("expected vectors of ")
           << getExpected() << ", as rmsnorm.rows says, or with fewer indices "
           << "of some digits, got " << vector;
  const int64_t count = vector.getDimSize(0);
  const int64_t tile = schedule ? schedule.getTileRows() : 1;
  const int64_t groups = schedule ? schedule.getRowGroups() : 1;
  if (isa<TilesOp, AccumulateOp>(op) && count != groups)
    return op->emitOpError("expected accumulators of ")
           << groups << " rows, as the schedule says, got " << vector;
  const bool isAccumulator =
      isa<TilesOp, AccumulateOp, TraverseOp, arith::ConstantOp>(op);
  if (count != 1 && count != tile && (!isAccumulator || count != groups))
    return op->emitOpError("expected vectors of 1 or ")
           << tile << " rows, as the schedule says, got " << vector;
  return success();
}

/// Threads that share a value that several columns have would each count it: a
/// group's columns are all there, but for those that a thread holds.
LogicalResult BodyVerifier::verifyGroups(GroupReduceOp op) {
  const ColumnParts parts = getColumnParts(rows);
  const ArrayRef<int64_t> sizes = rows.getDigits();
  const SmallVector<int64_t> places = getDigitStrides(sizes);
  const auto own = getColumnShape(cast<VectorType>(op.getInput().getType()));
  const auto groups =
      getColumnShape(cast<VectorType>(op.getResult().getType()));
  for (size_t digit = 0; digit < sizes.size(); ++digit) {
    const int64_t end = places[digit] * sizes[digit];
    const bool isHeld = (parts.part != 0 && places[digit] >= parts.part &&
                         end <= parts.whole) ||
                        (parts.hasPairs && digit + 1 == sizes.size());
    if (groups[digit] == 1 && own[digit] != sizes[digit] && !isHeld)
      return op.emitOpError(
                 "expected a value of each column of the groups, got ")
             << op.getInput().getType();
  }
  return success();
}

/// (C4), and what concerns one op of the rest.
LogicalResult BodyVerifier::verifyOp(Operation *op) {
  for (Type type : op->getResultTypes())
    if (failed(verifyType(op, type)))
      return failure();
  if (auto load = dyn_cast<TileLoadOp>(op))
    return accesses.verify(load, isPlaced);
  if (auto store = dyn_cast<TileStoreOp>(op)) {
    if (store.getKind() == TileKind::column)
      return store.emitOpError("expected per-column values to leave "
                               "rmsnorm.rows as sums over rows");
    if (failed(verifyType(op, store.getValue().getType())))
      return failure();
    return accesses.verify(store, isPlaced);
  }
  if (auto sum = dyn_cast<AccumulateOp>(op)) {
    if (isa<VectorType>(sum.getDest().getType()))
      return success();
    return accesses.verifySum(sum, sum.getDest(), sum.getSource());
  }
  if (auto store = dyn_cast<SumStoreOp>(op)) {
    if (!store.getValue().getDefiningOp<TilesOp>())
      return store.emitOpError("expected a result of rmsnorm.tiles");
    return accesses.verifySum(store, store.getBase(), store.getValue());
  }
  if (auto reduce = dyn_cast<GroupReduceOp>(op))
    return verifyGroups(reduce);
  if (auto traverse = dyn_cast<TraverseOp>(op))
    for (Value value : traverse.getReduced())
      if (auto vector = dyn_cast<VectorType>(value.getType());
          !vector || getColumnShape(vector) != rows.getDigits())
        return op->emitOpError("expected to reduce all ")
               << rows.getColumns() << " columns, got " << value.getType();
  if (isa<RowReduceOp>(op)) {
    auto reduced = cast<VectorType>(op->getOperand(0).getType());
    if (isPerColumn(reduced) && getColumnShape(reduced) != rows.getDigits())
      return op->emitOpError("expected to reduce all ")
             << rows.getColumns() << " columns, got " << reduced;
    for (Type type : op->getOperandTypes())
      if (failed(verifyType(op, type)))
        return failure();
    return success();
  }
  if (auto load = dyn_cast<SlotLoadOp>(op)) {
    Region *region = getTilesRegion(op);
    if (!region || !llvm::is_contained(region->getArguments(), load.getSlot()))
      return op->emitOpError("expected a slot of the region of rmsnorm.tiles");
    return success();
  }
  if (auto tiles = dyn_cast<TilesOp>(op))
    for (Value init : tiles.getInits())
      if (!matchPattern(init, m_Constant()))
        return op->emitOpError("expected constants as inits");
  if (isa<TilesOp, TraverseOp, YieldOp, FetchOp, ArriveOp, AwaitOp, KeepOp,
          GridWaitOp, GroupReduceOp, TakeOp, PutOp, vector::BroadcastOp>(op))
    return success();
  const bool isConstant = isa<arith::ConstantOp>(op);
  DenseElementsAttr value;
  if (isConstant && matchPattern(op, m_Constant(&value)) && !value.isSplat())
    return op->emitOpError("expected constants to be splats");
  const bool isScalar = isPure(op) && op->getNumRegions() == 0 &&
                        llvm::all_of(op->getOperandTypes(), [](Type type) {
                          return type.isIntOrIndexOrFloat();
                        });
  const bool isElementwise =
      OpTrait::hasElementwiseMappableTraits(op) && op->getNumResults() == 1;
  if ((isConstant || isScalar || isElementwise) &&
      isa_and_present<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    return success();
  return op->emitOpError("expected an elementwise or scalar op of arith or "
                         "math, a broadcast or an op of the tile or rows level "
                         "in rmsnorm.rows");
}

/// (C7)
LogicalResult BodyVerifier::verifyOnce() {
  Block &body = rows.getBody().front();
  auto tiles = body.getOps<TilesOp>();
  if (!llvm::hasSingleElement(tiles))
    return rows.emitOpError("expected one rmsnorm.tiles in its body, got ")
           << llvm::range_size(tiles);
  auto waits = llvm::to_vector(body.getOps<GridWaitOp>());
  if (waits.size() > 1 ||
      (!waits.empty() && (*tiles.begin())->isBeforeInBlock(waits.front())) ||
      (*tiles.begin())
          ->walk([](GridWaitOp) { return WalkResult::interrupt(); })
          .wasInterrupted())
    return rows.emitOpError("expected at most one rmsnorm.grid_wait, in front "
                            "of rmsnorm.tiles");
  for (Operation &op : body) {
    if (isa<TileStoreOp, AccumulateOp, RowReduceOp, SlotLoadOp>(op))
      return op.emitOpError("expected to stand in rmsnorm.tiles");
    auto load = dyn_cast<TileLoadOp>(op);
    if (!load)
      continue;
    if (load.getKind() != TileKind::column)
      return load.emitOpError("expected a per-column operand outside of "
                              "rmsnorm.tiles");
    if (!waits.empty() && op.isBeforeInBlock(waits.front()) &&
        !rows.getAccess(load.getBase()).getConstant())
      return load.emitOpError("expected a constant buffer in front of "
                              "rmsnorm.grid_wait");
  }
  return success();
}

/// (C8)
LogicalResult BodyVerifier::verifyPlacement(Block &block) {
  for (Operation &op : block) {
    auto store = dyn_cast<TileStoreOp>(op);
    auto load = dyn_cast<TileLoadOp>(op);
    const bool perColumn =
        llvm::any_of(op.getResultTypes(), isPerColumn) ||
        (store && isPerColumn(store.getValue().getType())) ||
        (isa<RowReduceOp>(op) && isPerColumn(op.getOperand(0).getType())) ||
        (isa<AccumulateOp>(op) && isPerColumn(op.getOperand(0).getType()));
    if (perColumn && !isa<TraverseOp>(op) &&
        !op.hasTrait<OpTrait::ConstantLike>() &&
        !(load && load.getKind() == TileKind::column))
      return op.emitOpError("expected per-column work in rmsnorm.traverse, as "
                            "its rmsnorm.tiles has one");
  }
  return success();
}

/// (C9)
LogicalResult BodyVerifier::verifyStores(Block &block) {
  SmallVector<TileStoreOp> stores;
  for (Operation &op : block) {
    if (auto store = dyn_cast<TileStoreOp>(op))
      stores.push_back(store);
    auto traverse = dyn_cast<TraverseOp>(op);
    if (!traverse)
      continue;
    for (auto load : traverse.getOps<TileLoadOp>())
      for (TileStoreOp store : stores)
        if (rows.mayAlias(load.getBase(), store.getBase())) {
          InFlightDiagnostic error = load.emitOpError(
              "expected a buffer that nothing before has written");
          error.attachNote(store.getLoc()) << "written here";
          return error;
        }
    for (auto store : traverse.getOps<TileStoreOp>()) {
      for (auto load : traverse.getOps<TileLoadOp>())
        if (load.getBase() != store.getBase() &&
            rows.mayAlias(load.getBase(), store.getBase()))
          return store.emitOpError("expected a buffer that overlaps none that "
                                   "the same traverse reads");
      stores.push_back(store);
    }
  }
  return success();
}

/// (C10)
LogicalResult BodyVerifier::verifyYield() {
  auto yield = dyn_cast<YieldOp>(rows.getBody().front().getTerminator());
  if (!yield || yield.getValues().size() != rows.getPartials().size())
    return rows.emitOpError("expected its body to yield a sum for each of its ")
           << rows.getPartials().size() << " results";
  const int64_t groups = schedule ? schedule.getRowGroups() : 1;
  for (auto [value, result] :
       llvm::zip(yield.getValues(), rows.getPartials())) {
    auto vector = dyn_cast<VectorType>(value.getType());
    auto partials = cast<MemRefType>(result.getType());
    const bool isDynamic =
        vector && isPerColumn(vector) && rows.getDynamicColumns();
    if (!vector || !vector.getElementType().isF32() ||
        vector.getDimSize(0) != groups)
      return yield.emitOpError("expected sums of ")
             << groups << " row groups in f32, got " << value.getType();
    const int64_t expected =
        isDynamic ? ShapedType::kDynamic : getNumColumns(vector);
    if (!value.getDefiningOp<TilesOp>())
      return yield.emitOpError("expected results of rmsnorm.tiles");
    if (partials != MemRefType::get({ShapedType::kDynamic, expected},
                                    vector.getElementType()))
      return rows.emitOpError("expected a result of a row for each block, of ")
             << vector << ", got " << partials;
  }
  return success();
}

/// (C11)
LogicalResult BodyVerifier::verifySumStores() {
  Block &body = rows.getBody().front();
  auto stores = body.getOps<SumStoreOp>();
  const bool hasAllRows =
      schedule && schedule.getColumnSums() == ColumnSums::all_rows;
  if (stores.empty() ? hasAllRows && !rows.getPartials().empty() : !hasAllRows)
    return rows.emitOpError("expected rmsnorm.sum_store where the schedule has "
                            "column_sums = all_rows, and results elsewhere");
  for (SumStoreOp store : stores)
    for (BlockArgument buffer : rows.getBufferArguments())
      if (buffer != store.getBase()
              ? rows.mayAlias(buffer, store.getBase())
              : rows.getAccess(buffer).reads() && store.getInit() != buffer)
        return store.emitOpError(
            "expected a buffer that nothing else in "
            "rmsnorm.rows accesses: its blocks do not wait "
            "for one another");
  return success();
}

LogicalResult BodyVerifier::run() {
  WalkResult walk = rows.getBody().walk(
      [&](Operation *op) { return WalkResult(verifyOp(op)); });
  if (walk.wasInterrupted() || failed(verifyOnce()) || failed(verifyYield()) ||
      failed(verifySumStores()))
    return failure();
  TilesOp tiles = rows.getTiles();
  for (Value copied : tiles.getCopies())
    if (failed(accesses.verifyCopied(tiles, copied)))
      return failure();

  for (Region &region : tiles->getRegions())
    for (Block &block : region)
      if ((isPlaced && failed(verifyPlacement(block))) ||
          failed(verifyStores(block)))
        return failure();
  // tiles (C5)
  if (tiles.getStages() < 2)
    return success();
  WalkResult copies = tiles.walk([&](Operation *op) -> WalkResult {
    auto store = dyn_cast<TileStoreOp>(op);
    auto sum = dyn_cast<AccumulateOp>(op);
    Value base = store                     ? store.getBase()
                 : sum && !sum.getResult() ? sum.getDest()
                                           : Value();
    for (Value copied : tiles.getCopies())
      if (base && copied != base && rows.mayAlias(copied, base))
        return op->emitOpError("expected stages < 2 where a buffer that is "
                               "copied ahead is written through another");
    return WalkResult::advance();
  });
  return failure(copies.wasInterrupted());
}

LogicalResult RowsOp::verifyRegions() { return BodyVerifier(*this).run(); }
