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
  const ScheduleFields last = chosen.classes.empty()
                                  ? ScheduleFields()
                                  : chosen.classes.back().schedule;
  llvm::for_each(enumerateLike(last, facts, chip), add);
  return schedules;
}
