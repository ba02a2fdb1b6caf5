// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowClasses.cpp - sizes that want different schedules --------------===//

#include "RMSNorm/Rows/RowClasses.h"
#include "RMSNorm/IR/DimTrace.h"
#include "RMSNorm/Rows/RowsProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Remarks.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// A program over rows, with its place among all of a function or module.
struct RowProgram {
  RowsOp rows;
  ProgramFacts facts;
  size_t place, count;
};
} // namespace

FailureOr<SmallVector<RowsOp>> mlir::rmsnorm::getPrograms(Operation *root) {
  SmallVector<RowsOp> programs;
  WalkResult walk = root->walk([&](Operation *op) -> WalkResult {
    auto rows = dyn_cast<RowsOp>(op);
    if (rows)
      programs.push_back(rows);
    if (rows && rows.hasTensors())
      return op->emitOpError("expected bufferized programs over rows, got one "
                             "on tensors: one-shot-bufferize comes first");
    if (isa<ForwardOp, BackwardOp>(op) && op->getNumResults() > 0)
      return op->emitOpError("expected bufferized programs over rows "
                             "(rmsnorm-tensor-half, or rmsnorm-embed-tensors "
                             "and bufferization), got a norm on tensors");
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  return programs;
}

std::optional<int64_t> mlir::rmsnorm::getStaticRows(RowsOp rows) {
  int64_t count = 1;
  for (OpFoldResult size : rows.getMixedSizes()) {
    std::optional<int64_t> value = getConstantIntValue(size);
    if (!value)
      return std::nullopt;
    count *= *value;
  }
  return count;
}

/// What `buffer` is a part of, but for its columns: kernels take account of
/// where the part begins.
static Value getWhole(Value buffer) {
  while (auto subview = buffer.getDefiningOp<memref::SubViewOp>()) {
    const ArrayRef<int64_t> sizes = subview.getType().getShape();
    if (sizes.empty() || ShapedType::isDynamic(sizes.back()) ||
        subview.getDroppedDims().test(subview.getSourceType().getRank() - 1))
      break;
    buffer = subview.getSource();
  }
  return buffer;
}

SmallVector<Value> mlir::rmsnorm::getVectorBuffers(ArrayRef<RowsOp> loops) {
  llvm::SmallSetVector<Value, 8> tiles, loaded, stored;
  for (RowsOp rows : loops)
    rows.walk([&](Operation *op) {
      auto add = [&](Value base, TileKind kind, auto &buffers) {
        if (kind != TileKind::row && kind != TileKind::group)
          buffers.insert(getWhole(rows.getOperandOf(base)));
      };
      if (auto load = dyn_cast<TileLoadOp>(op))
        add(load.getBase(), load.getKind(),
            load.getKind() == TileKind::tile ? tiles : loaded);
      else if (auto store = dyn_cast<TileStoreOp>(op))
        add(store.getBase(), store.getKind(), stored);
    });
  tiles.insert_range(loaded);
  tiles.insert_range(stored);
  return tiles.takeVector();
}

std::optional<int64_t> mlir::rmsnorm::getAlignment(ArrayRef<Value> buffers) {
  for (int64_t bytes : {16, 8, 4}) {
    bool possible = true, isWider = false;
    for (Value buffer : buffers) {
      auto type = cast<MemRefType>(buffer.getType());
      const int64_t columns = type.getRank() ? type.getShape().back() : 1;
      const int64_t bits = type.getElementTypeBitWidth();
      isWider |= bytes * 8 > bits;
      possible &=
          ShapedType::isDynamic(columns) || columns * bits % (bytes * 8) == 0;
    }
    if (possible && isWider)
      return bytes;
  }
  return std::nullopt;
}

static FailureOr<std::vector<RowProgram>> collectFacts(ArrayRef<RowsOp> all) {
  std::vector<RowProgram> collected;
  for (auto [place, rows] : llvm::enumerate(all)) {
    if (failed(verifyNotPlaced(rows)))
      return failure();
    collected.push_back({rows, getProgramFacts(rows), place, all.size()});
  }
  return collected;
}

/// The facts of a program in the class of N that `options` names.
static ProgramFacts getFactsOfClass(ProgramFacts facts,
                                    const ScheduleOptions &options) {
  if (!facts.dynamicColumns)
    return facts;
  facts.columns = std::min(facts.columns, options.columns.last);
  facts.setNarrowColumns(options.columns.narrow);
  return facts;
}

/// A choice of schedules with the reason if there is none.
static OrRefusal<Selection> choose(const RowProgram &loop, TargetAttr target,
                                   const ScheduleOptions &options) {
  RowsOp rows = loop.rows;
  const ProgramFacts facts = getFactsOfClass(loop.facts, options);
  const ChipInfo &chip = target.getChipInfo();
  // A schedule written in the IR is the user's.
  if (ScheduleAttr given = rows.getScheduleAttr()) {
    OrRefusal<ScheduleFields> taken =
        takeSchedule(given.getFields(), facts, chip, options.request);
    if (!taken)
      return taken.getRefusal();
    Selection selection;
    selection.classes.push_back({kAnyRows, *taken});
    return selection;
  }
  std::vector<TuningRecord> records;
  if (options.tuning) {
    const std::string program = getProgramKey(facts);
    records = options.tuning->select(target, program);
    if (TuningReport *report = options.report) {
      report->programs.insert(program);
      report->found |= !records.empty();
    }
  }
  ScheduleRequest request = options.request;
  OrRefusal<std::string> overrides =
      getLoopOverrides(request.overrides, loop.place, loop.count);
  if (!overrides)
    return overrides.getRefusal();
  request.overrides = *overrides;
  OrRefusal<Selection> selection =
      selectSchedules(facts, chip, request, records);
  if (selection && options.report)
    options.report->dropped.insert(selection->dropped.begin(),
                                   selection->dropped.end());
  return selection;
}

/// The op that divides columns into groups, or takes rows apart: its program
/// has no schedule.
static Operation *findDivider(const RowProgram &loop) {
  RowsOp rows = loop.rows;
  if (Operation *op = findLargestGroups(rows))
    return op;
  for (Operation &op : rows.getTiles().getBody().front())
    if (isa<TakeOp, PutOp>(op))
      return &op;
  return rows;
}

/// Says why there are no schedules for `loops`: one has none at all, or
/// `refusal` says why none is as wished.
static LogicalResult report(ArrayRef<RowProgram> loops, TargetAttr target,
                            const ScheduleOptions &options,
                            const Refusal &refusal) {
  for (const RowProgram &loop : loops) {
    const ProgramFacts facts = getFactsOfClass(loop.facts, options);
    RowsOp rows = loop.rows;
    if (!rows.getScheduleAttr() &&
        !selectSchedules(facts, target.getChipInfo()))
      return emitError(findDivider(loop)->getLoc())
             << explainNoSchedule(facts, target.getChipInfo()).getMessage();
  }
  RowsOp rows = loops.front().rows;
  return rows.emitOpError("schedule: ") << refusal.getMessage();
}

/// Says of each class why its schedule was chosen, where MLIR's remarks are on.
static void explain(const RowProgram &loop, TargetAttr target,
                    const Selection &selection) {
  RowsOp rows = loop.rows;
  if (!rows.getContext()->getRemarkEngine())
    return;
  const ChipInfo &chip = target.getChipInfo();
  int64_t first = 1;
  for (const RowClass &one : selection.classes) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (one.lastRow == kAnyRows)
      os << "for " << (first == 1 ? "any number of" : "more") << " rows";
    else
      os << "for up to " << one.lastRow << " rows";
    os << " on " << chip.name << ": #rmsnorm.schedule<";
    one.schedule.print(os);
    os << ">";
    if (!one.place.empty()) {
      os << ", measured: " << one.place;
    } else {
      // In the middle of the class, as rows grow by factors.
      const int64_t last = one.lastRow == kAnyRows ? 4 * first : one.lastRow;
      const int64_t middle =
          getStaticRows(rows).value_or(std::sqrt(double(first) * double(last)));
      const std::string why =
          explainSchedule(one.schedule, loop.facts, chip, middle);
      os << "; "
         << (why.empty() ? "given, or of rows whose size only a call knows"
                         : why);
    }
    remark::analysis(rows.getLoc(),
                     remark::RemarkOpts::name("choice").category("schedule"))
        << remark::add("{0}", text);
    first = one.lastRow == kAnyRows ? one.lastRow : one.lastRow + 1;
  }
}

FailureOr<std::vector<Selection>>
mlir::rmsnorm::chooseSchedules(ArrayRef<RowsOp> loops, TargetAttr target,
                               const ScheduleOptions &options) {
  FailureOr<std::vector<RowProgram>> collected = collectFacts(loops);
  if (failed(collected))
    return failure();
  std::vector<Selection> chosen;
  for (RowProgram &loop : *collected) {
    OrRefusal<Selection> selection = choose(loop, target, options);
    if (!selection)
      return report(loop, target, options, selection.getRefusal());
    explain(loop, target, *selection);
    chosen.push_back(*selection);
  }
  return chosen;
}

int64_t RowCount::getLastRow(int64_t last) const {
  return last >= kAnyRows / each ? kAnyRows : each * last;
}

/// Whether sizes that are not static are the same for certain, whatever the
/// others are.
static bool growTogether(RowsOp a, RowsOp b) {
  auto getDynamic = [](RowsOp rows) {
    SmallVector<DimSource> sizes;
    for (OpFoldResult size : rows.getMixedSizes())
      if (!getConstantIntValue(size))
        sizes.push_back(traceSize(size));
    return sizes;
  };
  return getDynamic(a) == getDynamic(b);
}

RowClasses mlir::rmsnorm::combineClasses(ArrayRef<RowsOp> loops,
                                         ArrayRef<Selection> chosen,
                                         TargetAttr target,
                                         const ScheduleRequest &request) {
  RowClasses result;
  SmallVector<RowCount> counts;
  SmallVector<int64_t> ends = {kAnyRows};
  for (auto [rows, selection] : llvm::zip(loops, chosen)) {
    RowCount count = {rows, 1};
    for (OpFoldResult size : count.rows.getMixedSizes())
      count.each *= std::max<int64_t>(getConstantIntValue(size).value_or(1), 1);
    counts.push_back(count);
    if (getStaticRows(rows) || selection.classes.size() == 1)
      continue;
    for (const RowClass &one : selection.classes)
      if (one.lastRow != kAnyRows && one.lastRow >= count.each)
        ends.push_back(one.lastRow / count.each);
    if (llvm::none_of(result.counts, [&](RowCount other) {
          return growTogether(other.rows, rows);
        }))
      result.counts.push_back(count);
  }
  llvm::sort(ends);
  ends.erase(llvm::unique(ends), ends.end());
  for (int64_t end : ends) {
    ScheduledRows one{end, {}};
    SmallVector<int64_t> lastRows;
    for (auto [count, selection] : llvm::zip(counts, chosen)) {
      lastRows.push_back(
          getStaticRows(count.rows).value_or(count.getLastRow(end)));
      one.schedules.push_back(selection.getFor(lastRows.back()));
    }
    matchBlocks(loops, target, request, lastRows, one.schedules);
    // Neighbours that choose the same are one.
    std::vector<ScheduledRows> &classes = result.classes;
    if (!classes.empty() && classes.back().schedules == one.schedules)
      classes.back().last = end;
    else
      classes.push_back(std::move(one));
  }
  if (result.classes.size() == 1)
    result.counts.clear();
  return result;
}

FailureOr<RowClasses>
mlir::rmsnorm::getRowClasses(func::FuncOp function, TargetAttr target,
                             const ScheduleOptions &options) {
  SmallVector<RowsOp> loops = getRows(function);
  FailureOr<std::vector<Selection>> chosen =
      chooseSchedules(loops, target, options);
  if (failed(chosen))
    return failure();
  return combineClasses(loops, *chosen, target, options.request);
}

void mlir::rmsnorm::setSchedules(Operation *root,
                                 ArrayRef<ScheduleFields> schedules,
                                 int64_t lastColumn) {
  for (auto [rows, schedule] : llvm::zip(getRows(root), schedules)) {
    if (rows.getDynamicColumns() &&
        lastColumn < static_cast<int64_t>(rows.getColumns()))
      setColumns(rows, lastColumn);
    rows.setScheduleAttr(ScheduleAttr::get(rows.getContext(), schedule));
  }
}

namespace {
/// What the code of a class of N depends on.
struct Choice {
  int64_t lastRow;
  ScheduleFields schedule;
  /// The class's most columns if threads hold as much of a row, or of sums, as
  /// that needs.
  std::optional<int64_t> heldColumns;

  bool operator==(const Choice &other) const {
    return lastRow == other.lastRow && schedule == other.schedule &&
           heldColumns == other.heldColumns;
  }
};
} // namespace

/// The schedules of all `loops` for the class `columns`, one after the other.
static OrRefusal<std::vector<Choice>> chooseAll(ArrayRef<RowProgram> loops,
                                                TargetAttr target,
                                                ScheduleOptions options,
                                                ColumnClass columns) {
  options.columns = columns;
  std::vector<Choice> all;
  for (const RowProgram &loop : loops) {
    OrRefusal<Selection> chosen = choose(loop, target, options);
    if (!chosen)
      return chosen.getRefusal();
    for (const RowClass &one : chosen->classes) {
      all.push_back({one.lastRow, one.schedule, std::nullopt});
      if (holdsColumns(one.schedule, loop.facts))
        all.back().heldColumns = columns.last;
    }
  }
  return all;
}

namespace {
/// Classes of N, and the schedules of each.
struct ChosenClasses {
  SmallVector<ColumnClass> classes;
  std::vector<std::vector<Choice>> choices;
};
} // namespace

/// The classes that end at `bounds`, as few as choose different schedules.
static OrRefusal<ChosenClasses> chooseClasses(ArrayRef<RowProgram> loops,
                                              TargetAttr target,
                                              const ScheduleOptions &options,
                                              ArrayRef<int64_t> bounds,
                                              bool narrow) {
  ChosenClasses chosen;
  for (int64_t bound : bounds) {
    const ColumnClass one = {bound, narrow};
    OrRefusal<std::vector<Choice>> choices =
        chooseAll(loops, target, options, one);
    // Overrides meant for any number may not fit the choice for few.
    if (!choices && bound != kAnyColumns)
      continue;
    if (!choices)
      return choices.getRefusal();
    // Neighbours that choose the same are one.
    if (!chosen.choices.empty() && chosen.choices.back() == *choices) {
      chosen.classes.back() = one;
      continue;
    }
    chosen.classes.push_back(one);
    chosen.choices.push_back(*choices);
  }
  return chosen;
}

Value ColumnClasses::createRemainder(OpBuilder &builder) const {
  Location loc = columns.getLoc();
  return arith::RemUIOp::create(
      builder, loc, columns,
      arith::ConstantIndexOp::create(builder, loc, vector));
}

FailureOr<ColumnClasses>
mlir::rmsnorm::getColumnClasses(func::FuncOp function, TargetAttr target,
                                const ScheduleOptions &options) {
  return getColumnClasses(getRows(function), target, options);
}

FailureOr<ColumnClasses>
mlir::rmsnorm::getColumnClasses(ArrayRef<RowsOp> all, TargetAttr target,
                                const ScheduleOptions &options) {
  const ChipInfo &chip = target.getChipInfo();
  ColumnClasses result;
  SmallVector<int64_t> bounds;
  FailureOr<std::vector<RowProgram>> loops = collectFacts(all);
  if (failed(loops))
    return failure();
  int64_t vector = 1;
  for (RowProgram &loop : *loops) {
    Value columns = loop.rows.getDynamicColumns();
    if (!columns || (result.columns && result.columns != columns))
      return ColumnClasses();
    result.columns = columns;
    vector = std::max(vector, getWidestVector(loop.facts, chip));
    llvm::append_range(bounds, getColumnBounds(loop.facts, chip));
  }
  if (!result.columns)
    return ColumnClasses();
  llvm::sort(bounds);
  bounds.erase(llvm::unique(bounds), bounds.end());
  OrRefusal<ChosenClasses> whole =
      chooseClasses(*loops, target, options, bounds, /*narrow=*/false);
  if (!whole)
    return report(*loops, target, options, whole.getRefusal());
  result.classes = whole->classes;
  // Overrides meant for vectors may not fit elements, nor may groups of columns
  // that vectors divide.
  OrRefusal<ChosenClasses> narrow =
      chooseClasses(*loops, target, options, bounds, /*narrow=*/true);
  if (vector > 1 && narrow && narrow->choices != whole->choices) {
    result.vector = vector;
    llvm::append_range(result.classes, narrow->classes);
  }
  return result.classes.size() < 2 ? ColumnClasses() : result;
}

static FailureOr<ScheduleSpace> getSpace(RowsOp rows, size_t loop,
                                         TargetAttr target,
                                         const ScheduleOptions &options) {
  FailureOr<std::vector<Selection>> chosen =
      chooseSchedules(rows, target, options);
  if (failed(chosen))
    return failure();
  const ProgramFacts facts = getFactsOfClass(getProgramFacts(rows), options);
  return ScheduleSpace{
      {loop},
      getProgramKey(facts),
      enumerateSchedules(facts, target.getChipInfo(), chosen->front())};
}

FailureOr<SmallVector<ScheduleSpace>>
mlir::rmsnorm::getScheduleSpaces(func::FuncOp function, TargetAttr target,
                                 const ScheduleOptions &options) {
  SmallVector<ScheduleSpace> spaces;
  for (auto [loop, rows] : llvm::enumerate(getRows(function))) {
    if (rows.getScheduleAttr())
      continue;
    FailureOr<ScheduleSpace> space = getSpace(rows, loop, target, options);
    if (failed(space))
      return failure();
    auto *same = llvm::find_if(spaces, [&](const ScheduleSpace &other) {
      return other.tuningKey == space->tuningKey;
    });
    if (same != spaces.end())
      same->loops.push_back(loop);
    else
      spaces.push_back(std::move(*space));
  }
  return spaces;
}
