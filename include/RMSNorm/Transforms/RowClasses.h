// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowClasses.h - sizes that want different schedules ----------------===//
//
// M, the number of rows, is known only at a call, and N, their size, may be. A
// module holds a variant for each class that wants a schedule of its own.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_TRANSFORMS_ROWCLASSES_H
#define RMSNORM_TRANSFORMS_ROWCLASSES_H

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <limits>
#include <set>
#include <string>

namespace mlir::rmsnorm {

/// The last row of a class without end.
constexpr int64_t kAnyRows = std::numeric_limits<int64_t>::max();

/// The last column of a class without end.
constexpr int64_t kAnyColumns = std::numeric_limits<int64_t>::max();

/// What came of a tuning file.
struct TuningReport {
  /// The programs that records were looked for of, as records name them.
  std::set<std::string> programs;
  /// Whether there was a record of one of them, for the target.
  bool found = false;
  /// The targets of all records.
  std::set<std::string> targets;
  /// "FILE: record 3", of the records that `batchInvariant` left out: they sum
  /// a row in another order than the schedule for any number of rows.
  std::set<std::string> dropped;
};

/// What is said about schedules from outside, as the options of
/// rmsnorm-select-schedule of the same names.
struct ScheduleOptions {
  std::string schedule;
  int64_t alignment = 16;
  bool batchInvariant = false;
  /// A file of norm-tune; empty: none.
  std::string tuning;
  /// The most columns a call will have where N is known only then; -1: any
  /// number.
  int64_t columns = -1;
  /// Added to, if set.
  TuningReport *report = nullptr;
};

struct RowClasses {
  /// M, an index value of the function's; null if there is one class.
  Value rows;
  /// Largest M of each class, ascending; the last is kAnyRows.
  SmallVector<int64_t, 2> lastRows;
};

struct ColumnClasses {
  /// N, an index value of the function's; null if there is one class.
  Value columns;
  /// Largest N of each class, ascending; the last is kAnyColumns.
  SmallVector<int64_t, 3> lastColumns;
};

/// The classes of N for a bufferized function whose rows have a size that is
/// known only at a call, as few as choose different schedules. One if N is
/// static or not the same in all its loops. Emits an error if `options` does
/// not fit the target.
FailureOr<ColumnClasses> getColumnClasses(func::FuncOp function,
                                          TargetAttr target,
                                          const ScheduleOptions &options);

/// The classes of M for a bufferized function, as few as choose different
/// schedules. One if it has loops over different numbers of rows, or if M is
/// static. Emits an error if `options` does not fit the target.
FailureOr<RowClasses> getRowClasses(func::FuncOp function, TargetAttr target,
                                    const ScheduleOptions &options);

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_ROWCLASSES_H
