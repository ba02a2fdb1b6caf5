// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Select.h - the schedules of a program -----------------------------===//
//
// Pure: facts, a chip and the user's wishes go in; schedules come out, or a
// reason why there are none. Every field of a schedule is filled, so that no
// later pass has to decide.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_SCHEDULE_SELECT_H
#define RMSNORM_SCHEDULE_SELECT_H

#include "RMSNorm/Schedule/ProgramFacts.h"
#include "RMSNorm/Schedule/TuningFile.h"

#include <limits>

namespace mlir::rmsnorm {

/// The last row of a class without end.
constexpr int64_t kAnyRows = std::numeric_limits<int64_t>::max();

/// The last column of a class without end.
constexpr int64_t kAnyColumns = std::numeric_limits<int64_t>::max();

/// The user's wishes, as the options of rmsnorm-select-schedule of the same
/// names.
struct ScheduleRequest {
  /// A mode and field=value items, or a whole "#rmsnorm.schedule<...>"; see
  /// also getLoopOverrides.
  std::string overrides = "";
  int64_t alignment = 16;
  bool batchInvariant = false;
  int64_t smMargin = 0;
  /// Whether the records that come with the compiler go before the cost model.
  /// Batch invariance, which asks for one order of summation, leaves them out.
  bool useRecords = true;
};

/// A schedule and the numbers of rows M it is for: up to `lastRow`, as far as
/// no class before it takes them.
struct RowClass {
  int64_t lastRow;
  ScheduleFields schedule;
  /// "FILE: record 3" or a device if it was measured.
  std::string place = "";
};

/// The schedules of a program by the number of rows, ascending, neighbours
/// different; the last takes any number.
struct Selection {
  SmallVector<RowClass, 2> classes;
  /// The places of tuning records that batch invariance left out: they sum a
  /// row in another order than the schedule for any number of rows.
  std::vector<std::string> dropped;

  const ScheduleFields &getFor(int64_t rows) const;
};

/// The overrides go before `records`, these before what came with the compiler
/// for the program, and that before the choice by the cost model.
OrRefusal<Selection> selectSchedules(const ProgramFacts &facts,
                                     const ChipInfo &chip,
                                     const ScheduleRequest &request = {},
                                     ArrayRef<TuningRecord> records = {});

/// Whether threads of all chips can hold rows of a program that takes them
/// apart: some of each part, in registers, and the sums over them.
bool holdPartsOnAllChips(const ProgramFacts &facts);

/// What a program on `chip` would have to be, where selectSchedules finds no
/// schedule for it without wishes.
Refusal explainNoSchedule(const ProgramFacts &facts, const ChipInfo &chip);

/// Why `schedule` is chosen for `rows` rows: what the cost model takes for the
/// next best schedule, how many percent of time lie between them, and the terms
/// that most of it is due to; then what the best schedule of each other width
/// of vectors would take. "" if the model knows no such schedule: it is the
/// user's.
std::string explainSchedule(const ScheduleFields &schedule,
                            const ProgramFacts &facts, const ChipInfo &chip,
                            int64_t rows);

/// The overrides for one of `count` loops: of several whole schedules, "; "
/// between them as a module prints them, the one in its place; else all.
OrRefusal<std::string> getLoopOverrides(StringRef overrides, size_t loop,
                                        size_t count);

/// A schedule that the user wrote. It is checked and not changed, except that
/// fields which it leaves out are filled from the program and the other wishes.
OrRefusal<ScheduleFields> takeSchedule(const ScheduleFields &given,
                                       const ProgramFacts &facts,
                                       const ChipInfo &chip,
                                       const ScheduleRequest &request = {});

/// Refuses a schedule that cannot run: too many threads, registers or columns
/// for the chip, a row split that is not whole subgroups, a launch the chip
/// lacks.
std::optional<Refusal> verifyOnTarget(const ScheduleFields &schedule,
                                      const ProgramFacts &facts,
                                      const ChipInfo &chip);

/// Whether threads hold as much of a row, of per-column operands or of sums
/// over rows as the widest row needs, so that code depends on how many columns
/// that has.
bool holdsColumns(const ScheduleFields &schedule, const ProgramFacts &facts);

/// The numbers of columns up to which programs whose N is known only at a call
/// may want different schedules, ascending; the last is kAnyColumns.
SmallVector<int64_t, 3> getColumnBounds(const ProgramFacts &facts,
                                        const ChipInfo &chip);

} // namespace mlir::rmsnorm

#endif // RMSNORM_SCHEDULE_SELECT_H
