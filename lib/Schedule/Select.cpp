// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Select.cpp - the schedules of a program ---------------------------===//

#include "RMSNorm/Schedule/Select.h"
#include "Selectors.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
struct Candidate {
  int64_t lastRow;
  ScheduleFields schedule;
  /// As RowClass::place.
  std::string place;
};
} // namespace

const ScheduleFields &Selection::getFor(int64_t rows) const {
  for (const RowClass &one : classes)
    if (rows <= one.lastRow)
      return one.schedule;
  return classes.back().schedule;
}

/// Fills what a schedule that was written by hand left to the program.
static void complete(ScheduleFields &schedule, const ProgramFacts &facts,
                     const ChipInfo &chip) {
  if (!schedule.sums)
    schedule.sums = getRuled(schedule, facts, chip).sums;
}

/// The classes that are chosen, with the records in their place.
static OrRefusal<SmallVector<Candidate>>
getCandidates(const ProgramFacts &facts, const ChipInfo &chip,
              const ScheduleRequest &request, ArrayRef<TuningRecord> records) {
  SmallVector<RowClass, 2> selected;
  if (request.useRecords && !request.batchInvariant)
    selected = findRecord(facts, chip);
  if (selected.empty())
    selected = predictRows(facts, chip, request.batchInvariant);
  SmallVector<int64_t> lastRows;
  for (const RowClass &one : selected)
    lastRows.push_back(one.lastRow);
  SmallVector<ScheduleFields> measured;
  for (const TuningRecord &record : records) {
    measured.push_back(record.schedule);
    complete(measured.back(), facts, chip);
    if (std::optional<Refusal> refusal =
            verifyOnTarget(measured.back(), facts, chip)) {
      refusal->place = record.place;
      return *refusal;
    }
    if (record.firstRow > 0)
      lastRows.push_back(record.firstRow - 1);
    lastRows.push_back(record.lastRow);
  }
  llvm::sort(lastRows);
  lastRows.erase(llvm::unique(lastRows), lastRows.end());

  SmallVector<Candidate> candidates;
  for (int64_t lastRow : lastRows) {
    const auto *record =
        llvm::find_if(records, [&](const TuningRecord &record) {
          return record.firstRow <= lastRow && lastRow <= record.lastRow;
        });
    if (record != records.end()) {
      candidates.push_back(
          {lastRow, measured[record - records.begin()], record->place});
      continue;
    }
    const auto *one = llvm::find_if(
        selected, [&](const RowClass &one) { return lastRow <= one.lastRow; });
    candidates.push_back({lastRow, one->schedule, one->place});
  }
  return candidates;
}

bool mlir::rmsnorm::haveSameTree(const ScheduleFields &a,
                                 const ScheduleFields &b) {
  return a.threadsPerRow == b.threadsPerRow && a.vectorWidth == b.vectorWidth &&
         a.cluster == b.cluster;
}

/// What the request makes of a candidate, if it runs.
static std::optional<Refusal> finish(ScheduleFields &schedule,
                                     const ProgramFacts &facts,
                                     const ChipInfo &chip,
                                     const ScheduleRequest &request) {
  setForRequest(schedule, request);
  if (std::optional<Refusal> refusal =
          applyOverrides(schedule, request.overrides, facts, chip))
    return refusal;
  // A whole schedule brings others, or may leave some out.
  complete(schedule, facts, chip);
  setForRequest(schedule, request);
  return verifyOnTarget(schedule, facts, chip);
}

OrRefusal<Selection>
mlir::rmsnorm::selectSchedules(const ProgramFacts &facts, const ChipInfo &chip,
                               const ScheduleRequest &request,
                               ArrayRef<TuningRecord> records) {
  if (request.smMargin < 0)
    return Refusal{"sm_margin", "sm-margin >= 0",
                   std::to_string(request.smMargin)};
  OrRefusal<SmallVector<Candidate>> candidates =
      getCandidates(facts, chip, request, records);
  if (!candidates)
    return candidates.getRefusal();
  Selection selection;
  SmallVector<RowClass, 2> &classes = selection.classes;
  for (Candidate &candidate : *candidates) {
    if (std::optional<Refusal> refusal =
            finish(candidate.schedule, facts, chip, request)) {
      // Overrides meant for many rows may not fit the choice for few.
      if (candidate.lastRow != kAnyRows) {
        candidate.place = "";
        continue;
      }
      return *refusal;
    }
    // Classes that choose the same are one.
    if (!classes.empty() && classes.back().schedule == candidate.schedule)
      classes.back().lastRow = candidate.lastRow;
    else
      classes.push_back(
          {candidate.lastRow, candidate.schedule, candidate.place});
  }
  if (!request.batchInvariant)
    return selection;
  // The tree of a row's sum is that of the class for any number.
  const ScheduleFields last = classes.back().schedule;
  llvm::erase_if(classes, [&](const RowClass &one) {
    return !haveSameTree(one.schedule, last);
  });
  for (const Candidate &candidate : *candidates)
    if (!candidate.place.empty() && !haveSameTree(candidate.schedule, last))
      selection.dropped.push_back(candidate.place);
  return selection;
}

OrRefusal<ScheduleFields>
mlir::rmsnorm::takeSchedule(const ScheduleFields &given,
                            const ProgramFacts &facts, const ChipInfo &chip,
                            const ScheduleRequest &request) {
  ScheduleFields schedule = given;
  if (request.smMargin > 0 && schedule.smMargin == 0)
    schedule.smMargin = request.smMargin;
  complete(schedule, facts, chip);
  if (std::optional<Refusal> refusal = verifyOnTarget(schedule, facts, chip))
    return *refusal;
  return schedule;
}
