// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Planning.h - the variants of an entry -----------------------------===//

#ifndef RMSNORM_LIB_PIPELINES_PLANNING_H
#define RMSNORM_LIB_PIPELINES_PLANNING_H

#include "Compilation.h"
#include "RMSNorm/Module/ModuleWriter.h"
#include "RMSNorm/Rows/RowClasses.h"

namespace mlir::rmsnorm {

/// One class of calls of an entry, by alignment and by numbers of columns and
/// rows: the conditions on a call, and the schedules for it.
struct VariantPlan {
  /// "align16", "element", or "narrow" for a narrow class of columns.
  StringLiteral alignmentName;
  /// Bytes that all rows are aligned to.
  int64_t alignment;
  SmallVector<AlignmentGuard> guards;
  int64_t lastRow = kAnyRows;
  ColumnClass columns;
  /// How many numbers of rows decide.
  size_t numRowCounts = 0;
  SmallVector<RangeGuard> ranges;
  /// All: "align16", "align16_rows_le_512", "narrow_columns_le_2048".
  std::string name;
  /// Of the loops over rows of the entry, in their order.
  std::vector<ScheduleFields> schedules;

  /// Calls in which `value` is at most `last`, a number of `what`.
  void addLimit(StringRef what, Value value, int64_t last);
  /// The schedules as text, one after another.
  std::string getScheduleText() const;
};

/// The variants in the order in which a call tries them: "align16_rows_le_512",
/// "align16", "element_rows_le_512", "element". The last takes any call.
FailureOr<std::vector<VariantPlan>> planVariants(const Compilation &compilation,
                                                 func::FuncOp entry,
                                                 TargetAttr target,
                                                 TuningReport &report);

/// Leaves out what no call with one of `rows` rows takes, but for the last,
/// which takes any call. Where several loops have numbers of rows of their own,
/// it is of the first, and what takes more rows stays: of the others a call may
/// have more.
void leaveOutOtherRows(std::vector<VariantPlan> &plans, ArrayRef<int64_t> rows);

/// Says which part of the tuning file had no effect.
void warnOfTuning(const Compilation &compilation, TargetAttr target,
                  const TuningReport &report);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_PIPELINES_PLANNING_H
