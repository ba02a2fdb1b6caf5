// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScheduleSpace.cpp - schedules worth measuring ---------------------===//

#include "RMSNorm/Schedule/ScheduleSpace.h"
#include "Selectors.h"

using namespace mlir;
using namespace mlir::rmsnorm;

std::vector<ScheduleFields> mlir::rmsnorm::enumerateSchedules(
    const ProgramFacts &facts, const ChipInfo &chip, const Selection &chosen) {
  std::vector<ScheduleFields> schedules;
  auto add = [&](const ScheduleFields &schedule) {
    if (!schedule.check() && !verifyOnTarget(schedule, facts, chip) &&
        !llvm::is_contained(schedules, schedule))
      schedules.push_back(schedule);
  };
  for (const RowClass &one : chosen.classes)
    add(one.schedule);
  // What the last class has by the user's wishes, all have.
  ScheduleRequest request;
  if (!chosen.classes.empty()) {
    request.alignment = chosen.classes.back().schedule.alignment;
    request.smMargin = chosen.classes.back().schedule.smMargin;
  }
  for (ScheduleFields fields : enumerateRows(facts, chip)) {
    setForRequest(fields, request);
    add(fields);
  }
  return schedules;
}
