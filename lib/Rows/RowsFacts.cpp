// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowsFacts.cpp - what a schedule depends on, of a program ----------===//

#include "RMSNorm/Rows/RowsProgram.h"

#include "RMSNorm/IR/AccessMap.h"
#include "RMSNorm/IR/TileTypes.h"
#include "RMSNorm/Schedule/Select.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// The first of the loads that are equal to `load`: on tensors, which are not
/// written, they are to become one.
static Operation *getFirst(TileLoadOp load) {
  if (load->getParentOfType<RowsOp>().hasTensors())
    for (auto other : load->getBlock()->getOps<TileLoadOp>())
      if (OperationEquivalence::isEquivalentTo(
              other, load, OperationEquivalence::IgnoreLocations))
        return other;
  return load;
}

/// The loads `value` is computed from, through per-column values only.
static void collectLoads(Value value, SetVector<Operation *> &loads,
                         DenseSet<Value> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !isPerColumn(value.getType()) || !seen.insert(value).second)
    return;
  if (auto load = dyn_cast<TileLoadOp>(op))
    loads.insert(getFirst(load));
  for (Value operand : op->getOperands())
    collectLoads(operand, loads, seen);
}

/// Whether `op` is arithmetic on all of `columns` columns, or the load of an
/// operand that several rows share, which comes from the caches.
static bool isColumnOperation(Operation *op, int64_t columns) {
  if (auto load = dyn_cast<TileLoadOp>(op))
    return load.isShared();
  auto type = op->getNumResults() == 1
                  ? dyn_cast<VectorType>(op->getResult(0).getType())
                  : VectorType();
  return type && getNumColumns(type) == columns &&
         !op->hasTrait<OpTrait::ConstantLike>() &&
         isa_and_present<arith::ArithDialect, math::MathDialect>(
             op->getDialect());
}

/// Counts `op`, an operation on all columns that is before the last row_reduce
/// or after it.
static void countOperation(ProgramFacts &facts, Operation *op, bool isBefore) {
  ++(isBefore ? facts.operationsBefore : facts.operationsAfter);
  if (isFunction(op))
    ++(isBefore ? facts.functionsBefore : facts.functionsAfter);
  const Type type = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<arith::FPToSIOp>(op) && type.isInteger(8))
    ++facts.numIntegerConversions;
  else if (isa<Float4E2M1FNType>(type))
    ++facts.numFloat4Conversions;
  else if (isa<arith::ExtFOp, arith::TruncFOp>(op))
    ++(isBefore ? facts.conversionsBefore : facts.conversionsAfter);
}

/// Bits an element takes in memory: a mask has a byte.
static int64_t getStoredBits(Type vector) {
  return std::max<int64_t>(8,
                           cast<VectorType>(vector).getElementTypeBitWidth());
}

/// The columns of each group that `op` reduces, accesses a value of, or that
/// share one, of rows with the digits `sizes`; 0 if it is another op. A value
/// for each pair of columns is that of a part of the row, where it `hasPairs`.
static int64_t getGroupsOf(Operation *op, ArrayRef<int64_t> sizes,
                           bool hasPairs) {
  Value groups;
  if (auto reduce = dyn_cast<GroupReduceOp>(op))
    groups = reduce.getResult();
  else if (auto broadcast = dyn_cast<vector::BroadcastOp>(op))
    groups = broadcast.getSource();
  else if (auto load = dyn_cast<TileLoadOp>(op);
           load && load.getKind() == TileKind::group)
    groups = load;
  else if (auto store = dyn_cast<TileStoreOp>(op);
           store && store.getKind() == TileKind::group)
    groups = store.getValue();
  if (!groups || !isPerColumn(groups.getType()))
    return 0;
  const int64_t count =
      getGroupColumns(cast<VectorType>(groups.getType()), sizes);
  return count <= (hasPairs ? 2 : 1) ? 0 : count;
}

ProgramFacts mlir::rmsnorm::getProgramFacts(RowsOp rows) {
  ProgramFacts facts;
  facts.singleRow = rows.hasSingleRow();
  facts.columns = rows.getColumns();
  facts.dynamicColumns = rows.getDynamicColumns() ? 1 : 0;
  Block &program = rows.getTiles().getBody().front();
  const ColumnParts parts = getColumnParts(rows);
  facts.part = parts.part;
  facts.hasPairs = parts.hasPairs;
  facts.whole = parts.whole == facts.columns ? 0 : parts.whole;
  facts.numColumnSums = getColumnSums(program).size();
  SetVector<Operation *> before, after;
  DenseSet<Value> seenBefore, seenAfter;
  Operation *lastReduce = nullptr;
  for (auto reduce : program.getOps<RowReduceOp>()) {
    ++facts.numReductions;
    if (isLastReduction(reduce))
      continue;
    lastReduce = reduce;
    for (Value input : reduce.getInputs())
      collectLoads(input, before, seenBefore);
  }
  auto collectAfter = [&](Operation *op, Value value) {
    if (lastReduce && lastReduce->isBeforeInBlock(op))
      collectLoads(value, after, seenAfter);
  };
  int64_t widestTile = 8;
  auto visit = [&](TileKind kind, Value value) {
    const int64_t bits = getStoredBits(value.getType());
    if (kind != TileKind::row)
      facts.narrowestBits = std::min(facts.narrowestBits, bits);
    if (kind == TileKind::tile)
      widestTile = std::max(widestTile, bits);
    facts.accessesFloat4 |=
        isa<Float4E2M1FNType>(getElementTypeOrSelf(value.getType()));
  };
  // Of a part in place threads access no other columns.
  auto getBits = [&](Value value) {
    int64_t bits = getStoredBits(value.getType());
    if (!parts.inPlace.contains(value))
      return bits;
    for (auto [own, size] :
         llvm::zip(getColumnShape(cast<VectorType>(value.getType())),
                   rows.getDigits()))
      bits = own == 1 ? bits : std::max<int64_t>(1, bits * own / size);
    return bits;
  };
  auto count = [&](int64_t &sum, Value value) {
    sum += getBits(value);
    if (getStoredBits(value.getType()) >= 32)
      facts.wideBitsPerColumn += getBits(value);
  };
  llvm::SmallDenseSet<Value> loaded;
  int64_t leastGroup = kDynamicColumns;
  for (Operation &op : program) {
    const int64_t group = getGroupsOf(&op, rows.getDigits(), parts.hasPairs);
    facts.groupColumns = std::max(facts.groupColumns, group);
    if (group != 0 && isa<GroupReduceOp>(op))
      leastGroup = std::min(leastGroup, group);
    if (auto load = dyn_cast<TileLoadOp>(op)) {
      visit(load.getKind(), load);
      const bool isTile = load.getKind() == TileKind::tile;
      if (load.isShared()) {
        count(facts.columnOperandBits, load);
        facts.sharedBitsPerColumn += isTile ? getBits(load) : 0;
      } else if (isTile && loaded.insert(load.getBase()).second) {
        count(facts.loadedBitsPerColumn, load);
      }
    } else if (auto store = dyn_cast<TileStoreOp>(op)) {
      visit(store.getKind(), store.getValue());
      if (store.getKind() == TileKind::tile)
        count(facts.storedBitsPerColumn, store.getValue());
      collectAfter(&op, store.getValue());
    } else if (auto sum = dyn_cast<AccumulateOp>(op)) {
      collectAfter(&op, sum.getSource());
    } else if (auto reduce = dyn_cast<RowReduceOp>(op)) {
      for (Value input : reduce.getInputs())
        collectAfter(&op, input);
    }
  }
  if (facts.part != 0 && leastGroup < facts.groupColumns)
    facts.leastGroupColumns = leastGroup;
  Operation *lastRowReduce = nullptr;
  for (auto reduce : program.getOps<RowReduceOp>()) {
    lastRowReduce = reduce;
    facts.numReducedValues += reduce.getInputs().size();
  }
  for (Operation &op : program) {
    facts.numGroupReductions += isa<GroupReduceOp>(op);
    // One for each group of columns is next to none for each column.
    if (!isColumnOperation(&op, facts.columns))
      continue;
    countOperation(facts, &op,
                   lastRowReduce && op.isBeforeInBlock(lastRowReduce));
    facts.numRepeatedFunctions += isFunction(&op) &&
                                  seenBefore.contains(op.getResult(0)) &&
                                  seenAfter.contains(op.getResult(0));
  }
  const SumsSlice sums = getSumsSlice(program);
  facts.independentSums = facts.numColumnSums > 0 && sums.saved.empty() &&
                          !overwritesWhatSumsRead(rows, sums);
  for (Operation *op : sums.needed)
    if (auto load = dyn_cast<TileLoadOp>(op);
        load && load.getKind() != TileKind::row)
      facts.sumsNarrowestBits = std::min<int64_t>(
          facts.sumsNarrowestBits, getStoredBits(load.getType()));
  for (Operation *load : before)
    if (after.contains(load))
      facts.liveBitsPerColumn +=
          getStoredBits(cast<TileLoadOp>(load).getType());
  // Beside wider tiles bytes set no pace: 16 of them are two accesses and
  // twice the registers of what they are computed from. Hand-written kernels
  // with bytes out of bf16 reach 0.98 of a copy with vectors of 8 elements.
  if (widestTile > 8)
    facts.narrowestBits = std::max<int64_t>(facts.narrowestBits, 16);
  return facts;
}

Operation *mlir::rmsnorm::findLargestGroups(RowsOp rows) {
  Operation *found = nullptr;
  int64_t most = 0;
  const bool hasPairs = getColumnParts(rows).hasPairs;
  for (Operation &op : rows.getTiles().getBody().front())
    if (const int64_t group = getGroupsOf(&op, rows.getDigits(), hasPairs);
        group > most) {
      most = group;
      found = &op;
    }
  return found;
}

std::string mlir::rmsnorm::whyNoGroups(RowsOp rows) {
  const ProgramFacts facts = getProgramFacts(rows);
  // Vectors of a group are held by neighbours of a subgroup.
  constexpr int64_t kLeastSubgroup = 32, kLeastAccessBits = 128;
  const int64_t most =
      kLeastSubgroup *
      std::min(kLeastAccessBits / facts.narrowestBits, kMaxVectorWidth);
  // Whole parts of what is taken apart alike, of which a thread has some, too.
  const int64_t whole = facts.getWhole();
  auto fits = [&](int64_t group) {
    return group == 0 ||
           (group >= 2 && group <= most && llvm::isPowerOf2_64(group)) ||
           (facts.part != 0 && facts.part <= most && group % facts.part == 0 &&
            whole % group == 0);
  };
  for (Operation &op : rows.getTiles().getBody().front())
    if (const int64_t group =
            getGroupsOf(&op, rows.getDigits(), facts.hasPairs);
        !fits(group))
      return "divides columns into groups of " + std::to_string(group) +
             ", not of 2, 4, 8, ... " + std::to_string(most);
  return "";
}

std::string mlir::rmsnorm::whyNotOnAllChips(RowsOp rows) {
  if (std::string reason = whyNoGroups(rows); !reason.empty())
    return reason;
  const ProgramFacts facts = getProgramFacts(rows);
  if (facts.part == 0)
    return "";
  if (!holdPartsOnAllChips(facts))
    return "takes rows apart into parts that are too small, or too large, for "
           "what a thread holds";
  return "";
}
