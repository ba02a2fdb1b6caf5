// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowClasses.cpp - sizes that want different schedules --------------===//

#include "RMSNorm/Transforms/RowClasses.h"
#include "TileProgram.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// A choice of schedules with the reason if there is none.
static OrRefusal<Selection> choose(scf::ForallOp forall, ProgramFacts facts,
                                   TargetAttr target,
                                   const ScheduleOptions &options) {
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
  if (options.tuning && !options.tuning->empty()) {
    const std::string program = getProgramKey(facts);
    records = options.tuning->select(target, program);
    if (TuningReport *report = options.report) {
      report->programs.insert(program);
      report->found |= !records.empty();
    }
  }
  OrRefusal<Selection> selection =
      selectSchedules(facts, chip, options.request, records);
  if (selection && options.report)
    options.report->dropped.insert(selection->dropped.begin(),
                                   selection->dropped.end());
  return selection;
}

FailureOr<Selection>
mlir::rmsnorm::chooseSchedules(scf::ForallOp forall, TargetAttr target,
                               const ScheduleOptions &options) {
  FailureOr<ProgramFacts> facts = getProgramFacts(forall);
  if (failed(facts))
    return failure();
  OrRefusal<Selection> selection = choose(forall, *facts, target, options);
  if (!selection)
    return forall.emitOpError("schedule: ")
           << selection.getRefusal().getMessage();
  return *selection;
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
  std::vector<std::pair<scf::ForallOp, Selection>> loops;
  SmallVector<int64_t> lastRows;
  for (scf::ForallOp forall : getRowLoops(function)) {
    FailureOr<Selection> chosen = chooseSchedules(forall, target, options);
    if (failed(chosen))
      return failure();
    loops.push_back({forall, *chosen});
    if (forall.getDynamicUpperBound().size() != 1)
      continue;
    Value rows = forall.getDynamicUpperBound().front();
    oneM &= !result.rows || result.rows == rows;
    result.rows = rows;
    for (const RowClass &one : chosen->classes)
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
    for (auto &[forall, selection] : loops)
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
chooseAll(ArrayRef<std::pair<scf::ForallOp, ProgramFacts>> loops,
          TargetAttr target, ScheduleOptions options, int64_t lastColumn) {
  if (lastColumn != kAnyColumns)
    options.columns = lastColumn;
  std::vector<std::pair<int64_t, ScheduleFields>> all;
  for (const auto &[forall, facts] : loops) {
    OrRefusal<Selection> chosen = choose(forall, facts, target, options);
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
  std::vector<std::pair<scf::ForallOp, ProgramFacts>> loops;
  for (scf::ForallOp forall : getRowLoops(function)) {
    FailureOr<ProgramFacts> facts = getProgramFacts(forall);
    if (failed(facts))
      return failure();
    Value columns = getDynamicColumns(*getProgramBlock(forall));
    if (!columns || (classes.columns && classes.columns != columns))
      return one;
    classes.columns = columns;
    loops.push_back({forall, *facts});
    llvm::append_range(bounds, getColumnBounds(*facts, target.getChipInfo()));
  }
  llvm::sort(bounds);
  bounds.erase(llvm::unique(bounds), bounds.end());
  std::vector<std::pair<int64_t, ScheduleFields>> last;
  for (int64_t bound : bounds) {
    auto chosen = chooseAll(loops, target, options, bound);
    // Overrides meant for any number may not fit the choice for few.
    if (!chosen && bound != kAnyColumns)
      continue;
    if (!chosen)
      return loops.front().first.emitOpError("schedule: ")
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
  FailureOr<Selection> chosen = chooseSchedules(forall, target, options);
  if (failed(chosen))
    return failure();
  return ScheduleSpace{
      {loop},
      getProgramKey(*facts),
      enumerateSchedules(*facts, target.getChipInfo(), *chosen)};
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
