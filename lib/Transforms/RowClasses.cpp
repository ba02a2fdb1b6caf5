// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowClasses.cpp - sizes that want different schedules --------------===//

#include "RMSNorm/Transforms/RowClasses.h"
#include "TileProgram.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// A loop over rows, with its place among all of a function or module.
struct RowLoop {
  scf::ForallOp forall;
  ProgramFacts facts;
  size_t place, count;
};
} // namespace

static FailureOr<std::vector<RowLoop>>
collectFacts(ArrayRef<scf::ForallOp> loops) {
  std::vector<RowLoop> collected;
  for (auto [place, forall] : llvm::enumerate(loops)) {
    FailureOr<ProgramFacts> facts = getProgramFacts(forall);
    if (failed(facts))
      return failure();
    collected.push_back({forall, *facts, place, loops.size()});
  }
  return collected;
}

/// A choice of schedules with the reason if there is none.
static OrRefusal<Selection> choose(const RowLoop &loop, TargetAttr target,
                                   const ScheduleOptions &options) {
  scf::ForallOp forall = loop.forall;
  ProgramFacts facts = loop.facts;
  if (facts.hasDynamicColumns() && options.columns >= 0)
    facts.maxColumns = std::min(facts.maxColumns, options.columns);
  const ChipInfo &chip = target.getChipInfo();
  // A schedule written in the IR is the user's.
  if (auto given = forall->getAttrOfType<ScheduleAttr>(
          RMSNormDialect::kScheduleAttrName)) {
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

FailureOr<std::vector<Selection>>
mlir::rmsnorm::chooseSchedules(ArrayRef<scf::ForallOp> loops, TargetAttr target,
                               const ScheduleOptions &options) {
  FailureOr<std::vector<RowLoop>> collected = collectFacts(loops);
  if (failed(collected))
    return failure();
  std::vector<Selection> chosen;
  for (RowLoop &loop : *collected) {
    OrRefusal<Selection> selection = choose(loop, target, options);
    if (!selection)
      return loop.forall.emitOpError("schedule: ")
             << selection.getRefusal().getMessage();
    chosen.push_back(*selection);
  }
  return chosen;
}

/// M where it is static.
static std::optional<int64_t> getStaticRows(scf::ForallOp forall) {
  return getConstantIntValue(forall.getMixedUpperBound().front());
}

FailureOr<RowClasses>
mlir::rmsnorm::getRowClasses(func::FuncOp function, TargetAttr target,
                             const ScheduleOptions &options) {
  RowClasses result;
  bool oneM = true;
  SmallVector<scf::ForallOp> loops = getRowLoops(function);
  FailureOr<std::vector<Selection>> chosen =
      chooseSchedules(loops, target, options);
  if (failed(chosen))
    return failure();
  SmallVector<int64_t> lastRows;
  for (auto [forall, selection] : llvm::zip(loops, *chosen)) {
    if (forall.getDynamicUpperBound().size() != 1)
      continue;
    Value rows = forall.getDynamicUpperBound().front();
    oneM &= !result.rows || result.rows == rows;
    result.rows = rows;
    for (const RowClass &one : selection.classes)
      lastRows.push_back(one.lastRow);
  }
  llvm::sort(lastRows);
  lastRows.erase(llvm::unique(lastRows), lastRows.end());
  if (!oneM || lastRows.size() < 2) {
    result.rows = Value();
    lastRows = {kAnyRows};
  }
  for (int64_t lastRow : lastRows) {
    ScheduledRows one{lastRow, {}};
    for (auto [forall, selection] : llvm::zip(loops, *chosen))
      one.schedules.push_back(
          selection.getFor(getStaticRows(forall).value_or(lastRow)));
    result.classes.push_back(std::move(one));
  }
  return result;
}

void mlir::rmsnorm::setSchedules(func::FuncOp function,
                                 ArrayRef<ScheduleFields> schedules) {
  for (auto [forall, schedule] : llvm::zip(getRowLoops(function), schedules))
    forall->setAttr(RMSNormDialect::kScheduleAttrName,
                    ScheduleAttr::get(function.getContext(), schedule));
}

/// The schedules of all `loops` for up to `lastColumn` columns, one after the
/// other, each with the last row it is for.
static OrRefusal<std::vector<std::pair<int64_t, ScheduleFields>>>
chooseAll(ArrayRef<RowLoop> loops, TargetAttr target, ScheduleOptions options,
          int64_t lastColumn) {
  if (lastColumn != kAnyColumns)
    options.columns = lastColumn;
  std::vector<std::pair<int64_t, ScheduleFields>> all;
  for (const RowLoop &loop : loops) {
    OrRefusal<Selection> chosen = choose(loop, target, options);
    if (!chosen)
      return chosen.getRefusal();
    for (const RowClass &one : chosen->classes)
      all.push_back({one.lastRow, one.schedule});
  }
  return all;
}

FailureOr<ColumnClasses>
mlir::rmsnorm::getColumnClasses(func::FuncOp function, TargetAttr target,
                                const ScheduleOptions &options) {
  const ColumnClasses one = {Value(), {kAnyColumns}};
  ColumnClasses classes;
  SmallVector<int64_t> bounds;
  FailureOr<std::vector<RowLoop>> loops = collectFacts(getRowLoops(function));
  if (failed(loops))
    return failure();
  for (RowLoop &loop : *loops) {
    Value columns = getDynamicColumns(*getProgramBlock(loop.forall));
    if (!columns || (classes.columns && classes.columns != columns))
      return one;
    classes.columns = columns;
    llvm::append_range(bounds,
                       getColumnBounds(loop.facts, target.getChipInfo()));
  }
  llvm::sort(bounds);
  bounds.erase(llvm::unique(bounds), bounds.end());
  std::vector<std::pair<int64_t, ScheduleFields>> last;
  for (int64_t bound : bounds) {
    auto chosen = chooseAll(*loops, target, options, bound);
    // Overrides meant for any number may not fit the choice for few.
    if (!chosen && bound != kAnyColumns)
      continue;
    if (!chosen)
      return loops->front().forall.emitOpError("schedule: ")
             << chosen.getRefusal().getMessage();
    // Neighbours that choose the same are one.
    if (!classes.lastColumns.empty() && last == *chosen)
      classes.lastColumns.back() = bound;
    else
      classes.lastColumns.push_back(bound);
    last = *chosen;
  }
  return classes.lastColumns.size() < 2 ? one : classes;
}

static FailureOr<ScheduleSpace> getSpace(scf::ForallOp forall, size_t loop,
                                         TargetAttr target,
                                         const ScheduleRequest &request) {
  FailureOr<ProgramFacts> facts = getProgramFacts(forall);
  if (failed(facts))
    return failure();
  ScheduleOptions options;
  options.request = request;
  FailureOr<std::vector<Selection>> chosen =
      chooseSchedules(forall, target, options);
  if (failed(chosen))
    return failure();
  return ScheduleSpace{
      {loop},
      getProgramKey(*facts),
      enumerateSchedules(*facts, target.getChipInfo(), chosen->front())};
}

FailureOr<SmallVector<ScheduleSpace>>
mlir::rmsnorm::getScheduleSpaces(func::FuncOp function, TargetAttr target,
                                 const ScheduleRequest &request) {
  SmallVector<ScheduleSpace> spaces;
  for (auto [loop, forall] : llvm::enumerate(getRowLoops(function))) {
    if (forall->hasAttr(RMSNormDialect::kScheduleAttrName))
      continue;
    FailureOr<ScheduleSpace> space = getSpace(forall, loop, target, request);
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
