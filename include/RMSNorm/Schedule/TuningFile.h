// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TuningFile.h - schedules that were measured -----------------------===//
//
// JSON, written by norm-tune:
//
//   {"format": "rmsnorm-tuning", "version": 1, "records": [
//     {"target": "sm_90", "program": "columns=4096,...", "rows": [0, 512],
//      "schedule": "#rmsnorm.schedule<...>",
//      "device": "NVIDIA H200", "measured_rows": 1, "microseconds": 1.73}]}
//
// A record gives the schedule of every loop over rows of that program, on that
// target, for a number of rows from the first of "rows" to the last; null
// instead of the last: and any more. A record for a chip also holds for the
// simulator of it, one for the simulator ("sim:sm_90") there alone. The last
// three fields are for people.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_SCHEDULE_TUNINGFILE_H
#define RMSNORM_SCHEDULE_TUNINGFILE_H

#include "RMSNorm/IR/RMSNorm.h"

#include <set>
#include <string>
#include <vector>

namespace mlir::rmsnorm {

struct TuningRecord {
  /// "FILE: record 3", to name it by.
  std::string place;
  std::string target, program;
  int64_t firstRow, lastRow;
  ScheduleFields schedule;
};

/// The records of a whole file, or of none.
class TuningTable {
public:
  TuningTable() = default;
  /// Reads and checks a file: syntax, fields, types, schedules, that no two
  /// records are for the same. None if `path` is empty. Returns failure and
  /// says in `error` which file and record, and why.
  static FailureOr<TuningTable> read(StringRef path, std::string &error);

  bool empty() const { return records.empty(); }
  /// Those for a program on a target, by rows, ascending.
  std::vector<TuningRecord> select(TargetAttr target, StringRef program) const;
  /// The targets of all records.
  std::set<std::string> getTargets() const;

private:
  std::vector<TuningRecord> records;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_SCHEDULE_TUNINGFILE_H
