// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LayoutTest.cpp - how a row lies on the threads of a block ---------===//

#include "RMSNorm/Schedule/Layout.h"

#include <gtest/gtest.h>

#include <vector>

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
ScheduleFields getFields(int64_t threads, int64_t width, int64_t cluster = 1) {
  ScheduleFields fields;
  fields.threadsPerRow = threads;
  fields.vectorWidth = width;
  fields.cluster = cluster;
  return fields;
}

Layout getLayout(int64_t columns, const ScheduleFields &fields,
                 bool dynamicColumns = false) {
  return Layout(fields, ColumnDigit{columns}, dynamicColumns,
                /*subgroupSize=*/32);
}

/// Of rows of several digits.
Layout getLayout(ArrayRef<ColumnDigit> digits, int64_t threads, int64_t width) {
  return Layout(getFields(threads, width), digits, /*dynamicColumns=*/false,
                /*subgroupSize=*/32);
}

Layout getLayout(int64_t columns, int64_t threads, int64_t width,
                 int64_t cluster = 1) {
  return getLayout(columns, getFields(threads, width, cluster));
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
          checkRow(getLayout(columns, threads, width, cluster));
          if (testing::Test::HasFailure())
            return;
        }
}

/// The same of rows of several digits, of which a vector exists or does not.
void checkDigits(const Layout &layout) {
  const int64_t columns = layout.getColumns();
  std::vector<int> owners(columns);
  for (int64_t thread = 0; thread < layout.getThreadsPerRow(); ++thread)
    for (int64_t vector = 0; vector < layout.getNumVectors(); ++vector) {
      bool exists = true;
      for (auto [number, digit] : llvm::enumerate(layout.getDigits()))
        exists &= (layout.getRegister(vector, number) * digit.threads +
                   layout.getThread(thread, number)) *
                      digit.vector <
                  digit.size;
      EXPECT_TRUE(exists || !layout.isFull(vector));
      for (int64_t i = 0; exists && i < layout.getVectorWidth(); ++i)
        ++owners[layout.getColumn(thread, vector) + i];
    }
  for (int64_t column = 0; column < columns; ++column)
    ASSERT_EQ(owners[column], 1) << "column " << column;
}

TEST(LayoutTest, EveryColumnOfSeveralDigitsHasOneOwner) {
  constexpr bool held = true;
  const std::vector<std::vector<ColumnDigit>> rows = {
      {{2, held}, {64}},
      {{2, held}, {40}},
      {{2, held}, {36}},
      {{64}, {2, held}},
      {{3, held}, {20}, {2, held}},
      {{24}, {2, held}, {64}},
      {{40}, {64}, {2, held}},
      {{2, held}, {16}, {4}},
      {{9}, {2, held}, {32}},
      {{2, held}, {4, held}}};
  int64_t count = 0;
  for (const std::vector<ColumnDigit> &digits : rows)
    for (int64_t threads : {1, 2, 4, 8, 16, 32, 64, 96, 192, 256, 320, 384})
      for (int64_t width : {1, 2, 4, 8, 16}) {
        const Layout layout = getLayout(digits, threads, width);
        count += bool(layout);
        SCOPED_TRACE(testing::Message() << layout.getColumns() << " columns, "
                                        << threads << " threads x " << width);
        if (layout)
          checkDigits(layout);
        if (testing::Test::HasFailure())
          return;
      }
  EXPECT_GT(count, 200);
}

TEST(LayoutTest, HeldDigitsAreRegisters) {
  // Halves of a head of 96: six of eight threads have columns.
  const Layout layout =
      getLayout(getColumnDigits(96, /*part=*/48, /*hasPairs=*/false), 8, 8);
  ASSERT_TRUE(bool(layout));
  EXPECT_EQ(layout.getNumVectors(), 2);
  EXPECT_EQ(layout.getColumn(5, 0), 40);
  EXPECT_EQ(layout.getColumn(5, 1), 88);
  EXPECT_FALSE(layout.isFull(0));
  // Pairs of the first half lie in the vectors of its threads.
  const Layout pairs =
      getLayout(getColumnDigits(128, /*part=*/64, /*hasPairs=*/true), 8, 8);
  EXPECT_EQ(pairs.getDigits().size(), 3u);
  EXPECT_EQ(pairs.getColumn(7, 1), 64 + 56);
  EXPECT_TRUE(pairs.isFull(1));
}

TEST(LayoutTest, VectorsDoNotStraddleDigits) {
  constexpr bool held = true;
  EXPECT_FALSE(getLayout({{2, held}, {36}}, 8, 8));
  EXPECT_TRUE(bool(getLayout({{2, held}, {36}}, 8, 4)));
  // Of both halves of a digit only pairs lie in one vector.
  EXPECT_FALSE(getLayout({{2, held}, {4}}, 1, 8));
  // No vector goes on around a held digit.
  EXPECT_FALSE(getLayout({{64}, {2, held}, {4}}, 32, 8));
  EXPECT_TRUE(bool(getLayout({{64}, {2, held}, {4}}, 32, 4)));
  // Nobody shares what each thread holds.
  EXPECT_FALSE(getLayout({{2, held}, {4, held}}, 2, 1));
}

TEST(LayoutTest, ThreadsTakeTurns) {
  const Layout layout = getLayout(4096, 256, 8);
  EXPECT_EQ(layout.getColumnStep(), 2048);
  EXPECT_EQ(layout.getColumn(0, 0), 0);
  EXPECT_EQ(layout.getColumn(1, 0), 8);
  EXPECT_EQ(layout.getColumn(255, 1), 4088);
  EXPECT_EQ(layout.getNumVectors(), 2);
  EXPECT_EQ(layout.getNumFullVectors(), 2);
}

TEST(LayoutTest, TheLastVectorMayBePartial) {
  const Layout more = getLayout(4097, 256, 8), less = getLayout(4095, 256, 8);
  EXPECT_EQ(more.getNumVectors(), 3);
  EXPECT_EQ(more.getNumFullVectors(), 2);
  EXPECT_EQ(less.getNumVectors(), 2);
  EXPECT_EQ(less.getNumFullVectors(), 1);
  const Layout few = getLayout(8, 256, 8);
  EXPECT_EQ(few.getNumVectors(), 1);
  EXPECT_EQ(few.getNumFullVectors(), 0);
}

TEST(LayoutTest, BlocksOfAClusterShareWholeVectors) {
  const Layout even = getLayout(131072, 256, 8, 8);
  EXPECT_EQ(even.getPart(), 16384);
  EXPECT_EQ(even.getNumVectors(), 8);
  EXPECT_EQ(even.getNumFullVectors(), 8);
  // 1001 vectors: seven ranks have 126 of them, the last one 119.
  const Layout odd = getLayout(8001, 32, 8, 8);
  EXPECT_EQ(odd.getPart(), 126 * 8);
  EXPECT_EQ(odd.getNumVectors(), 4);
  EXPECT_EQ(odd.getNumFullVectors(), 3); // 8001 - 7 * 1008 = 945 of 256 each
  // Fewer vectors than ranks: the last ones have nothing.
  const Layout few = getLayout(24, 1, 8, 8);
  EXPECT_EQ(few.getPart(), 8);
  EXPECT_EQ(few.getNumVectors(), 1);
  EXPECT_EQ(few.getNumFullVectors(), 0);
}

TEST(LayoutTest, AccessesFollowAlignmentAndWidth) {
  ScheduleFields fields = getFields(256, 8);
  EXPECT_EQ(getLayout(4096, fields).getAccessBytes(2, false, false), 16);
  EXPECT_EQ(getLayout(4096, fields).getAccessBytes(4, false, false), 16);
  EXPECT_EQ(getLayout(4096, fields).getAccessBytes(1, false, false), 8);
  // An element at least, whatever rows are aligned to.
  fields.alignment = 1;
  EXPECT_EQ(getLayout(4096, fields).getAccessBytes(4, false, false), 4);
  EXPECT_EQ(getLayout(4096, fields).getAccessBytes(1, false, false), 1);
}

TEST(LayoutTest, AccessesToPartialVectorsDoNotPassTheRow) {
  const Layout layout = getLayout(4092, 256, 8); // 4 columns are left
  EXPECT_EQ(layout.getAccessBytes(2, false, false), 16);
  EXPECT_EQ(layout.getAccessBytes(2, true, false), 8);
  EXPECT_EQ(layout.getAccessBytes(4, true, false), 16);
  EXPECT_EQ(getLayout(4095, 256, 8).getAccessBytes(2, true, false), 2);
  // Which they are is known at a call only: they are masked, not narrowed.
  EXPECT_EQ(getLayout(4095, getFields(256, 8), /*dynamicColumns=*/true)
                .getAccessBytes(2, true, true),
            16);
}

TEST(LayoutTest, PackedRowsBeginWhereTheirSizeSays) {
  // 2046 * 2 bytes: every other row begins at a multiple of 4 only.
  EXPECT_EQ(getLayout(2046, 256, 8).getAccessBytes(2, false, true), 4);
  EXPECT_EQ(getLayout(2046, 256, 8).getAccessBytes(4, false, true), 8);
  EXPECT_EQ(getLayout(2047, 256, 8).getAccessBytes(2, false, true), 2);
  EXPECT_EQ(getLayout(2048, 256, 8).getAccessBytes(2, false, true), 16);
}

TEST(LayoutTest, StripsAreOneVectorAThread) {
  ScheduleFields fields = getFields(64, 4);
  fields.columnSums = ColumnSums::strips;
  EXPECT_EQ(getLayout(4096, fields).getNumVectors(), 1);
  EXPECT_FALSE(getLayout(4096, fields).hasPartialStrips());
  EXPECT_EQ(getLayout(4097, fields).getNumVectors(), 1);
  EXPECT_TRUE(getLayout(4097, fields).hasPartialStrips());
  EXPECT_TRUE(
      getLayout(4096, fields, /*dynamicColumns=*/true).hasPartialStrips());
}

TEST(LayoutTest, RowsOfSeveralSubgroups) {
  EXPECT_EQ(getLayout(128, 16, 8).getSubgroupThreads(), 16);
  EXPECT_FALSE(getLayout(128, 16, 8).hasSeveralSubgroups());
  EXPECT_FALSE(getLayout(256, 32, 8).hasSeveralSubgroups());
  EXPECT_EQ(getLayout(4096, 256, 8).getSubgroupThreads(), 32);
  EXPECT_EQ(getLayout(4096, 256, 8).getSubgroupsPerRow(), 8);
  EXPECT_TRUE(getLayout(4096, 256, 8).hasSeveralSubgroups());
}

TEST(LayoutTest, SlotsHoldWhatThreadsOwn) {
  ScheduleFields fields = getFields(256, 8);
  fields.rowGroups = 2;
  fields.rowsPerGroup = 3;
  const Layout layout = getLayout(4097, fields);
  EXPECT_EQ(layout.getTileRows(), 6);
  EXPECT_EQ(layout.getBlockThreads(), 512);
  EXPECT_EQ(layout.getSlotStep(2), 512 * 8 * 2);
  // Three vectors a row, the third with one column of one thread.
  EXPECT_EQ(layout.getSlotBytes(2), 3 * 3 * 512 * 8 * 2);
  EXPECT_EQ(getLayout(131072, 256, 8, 8).getSlotBytes(2), 32768);
}

TEST(LayoutTest, GroupsLieInVectorsOrNeighbours) {
  // 128 columns: 16 threads of 8, all of one subgroup.
  EXPECT_EQ(getLayout(4096, 256, 8).getGroupThreads(128), 16);
  EXPECT_EQ(getLayout(4096, 256, 8).getGroupThreads(256), 32);
  EXPECT_EQ(getLayout(4096, 256, 8).getGroupThreads(16), 2);
  EXPECT_EQ(getLayout(4096, 256, 8).getGroupThreads(8), 1);
  EXPECT_EQ(getLayout(4096, 256, 16).getGroupThreads(4), 1);
  // Several subgroups, a number of threads that shuffles do not know, a group
  // that is cut, a last vector of groups that do not exist.
  EXPECT_EQ(getLayout(4096, 256, 8).getGroupThreads(512), 0);
  EXPECT_EQ(getLayout(4608, 576, 8).getGroupThreads(24), 0);
  EXPECT_EQ(getLayout(4096, 256, 8).getGroupThreads(12), 0);
  EXPECT_EQ(getLayout(20, 4, 8).getGroupThreads(4), 0);
  // Rows of 8 threads have neighbours among those only.
  EXPECT_EQ(getLayout(64, 8, 8).getGroupThreads(64), 8);
  EXPECT_EQ(getLayout(256, 8, 8).getGroupThreads(128), 0);
  // Of halves a group lies in one, or has all of both, of which a thread has
  // some.
  const ColumnDigit halves[] = {{2, true}, {64}}, pairs[] = {{64}, {2, true}};
  EXPECT_EQ(getLayout(halves, 8, 8).getGroupThreads(32), 4);
  EXPECT_EQ(getLayout(halves, 8, 8).getGroupThreads(64), 8);
  EXPECT_EQ(getLayout(halves, 8, 8).getGroupThreads(128), 8);
  EXPECT_EQ(getLayout(halves, 4, 8).getGroupThreads(64), 4);
  EXPECT_EQ(getLayout(pairs, 16, 8).getGroupThreads(128), 16);
  // Of heads in halves a head is 8 threads, however many heads a thread has.
  const auto heads = getColumnDigits(3072, 64, /*hasPairs=*/false, 128);
  ASSERT_EQ(heads.size(), 3u);
  EXPECT_EQ(getLayout(heads, 192, 8).getGroupThreads(128), 8);
  EXPECT_EQ(getLayout(heads, 64, 8).getGroupThreads(128), 8);
  EXPECT_EQ(getLayout(heads, 64, 8).getNumVectors(), 6);
  EXPECT_EQ(getLayout(heads, 192, 8).getColumn(9, 1), 128 + 64 + 8);
  EXPECT_FALSE(getLayout(heads, 192, 8).isInOrder());
  EXPECT_TRUE(getLayout(halves, 8, 8).isInOrder());
  EXPECT_EQ(
      getLayout({{4}, {2, true}, {2, true}, {48}}, 8, 8).getGroupThreads(24),
      0);
  // Of 10 vectors of a half on 16 threads each two are a group.
  EXPECT_EQ(getLayout({{2, true}, {40}}, 16, 4).getGroupThreads(8), 2);
  // Parts of a cluster's row that are no whole groups.
  EXPECT_EQ(getLayout(65536, 256, 8, 4).getGroupThreads(128), 16);
  EXPECT_EQ(getLayout(8192 + 128, 256, 8, 4).getGroupThreads(128), 0);
}
