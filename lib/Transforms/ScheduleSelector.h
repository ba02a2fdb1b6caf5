// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScheduleSelector.h - the choice of a schedule ---------------------===//

#ifndef RMSNORM_LIB_TRANSFORMS_SCHEDULESELECTOR_H
#define RMSNORM_LIB_TRANSFORMS_SCHEDULESELECTOR_H

#include "RMSNorm/Transforms/RowClasses.h"
#include "TileProgram.h"

namespace mlir::rmsnorm {

/// A schedule's fields, free to be changed one by one before they become a
/// verified #rmsnorm.schedule.
struct ScheduleFields {
  int64_t rowGroups = 1;
  int64_t rowsPerGroup = 1;
  int64_t threadsPerRow = 32;
  int64_t vectorWidth = 8;
  int64_t vectorsInFlight = 2;
  Cache cache = Cache::registers;
  int64_t alignment = 16;
  int64_t cluster = 1;
  int64_t blocksPerSM = 0;
  ColumnSums columnSums = ColumnSums::registers;
  bool pdl = false;
  int64_t stages = 0;
  CopyCache copy = CopyCache::ca;

  ScheduleFields() = default;
  explicit ScheduleFields(ScheduleAttr schedule);

  /// The attribute; an error at `emitError` if the fields are not legal.
  ScheduleAttr getChecked(function_ref<InFlightDiagnostic()> emitError,
                          MLIRContext *context) const;
};

/// A schedule and the numbers of rows M it is for: up to `lastRow`, as far as
/// no class before it takes them.
struct RowClass {
  int64_t lastRow;
  ScheduleFields fields;
};

/// Elements of the narrowest operand in 16 bytes: what rows are measured in.
int64_t getWidestVector(const ProgramFacts &facts);

/// Elements of the narrowest operand that one access can take, at most 16 bytes
/// of it: no more than N is a multiple of, as every row begins behind another.
int64_t getAccessWidth(const ProgramFacts &facts);

/// The schedules for a program on a chip by the number of rows, ascending; the
/// last class takes any number. Pure: the same facts, the same choice.
SmallVector<RowClass, 2> selectSchedules(const ProgramFacts &facts,
                                         const ChipInfo &chip);

/// The schedule for the second half of a program that is split because its sums
/// over rows fit no registers: `facts` are those of that half alone.
ScheduleFields selectStrips(const ProgramFacts &facts, const ChipInfo &chip,
                            int64_t alignment);

/// Registers a thread needs for its part of the rows it keeps, and of the sums
/// over rows.
int64_t countRowRegisters(const ScheduleFields &fields,
                          const ProgramFacts &facts);
int64_t countSumRegisters(const ScheduleFields &fields,
                          const ProgramFacts &facts);

/// Registers a thread has if the blocks that the schedule wants are to share
/// a multiprocessor. Rows and sums may take half of them, the rest is for
/// addresses, weights and arithmetic; sums alone a quarter: 48 of 128 spilt
/// 48 bytes (rows of 24576 bf16, 512 threads, sm_90).
int64_t getRegisterBudget(const ScheduleFields &fields, const ChipInfo &chip);

/// A program that sums over rows of `vectors` vectors: persistent blocks that
/// keep the sums in registers. Returns false if they do not fit.
bool selectPersistent(ScheduleFields &fields, const ProgramFacts &facts,
                      const ChipInfo &chip, int64_t vectors);

/// The same with a ring of rows in workgroup memory. Returns false if the chip
/// or the rows are not made for that.
bool selectRing(ScheduleFields &fields, const ProgramFacts &facts,
                const ChipInfo &chip, int64_t vectors);

/// Bytes of one slot of all rings of a block.
int64_t getSlotBytes(const ScheduleFields &fields, const ProgramFacts &facts);

/// Whether tiles fit into workgroup memory.
bool holdsRings(const ScheduleFields &fields, const ProgramFacts &facts,
                const ChipInfo &chip);

/// Refuses those that do not.
LogicalResult verifyRings(ScheduleAttr schedule, const ProgramFacts &facts,
                          const ChipInfo &chip,
                          function_ref<InFlightDiagnostic()> emitError);

/// The numbers of columns up to which programs whose N is known only at a call
/// may want different schedules, ascending; the last is kAnyColumns.
SmallVector<int64_t, 3> getColumnBounds(const ProgramFacts &facts,
                                        const ChipInfo &chip);

/// Applies `text`, a mode's name or "field=value" items separated by commas, to
/// `fields`. The row groups follow the threads of a row unless they are given
/// too. Returns failure after an error that names the fields there are.
LogicalResult
applyScheduleOverrides(StringRef text, const ProgramFacts &facts,
                       const ChipInfo &chip, ScheduleFields &fields,
                       function_ref<InFlightDiagnostic()> emitError);

/// Refuses what cannot run: too many threads, registers or columns for the
/// chip, a row split that is not whole subgroups, a launch the chip lacks.
LogicalResult
verifyScheduleOnTarget(ScheduleAttr schedule, const ProgramFacts &facts,
                       const ChipInfo &chip,
                       function_ref<InFlightDiagnostic()> emitError);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TRANSFORMS_SCHEDULESELECTOR_H
