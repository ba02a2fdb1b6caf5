// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LayoutTest.cpp - how a row lies on the threads of a block ---------===//

#include "RMSNorm/Schedule/Layout.h"

#include <gtest/gtest.h>

#include <vector>

using namespace mlir::rmsnorm;

namespace {
Layout::Shape getShape(int64_t columns, int64_t threads, int64_t width,
                       int64_t cluster = 1) {
  Layout::Shape shape;
  shape.columns = columns;
  shape.threadsPerRow = threads;
  shape.vectorWidth = width;
  shape.cluster = cluster;
  return shape;
}

/// Goes through a row as kernels do: rank r's part begins at r * getPart(), and
/// its columns past the part, or past the row, do not exist.
void checkRow(const Layout &layout) {
  const int64_t columns = layout.getColumns(), part = layout.getPart();
  const int64_t width = layout.getVectorWidth();
  std::vector<int> owners(columns);
  for (int64_t rank = 0; rank < layout.getCluster(); ++rank)
    for (int64_t thread = 0; thread < layout.getThreadsPerRow(); ++thread)
      for (int64_t vector = 0; vector < layout.getNumVectors(); ++vector) {
        const int64_t first = layout.getColumn(thread, vector);
        const bool isFull = vector < layout.getNumFullVectors();
        for (int64_t column = first; column < first + width; ++column) {
          const bool exists = column < part && rank * part + column < columns;
          EXPECT_TRUE(exists || !isFull) << "rank " << rank << ", " << column;
          if (exists)
            ++owners[rank * part + column];
        }
      }
  // One vector is left at most, but for the last rank.
  if (layout.getCluster() == 1) {
    EXPECT_LE(layout.getNumVectors() - layout.getNumFullVectors(), 1);
  }
  for (int64_t column = 0; column < columns; ++column)
    ASSERT_EQ(owners[column], 1) << "column " << column;
}
} // namespace

TEST(LayoutTest, EveryColumnHasOneOwner) {
  for (int64_t columns : {1, 2, 3, 7, 8, 31, 64, 100, 128, 255, 760, 1024, 1128,
                          2880, 4095, 4096, 4097, 16384})
    for (int64_t threads : {1, 8, 32, 96, 256})
      for (int64_t width : {1, 2, 4, 8, 16})
        for (int64_t cluster : {1, 2, 8, 16}) {
          SCOPED_TRACE(testing::Message()
                       << columns << " columns, " << threads << " threads x "
                       << width << ", cluster " << cluster);
          checkRow(Layout(getShape(columns, threads, width, cluster)));
          if (testing::Test::HasFailure())
            return;
        }
}

TEST(LayoutTest, ThreadsTakeTurns) {
  Layout layout(getShape(4096, 256, 8));
  EXPECT_EQ(layout.getColumnStep(), 2048);
  EXPECT_EQ(layout.getColumn(0, 0), 0);
  EXPECT_EQ(layout.getColumn(1, 0), 8);
  EXPECT_EQ(layout.getColumn(255, 1), 4088);
  EXPECT_EQ(layout.getNumVectors(), 2);
  EXPECT_EQ(layout.getNumFullVectors(), 2);
}

TEST(LayoutTest, TheLastVectorMayBePartial) {
  Layout more(getShape(4097, 256, 8)), less(getShape(4095, 256, 8));
  EXPECT_EQ(more.getNumVectors(), 3);
  EXPECT_EQ(more.getNumFullVectors(), 2);
  EXPECT_EQ(less.getNumVectors(), 2);
  EXPECT_EQ(less.getNumFullVectors(), 1);
  Layout few(getShape(8, 256, 8));
  EXPECT_EQ(few.getNumVectors(), 1);
  EXPECT_EQ(few.getNumFullVectors(), 0);
}

TEST(LayoutTest, BlocksOfAClusterShareWholeVectors) {
  Layout even(getShape(131072, 256, 8, 8));
  EXPECT_EQ(even.getPart(), 16384);
  EXPECT_EQ(even.getNumVectors(), 8);
  EXPECT_EQ(even.getNumFullVectors(), 8);
  // 1001 vectors: seven ranks have 126 of them, the last one 119.
  Layout odd(getShape(8001, 32, 8, 8));
  EXPECT_EQ(odd.getPart(), 126 * 8);
  EXPECT_EQ(odd.getNumVectors(), 4);
  EXPECT_EQ(odd.getNumFullVectors(), 3); // 8001 - 7 * 1008 = 945 of 256 each
  // Fewer vectors than ranks: the last ones have nothing.
  Layout few(getShape(24, 1, 8, 8));
  EXPECT_EQ(few.getPart(), 8);
  EXPECT_EQ(few.getNumVectors(), 1);
  EXPECT_EQ(few.getNumFullVectors(), 0);
}

TEST(LayoutTest, AccessesFollowAlignmentWidthAndChip) {
  Layout::Shape shape = getShape(4096, 256, 8);
  EXPECT_EQ(Layout(shape).getAccessBytes(2, false, false), 16);
  EXPECT_EQ(Layout(shape).getAccessBytes(4, false, false), 16);
  EXPECT_EQ(Layout(shape).getAccessBytes(1, false, false), 8);
  shape.alignment = 32;
  EXPECT_EQ(Layout(shape).getAccessBytes(4, false, false), 16);
  shape.accessBytes = 32;
  EXPECT_EQ(Layout(shape).getAccessBytes(4, false, false), 32);
  EXPECT_EQ(Layout(shape).getAccessBytes(2, false, false), 16);
  shape.alignment = 16;
  EXPECT_EQ(Layout(shape).getAccessBytes(4, false, false), 16);
  // An element at least, whatever rows are aligned to.
  shape.alignment = 1;
  EXPECT_EQ(Layout(shape).getAccessBytes(4, false, false), 4);
  EXPECT_EQ(Layout(shape).getAccessBytes(1, false, false), 1);
}

TEST(LayoutTest, AccessesToPartialVectorsDoNotPassTheRow) {
  Layout layout(getShape(4092, 256, 8)); // 4 columns are left
  EXPECT_EQ(layout.getAccessBytes(2, false, false), 16);
  EXPECT_EQ(layout.getAccessBytes(2, true, false), 8);
  EXPECT_EQ(layout.getAccessBytes(4, true, false), 16);
  EXPECT_EQ(Layout(getShape(4095, 256, 8)).getAccessBytes(2, true, false), 2);
  // Which they are is known at a call only: they are masked, not narrowed.
  Layout::Shape dynamic = getShape(4095, 256, 8);
  dynamic.dynamicColumns = true;
  EXPECT_EQ(Layout(dynamic).getAccessBytes(2, true, true), 16);
}

TEST(LayoutTest, PackedRowsBeginWhereTheirSizeSays) {
  // 2046 * 2 bytes: every other row begins at a multiple of 4 only.
  EXPECT_EQ(Layout(getShape(2046, 256, 8)).getAccessBytes(2, false, true), 4);
  EXPECT_EQ(Layout(getShape(2046, 256, 8)).getAccessBytes(4, false, true), 8);
  EXPECT_EQ(Layout(getShape(2047, 256, 8)).getAccessBytes(2, false, true), 2);
  EXPECT_EQ(Layout(getShape(2048, 256, 8)).getAccessBytes(2, false, true), 16);
}

TEST(LayoutTest, StripsAreOneVectorAThread) {
  Layout::Shape shape = getShape(4096, 64, 4);
  shape.strips = true;
  EXPECT_EQ(Layout(shape).getNumVectors(), 1);
  EXPECT_FALSE(Layout(shape).hasPartialStrips());
  shape.columns = 4097;
  EXPECT_EQ(Layout(shape).getNumVectors(), 1);
  EXPECT_TRUE(Layout(shape).hasPartialStrips());
  shape.columns = 4096;
  shape.dynamicColumns = true;
  EXPECT_TRUE(Layout(shape).hasPartialStrips());
}

TEST(LayoutTest, RowsOfSeveralSubgroups) {
  EXPECT_EQ(Layout(getShape(128, 16, 8)).getSubgroupThreads(), 16);
  EXPECT_FALSE(Layout(getShape(128, 16, 8)).hasSeveralSubgroups());
  EXPECT_FALSE(Layout(getShape(256, 32, 8)).hasSeveralSubgroups());
  EXPECT_EQ(Layout(getShape(4096, 256, 8)).getSubgroupThreads(), 32);
  EXPECT_EQ(Layout(getShape(4096, 256, 8)).getSubgroupsPerRow(), 8);
  EXPECT_TRUE(Layout(getShape(4096, 256, 8)).hasSeveralSubgroups());
}

TEST(LayoutTest, SlotsHoldWhatThreadsOwn) {
  Layout::Shape shape = getShape(4097, 256, 8);
  shape.rowGroups = 2;
  shape.rowsPerGroup = 3;
  Layout layout(shape);
  EXPECT_EQ(layout.getTileRows(), 6);
  EXPECT_EQ(layout.getBlockThreads(), 512);
  EXPECT_EQ(layout.getSlotStep(2), 512 * 8 * 2);
  // Three vectors a row, the third with one column of one thread.
  EXPECT_EQ(layout.getSlotBytes(2), 3 * 3 * 512 * 8 * 2);
  EXPECT_EQ(Layout(getShape(131072, 256, 8, 8)).getSlotBytes(2), 32768);
}

TEST(LayoutTest, GroupsLieInVectorsOrNeighbours) {
  // 128 columns: 16 threads of 8, all of one subgroup.
  EXPECT_EQ(Layout(getShape(4096, 256, 8)).getGroupThreads(128), 16);
  EXPECT_EQ(Layout(getShape(4096, 256, 8)).getGroupThreads(256), 32);
  EXPECT_EQ(Layout(getShape(4096, 256, 8)).getGroupThreads(16), 2);
  EXPECT_EQ(Layout(getShape(4096, 256, 8)).getGroupThreads(8), 1);
  EXPECT_EQ(Layout(getShape(4096, 256, 16)).getGroupThreads(4), 1);
  // Several subgroups, a number of threads that shuffles do not know, a group
  // that is cut, a last vector of groups that do not exist.
  EXPECT_EQ(Layout(getShape(4096, 256, 8)).getGroupThreads(512), 0);
  EXPECT_EQ(Layout(getShape(4608, 576, 8)).getGroupThreads(24), 0);
  EXPECT_EQ(Layout(getShape(4096, 256, 8)).getGroupThreads(12), 0);
  EXPECT_EQ(Layout(getShape(20, 4, 8)).getGroupThreads(4), 0);
  // Rows of 8 threads have neighbours among those only.
  EXPECT_EQ(Layout(getShape(64, 8, 8)).getGroupThreads(64), 8);
  EXPECT_EQ(Layout(getShape(256, 8, 8)).getGroupThreads(128), 0);
  // Parts of a cluster's row that are no whole groups.
  EXPECT_EQ(Layout(getShape(65536, 256, 8, 4)).getGroupThreads(128), 16);
  EXPECT_EQ(Layout(getShape(8192 + 128, 256, 8, 4)).getGroupThreads(128), 0);
}
