// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScheduleChoice.cpp - the schedules a loop over rows gets ----------===//

#include "ScheduleChoice.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// The verified schedule of `fields` with the overrides of `options`, or null
/// after an error.
static ScheduleAttr makeSchedule(ScheduleFields fields,
                                 const ProgramFacts &facts,
                                 const ChipInfo &chip,
                                 const ScheduleOptions &options,
                                 function_ref<InFlightDiagnostic()> emitError,
                                 MLIRContext *context) {
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

  for (RowClass &selected : selectSchedules(*facts, chip)) {
    // Overrides meant for many rows may not fit the choice for few.
    std::optional<ScopedDiagnosticHandler> quiet;
    if (selected.lastRow != kAnyRows)
      quiet.emplace(forall.getContext(),
                    [](Diagnostic &) { return success(); });
    ScheduleAttr schedule = makeSchedule(selected.fields, *facts, chip, options,
                                         emitError, forall.getContext());
    if (!schedule && quiet)
      continue;
    if (!schedule)
      return failure();
    // Classes that choose the same are one.
    if (!chosen.empty() && chosen.back().schedule == schedule)
      chosen.back().lastRow = selected.lastRow;
    else
      chosen.push_back({selected.lastRow, schedule});
  }
  // The tree of a row's sum is that of the class for any number.
  if (options.batchInvariant)
    llvm::erase_if(chosen, [&](const ScheduleClass &one) {
      return !haveSameTree(one.schedule, chosen.back().schedule);
    });
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
