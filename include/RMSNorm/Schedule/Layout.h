// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Layout.h - how a row lies on the threads of a block ---------------===//
//
// Integers only. In a row, thread t of T owns the vectors t, t + T, ... of
// `vectorWidth` elements each, the first of them at column t * vectorWidth. In
// a cluster the block of rank r owns the r-th part of the row. All parts have
// as many whole vectors; the last one has the rest. The owner of a column
// depends on neither the alignment of a row nor the number of vectors in
// flight. So the order of a sum does not either.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_SCHEDULE_LAYOUT_H
#define RMSNORM_SCHEDULE_LAYOUT_H

#include "RMSNorm/IR/ScheduleFields.h"

namespace mlir::rmsnorm {

/// Vectors that a thread owns of a row of `columns`, whether their columns
/// exist or not.
int64_t countVectors(const ScheduleFields &schedule, int64_t columns);

class Layout {
public:
  /// Of rows of `columns` columns, or fewer in a call if `dynamicColumns`.
  Layout(const ScheduleFields &schedule, int64_t columns, bool dynamicColumns,
         int64_t subgroupSize)
      : schedule(schedule), columns(columns), dynamicColumns(dynamicColumns),
        subgroupSize(subgroupSize) {}

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

  /// Columns from one of a thread's vectors to the next; of a strip.
  int64_t getColumnStep() const { return schedule.getStripColumns(); }
  /// Columns of every rank's part of a row, except for the last ones.
  int64_t getPart() const { return schedule.getPartColumns(columns); }
  /// The first column of a thread's vector in its rank's part.
  int64_t getColumn(int64_t thread, int64_t vector) const {
    return thread * getVectorWidth() + vector * getColumnStep();
  }
  /// Vectors a thread owns, whether their columns exist or not.
  int64_t getNumVectors() const {
    return hasStrips() ? 1 : countVectors(schedule, columns);
  }
  /// Those of them whose columns all exist, for every thread of every rank. At
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
  /// thread has a vector; 1 if a vector holds groups; 0 if groups lie
  /// otherwise: in vectors of several subgroups, or across vectors.
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
  ScheduleFields schedule;
  int64_t columns;
  bool dynamicColumns;
  int64_t subgroupSize;
};

/// Whether rows that are read again (`cache = reload`) are walked in a loop: of
/// more vectors than are unrolled, unless all are in flight at once, or if
/// their number is not known.
bool isWalkedInLoop(const ScheduleFields &schedule, int64_t columns,
                    bool dynamicColumns);

} // namespace mlir::rmsnorm

#endif // RMSNORM_SCHEDULE_LAYOUT_H
