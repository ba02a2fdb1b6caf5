// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScheduleSpace.h - schedules worth measuring -----------------------===//

#ifndef RMSNORM_SCHEDULE_SCHEDULESPACE_H
#define RMSNORM_SCHEDULE_SCHEDULESPACE_H

#include "RMSNorm/Schedule/Select.h"

namespace mlir::rmsnorm {

/// The candidates for a program, for which `chosen` is chosen without
/// measuring: legal on the target and different, two hundred at most. The
/// first ones are those chosen, one for each class of rows. A schedule that
/// another is known to beat is left out:
/// - vectors of other widths than one, two and half of an access;
/// - threads without work, or with more than eight vectors unless that takes
///   the largest block;
/// - several rows in flight, and persistent blocks, of programs that sum over
///   no rows;
/// - reading a row again, where registers hold it, all rows have one size and
///   no elements of 32 bits lie beside narrower ones;
/// - workgroup memory where registers hold a row;
/// - clusters whose blocks have less than four subgroups.
///
/// For sums over rows, rings are among them, of two and three slots that each
/// hold 24 to 48 KB on a multiprocessor, or one row, and blocks that own
/// columns of all rows.
std::vector<ScheduleFields> enumerateSchedules(const ProgramFacts &facts,
                                               const ChipInfo &chip,
                                               const Selection &chosen);

} // namespace mlir::rmsnorm

#endif // RMSNORM_SCHEDULE_SCHEDULESPACE_H
