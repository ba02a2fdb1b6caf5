// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Layout.h - how a row lies on the threads of a block ---------------===//
//
// Integers only. The number of a column is written in mixed radix. Of each
// digit some indices are in one vector, some on threads side by side, the rest
// in several vectors of a thread:
//
//   index of a digit = (register * threads + thread) * vector + element
//
// A row of one digit: thread t of T owns the vectors t, t + T, ... of
// `vectorWidth` elements each, the first of them at column t * vectorWidth. A
// digit of which the program takes single indices, as halves are those of a
// digit of two, is held: every thread has all of it. So what is computed of
// several of its indices stays in a thread.
//
// In a cluster the block of rank r owns the r-th part of the row. All parts
// have as many whole vectors; the last one has the rest. The owner of a column
// depends on neither the alignment of a row nor the number of vectors in
// flight. So the order of a sum does not either.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_SCHEDULE_LAYOUT_H
#define RMSNORM_SCHEDULE_LAYOUT_H

#include "RMSNorm/IR/ScheduleFields.h"

namespace mlir::rmsnorm {

/// One digit of the number of a column.
struct ColumnDigit {
  int64_t size;
  /// Whether a thread holds all of it.
  bool isHeld = false;
};

/// The digits of rows of `columns` columns, the outermost first. `part`: the
/// program takes them apart at multiples of so many columns; 0: it does not.
/// `hasPairs`: it takes pairs of neighbours apart. `whole`: so many columns are
/// taken apart alike; 0: all.
SmallVector<ColumnDigit, 3> getColumnDigits(int64_t columns, int64_t part,
                                            bool hasPairs, int64_t whole = 0);

/// How one digit lies.
struct DigitLayout {
  int64_t size;
  /// Columns from one index to the next.
  int64_t stride;
  /// Indices in a vector, threads side by side, and vectors of a thread.
  int64_t vector = 1, threads = 1, registers = 1;

  /// Indices from one of a thread's vectors to the next.
  int64_t getStep() const { return vector * threads; }
};

class Layout {
public:
  /// Of rows whose columns have the digits `digits`, or fewer columns in a call
  /// if `dynamicColumns`, as they have one digit then.
  Layout(const ScheduleFields &schedule, ArrayRef<ColumnDigit> digits,
         bool dynamicColumns, int64_t subgroupSize);

  /// Whether there is one. If not, because vectors would straddle a digit that
  /// others divide, or threads would have no columns, nothing else may be asked
  /// but the number of vectors.
  explicit operator bool() const { return !digits.empty(); }
  int64_t getColumns() const { return columns; }
  bool hasDynamicColumns() const { return dynamicColumns; }
  /// Whether a block owns one vector a thread, a strip of the columns.
  bool hasStrips() const { return schedule.hasStrips(); }
  int64_t getRowGroups() const { return schedule.rowGroups; }
  int64_t getRowsPerGroup() const { return schedule.rowsPerGroup; }
  int64_t getTileRows() const { return schedule.getTileRows(); }
  int64_t getThreadsPerRow() const { return schedule.threadsPerRow; }
  int64_t getBlockThreads() const { return schedule.getBlockThreads(); }
  int64_t getVectorWidth() const { return schedule.vectorWidth; }
  int64_t getCluster() const { return schedule.cluster; }
  int64_t getSubgroupSize() const { return subgroupSize; }

  /// The digits, the outermost first.
  ArrayRef<DigitLayout> getDigits() const { return digits; }
  /// Whether rows are whole: their columns have one digit, which threads share.
  bool isWhole() const { return whole; }
  /// Whether some threads have nothing of digits that others divide.
  bool hasPadding() const {
    return !whole && llvm::any_of(digits, [](const DigitLayout &digit) {
      return digit.registers * digit.getStep() != digit.size;
    });
  }
  /// Whether the vectors of all threads, one of each, lie side by side in a
  /// row, and then the next of each.
  bool isInOrder() const;
  /// Columns of a strip; from one of a thread's vectors to the next where it
  /// walks over them in a loop.
  int64_t getColumnStep() const { return schedule.getStripColumns(); }
  /// Columns of every rank's part of a row, except for the last ones.
  int64_t getPart() const { return schedule.getPartColumns(columns); }
  /// The first column of a thread's vector in its rank's part.
  int64_t getColumn(int64_t thread, int64_t vector) const {
    return getThreadColumn(thread) + getVectorColumn(vector);
  }
  /// Its two parts: that of the thread, and that of the vector.
  int64_t getThreadColumn(int64_t thread) const;
  int64_t getVectorColumn(int64_t vector) const;
  /// The place of a thread among those that share out a digit.
  int64_t getThread(int64_t thread, int64_t digit) const;
  /// Which of a thread's vectors of a digit is in `vector`.
  int64_t getRegister(int64_t vector, int64_t digit) const;
  /// Vectors a thread owns, whether their columns exist or not; those that it
  /// would own if its block had no strip, but the whole row.
  int64_t getNumVectors() const { return hasStrips() ? 1 : countRowVectors(); }
  int64_t countRowVectors() const;
  /// Whether all columns of a vector exist, for every thread of every rank.
  bool isFull(int64_t vector) const;
  /// How many of a thread's first vectors are so, of a row of one digit. At
  /// most one more is left. The part of the last rank may be smaller, and where
  /// a call may have fewer columns than the bound, no vector is certain.
  int64_t getNumFullVectors() const;
  /// Whether some thread of a strip has columns that do not exist.
  bool hasPartialStrips() const {
    return dynamicColumns || columns % getColumnStep() != 0;
  }

  /// Bytes that an access to a vector of elements of `elementBytes` may take at
  /// a time. `partial`: some of its columns may not exist, so accesses are no
  /// larger than that part allows. `packed`: no guard checks where the rows
  /// begin; they lie packed after an aligned beginning.
  int64_t getAccessBytes(int64_t elementBytes, bool partial, bool packed) const;

  /// Threads of a subgroup that share a row, and subgroups that do.
  int64_t getSubgroupThreads() const {
    return std::min(getThreadsPerRow(), subgroupSize);
  }
  int64_t getSubgroupsPerRow() const {
    return getThreadsPerRow() / subgroupSize;
  }
  bool hasSeveralSubgroups() const { return getThreadsPerRow() > subgroupSize; }

  /// Threads of a row that share a group of `group` columns, of which a
  /// thread has a vector, or one for each index of what it holds; 1 if it has
  /// all of a group; 0 if groups lie otherwise: in vectors of several
  /// subgroups, or across vectors.
  int64_t getGroupThreads(int64_t group) const;

  /// Bytes of workgroup memory that a tile of a buffer takes, and the distance
  /// from one of a thread's vectors in it to the next: the vectors of all
  /// threads of the block lie side by side, so neighbours are in neighbouring
  /// banks.
  int64_t getSlotStep(int64_t elementBytes) const {
    return getBlockThreads() * getVectorWidth() * elementBytes;
  }
  int64_t getSlotBytes(int64_t elementBytes) const {
    return getRowsPerGroup() * getNumVectors() * getSlotStep(elementBytes);
  }

private:
  /// Sets `digits` to how `shared` lie, if there is a way.
  void shareOut(ArrayRef<ColumnDigit> shared);

  ScheduleFields schedule;
  SmallVector<DigitLayout, 3> digits;
  int64_t columns;
  bool dynamicColumns, whole;
  int64_t subgroupSize;
};

/// Whether rows that are read again (`cache = reload`) are walked in a loop: of
/// more vectors than are unrolled, unless all are in flight at once, or if
/// their number is not known.
bool isWalkedInLoop(const ScheduleFields &schedule, int64_t columns,
                    bool dynamicColumns);

} // namespace mlir::rmsnorm

#endif // RMSNORM_SCHEDULE_LAYOUT_H
