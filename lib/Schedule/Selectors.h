// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Selectors.h - the parts of the choice of a schedule ---------------===//

#ifndef RMSNORM_LIB_SCHEDULE_SELECTORS_H
#define RMSNORM_LIB_SCHEDULE_SELECTORS_H

#include "RMSNorm/Schedule/Select.h"
#include "Resources.h"

namespace mlir::rmsnorm {

/// The choice of the rules alone: as Selection::classes, each runs on `chip`.
SmallVector<RowClass, 2> selectByRules(const ProgramFacts &facts,
                                       const ChipInfo &chip);

/// Adapts a schedule to rows that its vectors or its threads do not divide.
void fitRow(ScheduleFields &fields, const ProgramFacts &facts,
            const ChipInfo &chip);

/// Adapts a schedule that the chip does not take until it does.
void mend(ScheduleFields &fields, const ProgramFacts &facts,
          const ChipInfo &chip);

/// Rows whose size only a call knows, of a class of sizes.
void selectDynamicRow(ScheduleFields &fields, const ProgramFacts &facts,
                      const ChipInfo &chip);

/// A program that sums over rows of `vectors` vectors: persistent blocks that
/// keep the sums in registers. Returns false if they do not fit.
bool selectPersistent(ScheduleFields &fields, const ProgramFacts &facts,
                      const ChipInfo &chip, int64_t vectors);

/// The same with a ring of rows in workgroup memory. Returns false if the chip
/// or the rows are not made for that.
bool selectRing(ScheduleFields &fields, const ProgramFacts &facts,
                const ChipInfo &chip, int64_t vectors);

/// The schedule for sums over rows alone that fit no registers.
ScheduleFields selectStrips(const ProgramFacts &facts, const ChipInfo &chip);

/// The schedule for rows enough to fill the machine several times.
ScheduleFields selectManyRows(const ProgramFacts &facts, const ChipInfo &chip);

/// 1: a column takes more than five operations for every two bytes of it that
/// are read or written, so that memory alone does not set the pace; 2: and more
/// than nine instructions.
int64_t getManyOperations(const ProgramFacts &facts);

/// Whether a row is so short that its lanes and reductions set the pace, and
/// the classes for it.
bool isNarrowRow(const ProgramFacts &facts, const ChipInfo &chip);
SmallVector<RowClass, 2> selectNarrowRows(const ProgramFacts &facts,
                                          const ChipInfo &chip);

/// Threads that hold a row of so many vectors in registers, four to seven each.
int64_t getHoldingThreads(int64_t vectors, const ChipInfo &chip);

/// When per-column operands are loaded, given the other fields.
ColumnOperands chooseColumnOperands(const ScheduleFields &fields,
                                    const ProgramFacts &facts,
                                    const ChipInfo &chip);

/// The rules' value of each field that follows from others or from the program.
/// Fields that are chosen by themselves stay.
ScheduleFields getRuled(const ScheduleFields &fields, const ProgramFacts &facts,
                        const ChipInfo &chip);

/// Sets all fields that have a rule.
void followRules(ScheduleFields &fields, const ProgramFacts &facts,
                 const ChipInfo &chip);

/// Sets the fields that depend on the user's wishes and not on the program,
/// also in a nested schedule.
void setForRequest(ScheduleFields &fields, const ScheduleRequest &request);

/// Applies `text`, a mode's name or "field=value" items separated by commas, or
/// a whole schedule. The row groups follow the threads of a row unless they are
/// given too, and fields that follow a rule go on following it.
std::optional<Refusal> applyOverrides(ScheduleFields &fields, StringRef text,
                                      const ProgramFacts &facts,
                                      const ChipInfo &chip);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_SCHEDULE_SELECTORS_H
