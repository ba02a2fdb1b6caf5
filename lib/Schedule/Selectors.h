// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Selectors.h - the parts of the choice of a schedule ---------------===//

#ifndef RMSNORM_LIB_SCHEDULE_SELECTORS_H
#define RMSNORM_LIB_SCHEDULE_SELECTORS_H

#include "RMSNorm/Schedule/Select.h"
#include "Resources.h"

namespace mlir::rmsnorm {

/// Elements of a vector: first what one access takes, then what is worth a try
/// beside it or, with `all`, to measure.
SmallVector<int64_t, 3> getVectorWidths(const ProgramFacts &facts,
                                        const ChipInfo &chip, bool all);

/// The schedules that may be the best ones for some number of rows: one at
/// least, each runs on `chip`. With `all`, those that are only worth to be
/// measured, too.
std::vector<ScheduleFields> enumerateRows(const ProgramFacts &facts,
                                          const ChipInfo &chip,
                                          bool all = false);

/// Those of vectors of `width` elements.
std::vector<ScheduleFields> enumerateRows(const ProgramFacts &facts,
                                          const ChipInfo &chip, int64_t width,
                                          bool all = false);

/// The same of all widths of vectors, with what `given` has by the user's
/// wishes (see setForRequest).
std::vector<ScheduleFields> enumerateLike(const ScheduleFields &given,
                                          const ProgramFacts &facts,
                                          const ChipInfo &chip);

/// Numbers of threads, `least` at least, that share out the vectors of a row
/// about evenly.
SmallVector<int64_t> getRowThreads(int64_t vectors, const ChipInfo &chip,
                                   int64_t least = 1);

/// Those of them that the cost model takes for the best, by the number of rows:
/// as Selection::classes. With `sameTree` all sum a row in the same order; with
/// `width`, of those of vectors of so many elements.
SmallVector<RowClass, 2>
predictRows(const ProgramFacts &facts, const ChipInfo &chip, bool sameTree,
            std::optional<int64_t> width = std::nullopt);

/// The width of vectors that overrides give without the threads that share them
/// out.
std::optional<int64_t> getGivenWidth(StringRef overrides);

/// The schedules that were the fastest ones, by the number of rows, of a
/// program that was measured on `chip` when the compiler was made; else empty.
SmallVector<RowClass, 2> findRecord(const ProgramFacts &facts,
                                    const ChipInfo &chip);

/// Whether rows are summed in the same order: vectors are shared out to threads
/// by their number and width, and combined over the threads of a row, then the
/// blocks of its cluster. How many are in flight, where they live and which
/// rows are neighbours is no part of it.
bool haveSameTree(const ScheduleFields &a, const ScheduleFields &b);

/// The schedule of sums over rows alone, in strips of columns.
ScheduleFields selectStrips(const ProgramFacts &facts, const ChipInfo &chip);

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
