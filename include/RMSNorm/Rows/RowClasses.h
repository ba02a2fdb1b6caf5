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

/// A class of N, which only a call knows.
struct ColumnClass {
  /// The most columns, or kAnyColumns.
  int64_t last = kAnyColumns;
  /// Whether N is no multiple of a vector. Rows are then nowhere aligned, and
  /// threads side by side access elements side by side.
  bool narrow = false;
};

/// The user's wishes for the schedules of a function.
struct ScheduleOptions {
  ScheduleRequest request;
  /// Null: none.
  const TuningTable *tuning = nullptr;
  /// Of a call, where N is known only then.
  ColumnClass columns;
  /// Added to, if set.
  TuningReport *report = nullptr;
};

/// A number of rows that only a call knows, of one loop or several. All such
/// numbers are taken to grow together: `each` rows for one of the loop's sizes
/// that are not static, of which a class has so many at most. Where they do
/// not, the class is that of the largest, as it takes the most time.
struct RowCount {
  RowsOp rows;
  int64_t each;

  /// The most rows of a class that ends at `last`.
  int64_t getLastRow(int64_t last) const;
};

/// A class of sizes and the schedules of a function's rmsnorm.rows for it, in
/// their order.
struct ScheduledRows {
  /// The largest product of sizes that are not static, or kAnyRows.
  int64_t last;
  std::vector<ScheduleFields> schedules;
};

struct RowClasses {
  /// What decides: a class is for calls in which none has more rows than it
  /// says. Empty if there is one class.
  SmallVector<RowCount, 1> counts;
  /// By largest size, ascending; the last is for any.
  std::vector<ScheduledRows> classes;
};

struct ColumnClasses {
  /// N, an index value of the function's; null if there is one class.
  Value columns;
  /// If there are narrow classes, the others are for multiples of so many
  /// columns, the widest vector of the loops; otherwise 1.
  int64_t vector = 1;
  /// By largest N, ascending up to kAnyColumns; after them the narrow ones in
  /// the same way.
  SmallVector<ColumnClass> classes = {ColumnClass()};

  /// Of N: 0 outside the narrow classes. Only if there are any.
  Value createRemainder(OpBuilder &builder) const;
};

/// M where it is static.
std::optional<int64_t> getStaticRows(RowsOp rows);

/// The buffers that `loops` have outside of them and whose alignment counts:
/// those that threads access in vectors, or what they are parts of. Values of
/// rows and of groups of columns are accessed one by one. Tiles come first: the
/// normalised dimension is theirs.
SmallVector<Value> getVectorBuffers(ArrayRef<RowsOp> loops);

/// The widest alignment in bytes that is worth a variant beside the one for
/// any, for rows of `buffers`, those of getVectorBuffers. A row whose size is
/// not a multiple of the alignment never starts where the next ends and both
/// are aligned: such a variant would not be taken. Rows whose size only a call
/// knows are of whole vectors, or have no aligned variant: ColumnClass.
std::optional<int64_t> getAlignment(ArrayRef<Value> buffers);

/// The schedules of `loops`, rmsnorm.rows: for each those of selectSchedules,
/// or the one that is written in the IR. Emits an error if there is none.
FailureOr<std::vector<Selection>>
chooseSchedules(ArrayRef<RowsOp> loops, TargetAttr target,
                const ScheduleOptions &options);

/// The classes of N for a bufferized function whose rows have a size that is
/// known only at a call, as few as choose different schedules. One if N is
/// static or not the same in all its loops. Whether N is a multiple of a vector
/// and its bound decide alone: all alignments have one tree of sums. Emits an
/// error if `options` does not fit the target.
FailureOr<ColumnClasses> getColumnClasses(func::FuncOp function,
                                          TargetAttr target,
                                          const ScheduleOptions &options);
/// The same for `loops` alone.
FailureOr<ColumnClasses> getColumnClasses(ArrayRef<RowsOp> loops,
                                          TargetAttr target,
                                          const ScheduleOptions &options);

/// The classes of rows for a bufferized function, as few as choose different
/// schedules; one if all numbers of rows are static. Emits an error if
/// `options` does not fit the target.
FailureOr<RowClasses> getRowClasses(func::FuncOp function, TargetAttr target,
                                    const ScheduleOptions &options);

/// Whether no buffer that one writes is used by the other.
bool areIndependent(RowsOp a, RowsOp b, AliasAnalysis &aliases);

/// Gives blocks as many threads as a neighbour's have, by more rows or by
/// fewer, so that rmsnorm-merge-launches can make one launch of both.
/// `schedules` are those of `loops`, for up to as many rows as `lastRows` says.
/// Blocks have up to eight subgroups then. A schedule that was not chosen here
/// stays. No result depends on it.
void matchBlocks(ArrayRef<RowsOp> loops, TargetAttr target,
                 const ScheduleRequest &request, ArrayRef<int64_t> lastRows,
                 MutableArrayRef<ScheduleFields> schedules);

/// The classes for `loops` with the schedules chosen for each, blocks matched.
RowClasses combineClasses(ArrayRef<RowsOp> loops, ArrayRef<Selection> chosen,
                          TargetAttr target, const ScheduleRequest &request);

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
  std::vector<ScheduleFields> candidates;
};

/// The candidates for the rmsnorm.rows of a bufferized function. Loops whose
/// schedule is written in the IR have none. Where N is known only at a call
/// they are for the class of N that `options` names.
FailureOr<SmallVector<ScheduleSpace>>
getScheduleSpaces(func::FuncOp function, TargetAttr target,
                  const ScheduleOptions &options);

} // namespace mlir::rmsnorm

#endif // RMSNORM_ROWS_ROWCLASSES_H
