// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowClasses.h - sizes that want different schedules ----------------===//
//
// M, the number of rows, is known only at a call, and N, their size, may be. A
// module holds a variant for each class that wants a schedule of its own.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_ROWS_ROWCLASSES_H
#define RMSNORM_ROWS_ROWCLASSES_H

#include "RMSNorm/Schedule/ScheduleSpace.h"

#include "mlir/Analysis/AliasAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <set>
#include <string>

namespace mlir::rmsnorm {

/// The rmsnorm.rows in `root`; emits an error at a norm on tensors or a loop
/// over rows that is to become one.
FailureOr<SmallVector<RowsOp>> getPrograms(Operation *root);

/// The use that was made of a tuning file.
struct TuningReport {
  /// The programs that records were looked for of, as records name them.
  std::set<std::string> programs;
  /// Whether there was a record of one of them, for the target.
  bool found = false;
  /// The places of the records that batch invariance left out, see Selection.
  std::set<std::string> dropped;
};

/// The user's wishes for the schedules of a function.
struct ScheduleOptions {
  ScheduleRequest request;
  /// Null: none.
  const TuningTable *tuning = nullptr;
  /// The most columns a call will have where N is known only then; -1: any
  /// number.
  int64_t columns = -1;
  /// Added to, if set.
  TuningReport *report = nullptr;
};

/// A class of M and the schedules of a function's rmsnorm.rows for it, in
/// their order.
struct ScheduledRows {
  /// Its largest M, or kAnyRows.
  int64_t lastRow;
  std::vector<ScheduleFields> schedules;
};

struct RowClasses {
  /// M, an index value of the function's; null if there is one class.
  Value rows;
  /// By largest M, ascending; the last is for any.
  std::vector<ScheduledRows> classes;
};

struct ColumnClasses {
  /// N, an index value of the function's; null if there is one class.
  Value columns;
  /// Largest N of each class, ascending; the last is kAnyColumns.
  SmallVector<int64_t, 3> lastColumns;
};

/// M where it is static.
std::optional<int64_t> getStaticRows(RowsOp rows);

/// The alignments in bytes that are worth a variant beside the one for any, for
/// rows of buffers of these types, widest first. A row whose size is not a
/// multiple of the alignment never starts where the next ends and both are
/// aligned: such a variant would not be taken. With a run-time row size any may
/// be; 16 bytes and 4 are worth their code.
SmallVector<int64_t, 2> getAlignments(ArrayRef<MemRefType> types);

/// The schedules of `loops`, rmsnorm.rows: for each those of selectSchedules,
/// or the one that is written in the IR. Emits an error if there is none.
FailureOr<std::vector<Selection>>
chooseSchedules(ArrayRef<RowsOp> loops, TargetAttr target,
                const ScheduleOptions &options);

/// The classes of N for a bufferized function whose rows have a size that is
/// known only at a call, as few as choose different schedules. One if N is
/// static or not the same in all its loops. Emits an error if `options` does
/// not fit the target.
FailureOr<ColumnClasses> getColumnClasses(func::FuncOp function,
                                          TargetAttr target,
                                          const ScheduleOptions &options);
/// The same for `loops` alone.
FailureOr<ColumnClasses> getColumnClasses(ArrayRef<RowsOp> loops,
                                          TargetAttr target,
                                          const ScheduleOptions &options);

/// The classes of M for a bufferized function, as few as choose different
/// schedules. One if it has loops over different numbers of rows, or if M is
/// static. Emits an error if `options` does not fit the target.
FailureOr<RowClasses> getRowClasses(func::FuncOp function, TargetAttr target,
                                    const ScheduleOptions &options);

/// Whether no buffer that one writes is used by the other.
bool areIndependent(RowsOp a, RowsOp b, AliasAnalysis &aliases);

/// Gives small blocks more rows, so that rmsnorm-merge-launches can make one
/// launch of them and a neighbour's. `schedules` are those of `loops`, for up
/// to `lastRow` rows where a loop's are not static. Small blocks have up to
/// four subgroups, for so few rows that each had a block of its own (64 rows of
/// 512 columns take 3% longer by four a block, a launch takes 0.5 us). A
/// schedule that the rules have not chosen stays. No result depends on it.
void matchBlocks(ArrayRef<RowsOp> loops, TargetAttr target,
                 const ScheduleRequest &request, int64_t lastRow,
                 MutableArrayRef<ScheduleFields> schedules);

/// The classes of M for `loops` with the schedules chosen for each, blocks
/// matched. There are as few classes as schedules differ; the last is for any
/// M.
std::vector<ScheduledRows> combineClasses(ArrayRef<RowsOp> loops,
                                          ArrayRef<Selection> chosen,
                                          TargetAttr target,
                                          const ScheduleRequest &request);

/// Writes the schedules of all rmsnorm.rows in `root` into the IR, and, of
/// those whose N only a call knows, that it has at most `lastColumn`.
void setSchedules(Operation *root, ArrayRef<ScheduleFields> schedules,
                  int64_t lastColumn);

/// The candidates for the rmsnorm.rows with one program.
struct ScheduleSpace {
  /// Their places among the rmsnorm.rows of the function.
  SmallVector<size_t> loops;
  /// The program's key in tuning files.
  std::string tuningKey;
  ScheduleCandidates candidates;
};

/// The candidates for the rmsnorm.rows of a bufferized function. Loops whose
/// schedule is written in the IR have none. Where N is known only at a call
/// they are for the class of N without end (getColumnClasses).
FailureOr<SmallVector<ScheduleSpace>>
getScheduleSpaces(func::FuncOp function, TargetAttr target,
                  const ScheduleRequest &request);

} // namespace mlir::rmsnorm

#endif // RMSNORM_ROWS_ROWCLASSES_H
