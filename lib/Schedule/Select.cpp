// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Select.cpp - the schedules of a program ---------------------------===//

#include "RMSNorm/Schedule/Select.h"
#include "Selectors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

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
static OrRefusal<SmallVector<RowClass>>
getCandidates(const ProgramFacts &facts, const ChipInfo &chip,
              const ScheduleRequest &request, ArrayRef<TuningRecord> records) {
  std::vector<TuningRecord> sources = records.vec();
  for (TuningRecord &record : sources) {
    complete(record.schedule, facts, chip);
    if (std::optional<Refusal> refusal =
            verifyOnTarget(record.schedule, facts, chip)) {
      refusal->place = record.place;
      return *refusal;
    }
  }
  SmallVector<RowClass, 2> selected;
  // Threads that were chosen for vectors of one width suit no other.
  const std::optional<int64_t> width = getGivenWidth(request.overrides);
  if (request.useRecords && !request.batchInvariant)
    selected = findRecord(facts, chip);
  if (selected.empty() || llvm::any_of(selected, [&](const RowClass &one) {
        return width && one.schedule.vectorWidth != *width;
      }))
    selected = predictRows(facts, chip, request.batchInvariant, width);
  for (const RowClass &one : selected)
    sources.push_back({one.place, "", "", 0, one.lastRow, one.schedule});
  std::set<int64_t> lastRows;
  for (const TuningRecord &source : sources)
    lastRows.insert({source.firstRow - 1, source.lastRow});
  lastRows.erase(-1);
  SmallVector<RowClass> candidates;
  for (int64_t lastRow : lastRows) {
    const auto first = llvm::find_if(sources, [&](const TuningRecord &source) {
      return source.firstRow <= lastRow && lastRow <= source.lastRow;
    });
    candidates.push_back({lastRow, first->schedule, first->place});
  }
  return candidates;
}

bool mlir::rmsnorm::haveSameTree(const ScheduleFields &a,
                                 const ScheduleFields &b) {
  return a.threadsPerRow == b.threadsPerRow && a.vectorWidth == b.vectorWidth &&
         a.cluster == b.cluster;
}

bool mlir::rmsnorm::holdsColumns(const ScheduleFields &schedule,
                                 const ProgramFacts &facts) {
  return schedule.cache != Cache::reload ||
         schedule.columnOperands != ColumnOperands::use ||
         (facts.numColumnSums > 0 && !schedule.hasStrips());
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
  OrRefusal<SmallVector<RowClass>> candidates =
      getCandidates(facts, chip, request, records);
  if (!candidates)
    return candidates.getRefusal();
  Selection selection;
  SmallVector<RowClass, 2> &classes = selection.classes;
  for (RowClass &candidate : *candidates) {
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
      classes.push_back(candidate);
  }
  if (!request.batchInvariant)
    return selection;
  // The tree of a row's sum is that of the class for any number.
  const ScheduleFields last = classes.back().schedule;
  llvm::erase_if(classes, [&](const RowClass &one) {
    return !haveSameTree(one.schedule, last);
  });
  for (const RowClass &candidate : *candidates)
    if (!candidate.place.empty() && !haveSameTree(candidate.schedule, last))
      selection.dropped.push_back(candidate.place);
  return selection;
}

bool mlir::rmsnorm::holdPartsOnAllChips(const ProgramFacts &facts) {
  constexpr int64_t kLeastSubgroup = 32, kMostSubgroup = 64,
                    kLeastRegisters = 127, kLeastBlockRegisters = 32768;
  const int64_t columns = facts.columns, part = facts.part;
  // Of what is taken apart alike, and what threads share out of all of it.
  const int64_t whole = facts.getWhole();
  const int64_t shared = facts.getSharedColumns();
  // Columns of a vector: those of a group if a subgroup shares it, and pairs.
  const int64_t ofGroup =
      std::max<int64_t>(1, facts.groupColumns / kLeastSubgroup);
  const int64_t ofBytes = facts.accessesFloat4 ? 2 : 1;
  const int64_t least = std::max(facts.getLeastVector(), ofGroup);
  if (facts.dynamicColumns || part < least || columns > 8192 ||
      part % facts.getLeastVector() != 0)
    return false;
  // A row alone is that of a whole subgroup.
  if (facts.singleRow && shared < kMostSubgroup * kMaxVectorWidth)
    return false;
  // Of several that are taken apart alike a thread may have one more.
  const int64_t most = facts.getRepeats() == 1 ? 1 : 2;
  const int64_t sums = facts.numColumnSums *
                       (most == 1 ? std::max(ofGroup, ofBytes) : most * least);
  if (sums != 0 && (most * columns > 4096 || whole * sums > 16 * part))
    return false;
  if (whole > 16 * part && columns > (part > 1 ? 128 : 16))
    return false;
  // Of a thread that has a vector of each part, and a word for each access.
  const int64_t bits = whole / part * facts.liveBitsPerColumn;
  const int64_t word = std::min<int64_t>(32, least * facts.narrowestBits);
  if (most * least * bits * 32 / word > 32 * kLeastRegisters)
    return false;
  // Of the block: threads that share a part are a power of two, or whole
  // subgroups.
  const int64_t padded =
      std::min<int64_t>(llvm::PowerOf2Ceil(part),
                        llvm::alignTo(part, kMostSubgroup * kMaxVectorWidth));
  return most * padded * facts.getRepeats() * bits <= 32 * kLeastBlockRegisters;
}

/// The most columns of rows that are taken apart as those of `facts`, which
/// have more, for which there is a schedule; 0 if there are none.
static int64_t getMostColumns(ProgramFacts facts, const ChipInfo &chip) {
  const int64_t unit = facts.whole == 0 ? facts.part : facts.whole;
  int64_t least = 0, most = facts.columns / unit;
  while (most - least > 1) {
    const int64_t middle = (least + most) / 2;
    facts.columns = middle * unit;
    (selectSchedules(facts, chip) ? least : most) = middle;
  }
  return least * unit;
}

Refusal mlir::rmsnorm::explainNoSchedule(const ProgramFacts &facts,
                                         const ChipInfo &chip) {
  // Vectors of a group are held by neighbours of a subgroup.
  const int64_t most = chip.subgroupSize * getWidestVector(facts, chip);
  if (facts.groupColumns != 0 &&
      (facts.groupColumns > most || !llvm::isPowerOf2_64(facts.groupColumns)))
    return {"",
            ("groups of a power of two of columns, at most " + Twine(most) +
             " on " + chip.name)
                .str(),
            ("groups of " + Twine(facts.groupColumns)).str()};
  if (facts.part != 0 && facts.hasBound()) {
    const std::string places =
        ("begin and end at multiples of " + Twine(facts.part) +
         (facts.part == 1 ? " column" : " columns"))
            .str();
    const int64_t most = getMostColumns(facts, chip);
    if (most == 0)
      return {"",
              ("parts of rows of which " + chip.name + " has vectors").str(),
              "those that " + places};
    return {"",
            ("rows of at most " + Twine(most) + " columns on " + chip.name +
             ", as their parts " + places)
                .str(),
            (Twine(facts.columns) + " columns").str()};
  }
  return {"", ("a program that " + Twine(chip.name) + " can hold").str(),
          ("one without a schedule: " +
           selectSchedules(facts, chip).getRefusal().getMessage())};
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
