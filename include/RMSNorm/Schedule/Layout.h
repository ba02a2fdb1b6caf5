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

#include <cstdint>

namespace mlir::rmsnorm {

class Layout {
public:
  /// The inputs of a layout: fields of the schedule, the chip's subgroup size
  /// and the row.
  struct Shape {
    int64_t rowGroups = 1, rowsPerGroup = 1, threadsPerRow = 32;
    int64_t vectorWidth = 8, cluster = 1;
    /// Bytes that every row of a tile is aligned to, and the widest access.
    int64_t alignment = 16, accessBytes = 16;
    int64_t subgroupSize = 32;
    /// N, or its bound, and whether a call may have less.
    int64_t columns = 1;
    bool dynamicColumns = false;
    /// Whether a block owns one vector a thread, a strip of the columns.
    bool strips = false;
  };

  explicit Layout(const Shape &shape) : shape(shape) {}

  int64_t getColumns() const { return shape.columns; }
  bool hasDynamicColumns() const { return shape.dynamicColumns; }
  bool hasStrips() const { return shape.strips; }
  int64_t getRowGroups() const { return shape.rowGroups; }
  int64_t getRowsPerGroup() const { return shape.rowsPerGroup; }
  int64_t getTileRows() const { return shape.rowGroups * shape.rowsPerGroup; }
  int64_t getThreadsPerRow() const { return shape.threadsPerRow; }
  int64_t getBlockThreads() const {
    return shape.rowGroups * shape.threadsPerRow;
  }
  int64_t getVectorWidth() const { return shape.vectorWidth; }
  int64_t getCluster() const { return shape.cluster; }
  int64_t getSubgroupSize() const { return shape.subgroupSize; }

  /// Columns from one of a thread's vectors to the next; of a strip.
  int64_t getColumnStep() const {
    return shape.threadsPerRow * shape.vectorWidth;
  }
  /// Columns of every rank's part of a row, except for the last ones.
  int64_t getPart() const;
  /// The first column of a thread's vector in its rank's part.
  int64_t getColumn(int64_t thread, int64_t vector) const {
    return thread * shape.vectorWidth + vector * getColumnStep();
  }
  /// Vectors a thread owns, whether their columns exist or not.
  int64_t getNumVectors() const;
  /// Those of them whose columns all exist, for every thread of every rank. At
  /// most one more is left. The part of the last rank may be smaller, and where
  /// a call may have fewer columns than the bound, no vector is certain.
  int64_t getNumFullVectors() const;
  /// Whether some thread of a strip has columns that do not exist.
  bool hasPartialStrips() const {
    return shape.dynamicColumns || shape.columns % getColumnStep() != 0;
  }

  /// Bytes that an access to a vector of elements of `elementBytes` may take at
  /// a time. `partial`: some of its columns may not exist, so accesses are no
  /// larger than that part allows. `packed`: no guard checks where the rows
  /// begin; they lie packed after an aligned beginning.
  int64_t getAccessBytes(int64_t elementBytes, bool partial, bool packed) const;

  /// Threads of a subgroup that share a row, and subgroups that do.
  int64_t getSubgroupThreads() const;
  int64_t getSubgroupsPerRow() const {
    return shape.threadsPerRow / shape.subgroupSize;
  }
  bool hasSeveralSubgroups() const {
    return shape.threadsPerRow > shape.subgroupSize;
  }

  /// Threads of a row that share a group of `columns` columns, of which a
  /// thread has a vector; 1 if a vector holds groups; 0 if groups lie
  /// otherwise: in vectors of several subgroups, or across vectors.
  int64_t getGroupThreads(int64_t columns) const;

  /// Bytes of workgroup memory that a tile of a buffer takes, and the distance
  /// from one of a thread's vectors in it to the next: the vectors of all
  /// threads of the block lie side by side, so neighbours are in neighbouring
  /// banks.
  int64_t getSlotStep(int64_t elementBytes) const {
    return getBlockThreads() * shape.vectorWidth * elementBytes;
  }
  int64_t getSlotBytes(int64_t elementBytes) const {
    return shape.rowsPerGroup * getNumVectors() * getSlotStep(elementBytes);
  }

private:
  Shape shape;
};

struct ScheduleFields;

/// Whether rows that are read again (`cache = reload`) are walked in a loop: of
/// more vectors than are unrolled, unless all are in flight at once, or if
/// their number is not known.
bool isWalkedInLoop(const ScheduleFields &schedule, int64_t columns,
                    bool dynamicColumns);

/// The layout of rows of `columns` columns by a schedule on a chip with such
/// subgroups.
Layout getLayout(const ScheduleFields &schedule, int64_t columns,
                 bool dynamicColumns, int64_t subgroupSize);

} // namespace mlir::rmsnorm

#endif // RMSNORM_SCHEDULE_LAYOUT_H
