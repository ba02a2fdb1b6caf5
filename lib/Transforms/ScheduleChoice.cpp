// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScheduleChoice.cpp - the schedules a loop over rows gets ----------===//

#include "ScheduleChoice.h"
#include "TuningFile.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
struct Candidate {
  RowClass rows;
  /// "FILE: record 3" if it is from a tuning file.
  std::string place;
};
} // namespace

/// The selector's classes, with those of the tuning file in their place.
static FailureOr<SmallVector<Candidate>>
getCandidates(scf::ForallOp forall, const ProgramFacts &facts,
              TargetAttr target, const ScheduleOptions &options,
              function_ref<InFlightDiagnostic()> emitError) {
  const ChipInfo &chip = target.getChipInfo();
  SmallVector<RowClass, 2> selected = selectSchedules(facts, chip);
  std::vector<TuningRecord> records;
  if (!options.tuning.empty()) {
    FailureOr<std::vector<TuningRecord>> read =
        readTuningFile(options.tuning, forall.getContext(), [&] {
          return mlir::emitError(UnknownLoc::get(forall.getContext()));
        });
    if (failed(read))
      return failure();
    const std::string program = getProgramKey(facts);
    records = selectRecords(*read, target, program);
    if (TuningReport *report = options.report) {
      report->programs.insert(program);
      report->found |= !records.empty();
      for (const TuningRecord &record : *read)
        report->targets.insert(record.target);
    }
  }
  SmallVector<int64_t> lastRows;
  for (const RowClass &one : selected)
    lastRows.push_back(one.lastRow);
  for (const TuningRecord &record : records) {
    auto here = [&] { return emitError() << record.place << ": "; };
    if (failed(verifyScheduleOnTarget(record.schedule, facts, chip, here)))
      return failure();
    if (record.firstRow > 0)
      lastRows.push_back(record.firstRow - 1);
    lastRows.push_back(record.lastRow);
  }
  llvm::sort(lastRows);
  lastRows.erase(llvm::unique(lastRows), lastRows.end());

  SmallVector<Candidate> candidates;
  for (int64_t lastRow : lastRows) {
    const auto record = llvm::find_if(records, [&](const TuningRecord &record) {
      return record.firstRow <= lastRow && lastRow <= record.lastRow;
    });
    if (record != records.end()) {
      candidates.push_back(
          {{lastRow, ScheduleFields(record->schedule)}, record->place});
      continue;
    }
    const auto *one = llvm::find_if(
        selected, [&](const RowClass &one) { return lastRow <= one.lastRow; });
    candidates.push_back({{lastRow, one->fields}, ""});
  }
  return candidates;
}

/// The verified schedule of a candidate with the overrides of `options`, or
/// null after an error.
static ScheduleAttr makeSchedule(const RowClass &candidate,
                                 const ProgramFacts &facts,
                                 const ChipInfo &chip,
                                 const ScheduleOptions &options,
                                 function_ref<InFlightDiagnostic()> emitError,
                                 MLIRContext *context) {
  ScheduleFields fields = candidate.fields;
  fields.alignment = options.alignment;
  if (failed(applyScheduleOverrides(options.schedule, facts, chip, fields,
                                    emitError)))
    return ScheduleAttr();
  ScheduleAttr schedule = fields.getChecked(emitError, context);
  if (!schedule ||
      failed(verifyScheduleOnTarget(schedule, facts, chip, emitError)))
    return ScheduleAttr();
  return schedule;
}

/// Whether rows are summed in the same order: vectors are shared out to threads
/// by their number and width, and combined over the threads of a row, then the
/// blocks of its cluster. How many are in flight, where they live and which
/// rows are neighbours is no part of it.
static bool haveSameTree(ScheduleAttr a, ScheduleAttr b) {
  return a.getThreadsPerRow() == b.getThreadsPerRow() &&
         a.getVectorWidth() == b.getVectorWidth() &&
         a.getCluster() == b.getCluster();
}

FailureOr<SmallVector<ScheduleClass, 2>>
mlir::rmsnorm::chooseSchedules(scf::ForallOp forall, TargetAttr target,
                               const ScheduleOptions &options) {
  FailureOr<ProgramFacts> facts = getProgramFacts(forall);
  if (failed(facts))
    return failure();
  if (facts->hasDynamicColumns() && options.columns >= 0)
    facts->maxColumns = std::min(facts->maxColumns, options.columns);
  const ChipInfo &chip = target.getChipInfo();
  auto emitError = [&] { return forall.emitOpError("schedule: "); };
  SmallVector<ScheduleClass, 2> chosen;

  // A schedule written in the IR is the user's: it is checked, not changed.
  if (auto given = forall->getAttrOfType<ScheduleAttr>(
          RMSNormDialect::kScheduleAttrName)) {
    if (failed(verifyScheduleOnTarget(given, *facts, chip, emitError)))
      return failure();
    chosen.push_back({kAnyRows, given});
    return chosen;
  }

  FailureOr<SmallVector<Candidate>> candidates =
      getCandidates(forall, *facts, target, options, emitError);
  if (failed(candidates))
    return failure();
  SmallVector<std::pair<std::string, ScheduleAttr>> measured;
  for (const auto &[candidate, place] : *candidates) {
    // Overrides meant for many rows may not fit the choice for few.
    std::optional<ScopedDiagnosticHandler> quiet;
    if (candidate.lastRow != kAnyRows)
      quiet.emplace(forall.getContext(),
                    [](Diagnostic &) { return success(); });
    ScheduleAttr schedule = makeSchedule(candidate, *facts, chip, options,
                                         emitError, forall.getContext());
    if (!schedule && quiet)
      continue;
    if (!schedule)
      return failure();
    if (!place.empty())
      measured.push_back({place, schedule});
    // Classes that choose the same are one.
    if (!chosen.empty() && chosen.back().schedule == schedule)
      chosen.back().lastRow = candidate.lastRow;
    else
      chosen.push_back({candidate.lastRow, schedule});
  }
  if (!options.batchInvariant)
    return chosen;
  // The tree of a row's sum is that of the class for any number.
  const ScheduleAttr last = chosen.back().schedule;
  llvm::erase_if(chosen, [&](const ScheduleClass &one) {
    return !haveSameTree(one.schedule, last);
  });
  if (options.report)
    for (const auto &[place, schedule] : measured)
      if (!haveSameTree(schedule, last))
        options.report->dropped.insert(place);
  return chosen;
}

ScheduleAttr mlir::rmsnorm::getScheduleFor(ArrayRef<ScheduleClass> classes,
                                           int64_t rows) {
  for (const ScheduleClass &one : classes)
    if (rows <= one.lastRow)
      return one.schedule;
  return classes.back().schedule;
}

FailureOr<RowClasses>
mlir::rmsnorm::getRowClasses(func::FuncOp function, TargetAttr target,
                             const ScheduleOptions &options) {
  RowClasses classes;
  bool oneM = true;
  for (scf::ForallOp forall : getRowLoops(function)) {
    FailureOr<SmallVector<ScheduleClass, 2>> chosen =
        chooseSchedules(forall, target, options);
    if (failed(chosen))
      return failure();
    if (forall.getDynamicUpperBound().size() != 1)
      continue;
    Value rows = forall.getDynamicUpperBound().front();
    oneM &= !classes.rows || classes.rows == rows;
    classes.rows = rows;
    for (const ScheduleClass &one : *chosen)
      classes.lastRows.push_back(one.lastRow);
  }
  llvm::sort(classes.lastRows);
  classes.lastRows.erase(llvm::unique(classes.lastRows),
                         classes.lastRows.end());
  if (!oneM || classes.lastRows.size() < 2)
    classes = {Value(), {kAnyRows}};
  return classes;
}

/// The schedules of all loops of `function` for up to `lastColumn` columns, one
/// after the other, each with the last row it is for.
static FailureOr<SmallVector<std::pair<int64_t, ScheduleAttr>>>
chooseAll(func::FuncOp function, TargetAttr target, ScheduleOptions options,
          int64_t lastColumn) {
  // Overrides meant for any number may not fit the choice for few.
  std::optional<ScopedDiagnosticHandler> quiet;
  if (lastColumn != kAnyColumns) {
    options.columns = lastColumn;
    quiet.emplace(function.getContext(),
                  [](Diagnostic &) { return success(); });
  }
  SmallVector<std::pair<int64_t, ScheduleAttr>> all;
  for (scf::ForallOp forall : getRowLoops(function)) {
    FailureOr<SmallVector<ScheduleClass, 2>> chosen =
        chooseSchedules(forall, target, options);
    if (failed(chosen))
      return failure();
    for (const ScheduleClass &one : *chosen)
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
  for (scf::ForallOp forall : getRowLoops(function)) {
    FailureOr<ProgramFacts> facts = getProgramFacts(forall);
    if (failed(facts))
      return failure();
    Value columns = getDynamicColumns(*getProgramBlock(forall));
    if (!columns || (classes.columns && classes.columns != columns))
      return one;
    classes.columns = columns;
    llvm::append_range(bounds, getColumnBounds(*facts, target.getChipInfo()));
  }
  llvm::sort(bounds);
  bounds.erase(llvm::unique(bounds), bounds.end());
  SmallVector<std::pair<int64_t, ScheduleAttr>> last;
  for (int64_t bound : bounds) {
    auto chosen = chooseAll(function, target, options, bound);
    if (failed(chosen) && bound != kAnyColumns)
      continue;
    if (failed(chosen))
      return failure();
    // Neighbours that choose the same are one.
    if (!classes.lastColumns.empty() && last == *chosen)
      classes.lastColumns.back() = bound;
    else
      classes.lastColumns.push_back(bound);
    last = *chosen;
  }
  return classes.lastColumns.size() < 2 ? one : classes;
}
