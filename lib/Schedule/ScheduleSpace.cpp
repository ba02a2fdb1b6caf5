// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScheduleSpace.cpp - schedules worth measuring ---------------------===//

#include "RMSNorm/Schedule/ScheduleSpace.h"
#include "Selectors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
class Enumerator {
public:
  Enumerator(const ProgramFacts &facts, const ChipInfo &chip)
      : facts(facts), chip(chip) {}

  /// Adds a schedule, once, if it runs on the chip.
  void add(const ScheduleFields &schedule) {
    if (!schedule.check() && !verifyOnTarget(schedule, facts, chip) &&
        !llvm::is_contained(schedules, schedule))
      schedules.push_back(schedule);
  }
  /// `chosen` with one of the fields changed that are not enumerated.
  void addChanged(const ScheduleFields &chosen);
  /// Those that selection without measuring chooses from, with what `base`
  /// says of all.
  void addRows(const ScheduleFields &base);

  std::vector<ScheduleFields> take() { return std::move(schedules); }

private:
  const ProgramFacts &facts;
  const ChipInfo &chip;
  std::vector<ScheduleFields> schedules;
};
} // namespace

void Enumerator::addChanged(const ScheduleFields &chosen) {
  // What a rule says of per-column operands is nearly even for many rows.
  ScheduleFields fields = chosen;
  fields.columnOperands = chosen.columnOperands == ColumnOperands::awaited
                              ? ColumnOperands::tile
                              : ColumnOperands::awaited;
  const bool isHeld =
      chosen.cache == Cache::registers || chosen.cache == Cache::reload;
  if (rereadsFromL1(chip) && isHeld &&
      facts.columnOperandBits + facts.sharedBitsPerColumn > 0 &&
      chosen.columnOperands != ColumnOperands::block)
    add(fields);
}

void Enumerator::addRows(const ScheduleFields &base) {
  ScheduleRequest request;
  request.alignment = base.alignment;
  request.smMargin = base.smMargin;
  for (ScheduleFields fields : enumerateRows(facts, chip)) {
    setForRequest(fields, request);
    add(fields);
  }
}

std::vector<ScheduleFields> mlir::rmsnorm::enumerateSchedules(
    const ProgramFacts &facts, const ChipInfo &chip, const Selection &chosen) {
  Enumerator enumerator(facts, chip);
  for (const RowClass &one : chosen.classes)
    enumerator.add(one.schedule);
  for (const RowClass &one : chosen.classes)
    enumerator.addChanged(one.schedule);
  enumerator.addRows(chosen.classes.empty() ? ScheduleFields()
                                            : chosen.classes.back().schedule);
  return enumerator.take();
}
