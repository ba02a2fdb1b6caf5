// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NarrowRowsTest.cpp - schedules for rows of few vectors ------------===//

#include "ManyOperations.h"

#include "RMSNorm/Schedule/Select.h"

#include <gtest/gtest.h>

using namespace mlir;
using namespace mlir::rmsnorm;

/// A norm of rows of `columns` bf16, with a weight.
static ProgramFacts norm(int64_t columns) {
  ProgramFacts facts;
  facts.columns = columns;
  facts.narrowestBits = facts.columnOperandBits = 16;
  facts.liveBitsPerColumn = facts.loadedBitsPerColumn = 16;
  facts.storedBitsPerColumn = 16;
  facts.numReductions = 1;
  return facts;
}

static ProgramFacts silu(int64_t columns) {
  ProgramFacts facts = norm(columns);
  facts.functionsAfter = 1;
  return facts;
}

/// f8 with a scale given or of the row.
static ProgramFacts quantised(int64_t columns) {
  ProgramFacts facts = norm(columns);
  facts.storedBitsPerColumn = 8;
  setManyOperations(facts, 1);
  return facts;
}

/// f8 with a scale for each `group` columns.
static ProgramFacts grouped(int64_t columns, int64_t group = 32) {
  ProgramFacts facts = quantised(columns);
  facts.groupColumns = group;
  return facts;
}

static ProgramFacts groupedBesideY(int64_t columns) {
  ProgramFacts facts = grouped(columns);
  facts.storedBitsPerColumn = 24;
  setManyOperations(facts, 1);
  return facts;
}

/// norm(x) * silu(z).
static ProgramFacts gated(int64_t columns) {
  ProgramFacts facts = silu(columns);
  facts.loadedBitsPerColumn = 32;
  return facts;
}

/// norm(x * silu(z)).
static ProgramFacts gatedBefore(int64_t columns) {
  ProgramFacts facts = gated(columns);
  facts.liveBitsPerColumn = 32;
  facts.numRepeatedFunctions = 1;
  return facts;
}

static ScheduleFields getFields(const ProgramFacts &facts, int64_t rows,
                                StringRef chip = "sm_90") {
  OrRefusal<Selection> selection = selectSchedules(facts, *lookupChip(chip));
  EXPECT_TRUE(bool(selection));
  return selection->getFor(rows);
}

/// Threads of a row, row groups of a block and rows of a group; "m" with masks.
static std::string get(const ProgramFacts &facts, int64_t rows = kAnyRows) {
  const ScheduleFields fields = getFields(facts, rows);
  return (Twine(fields.threadsPerRow) + "x" + Twine(fields.rowGroups) + "x" +
          Twine(fields.rowsPerGroup) + (fields.maskBf16 ? "m" : ""))
      .str();
}

static std::vector<int64_t> getLastRows(const ProgramFacts &facts) {
  std::vector<int64_t> last;
  OrRefusal<Selection> selection = selectSchedules(facts, *lookupChip("sm_90"));
  for (const RowClass &one : selection->classes)
    last.push_back(one.lastRow);
  return last;
}

TEST(NarrowRows, WhichTheyAre) {
  // More than eight vectors, up to five a lane of a subgroup, of groups six.
  EXPECT_EQ(get(quantised(64)), "8x16x2");
  EXPECT_EQ(get(quantised(72)), "2x64x1");
  EXPECT_EQ(get(quantised(1280)), "32x4x1");
  EXPECT_EQ(get(quantised(1288)), "64x2x1m");
  EXPECT_EQ(get(grouped(1536)), "32x2x1");
  EXPECT_EQ(get(grouped(1568)), "64x1x1m");
  ProgramFacts six = grouped(1536);
  six.functionsAfter = 1;
  EXPECT_NE(get(six), "32x2x1m");
  six = grouped(1536);
  six.loadedBitsPerColumn = six.liveBitsPerColumn = 32;
  setManyOperations(six, 1);
  EXPECT_NE(getLastRows(six).front(), 264);
  // A vector a lane of the norm and of functions of it.
  for (int64_t columns : {128, 256}) {
    EXPECT_EQ(getFields(norm(columns), kAnyRows).rowsPerGroup, 2);
    EXPECT_EQ(getFields(silu(columns), kAnyRows).rowsPerGroup, 2);
    EXPECT_EQ(getFields(quantised(columns), kAnyRows).rowsPerGroup, 1);
    EXPECT_EQ(getFields(norm(columns + 8), kAnyRows).rowsPerGroup, 1);
  }
  EXPECT_EQ(getFields(norm(512), kAnyRows).rowsPerGroup, 1);
  ProgramFacts facts = norm(128);
  facts.storedBitsPerColumn = 24;
  EXPECT_EQ(get(facts), "4x32x1m") << "more is written";
  facts = norm(128);
  setManyOperations(facts, 1);
  EXPECT_EQ(get(facts), "4x32x1") << "many operations";
  // Other things set the pace.
  auto isNarrow = [](const ProgramFacts &facts, StringRef chip = "sm_90") {
    return getFields(facts, kAnyRows, chip).threadsPerRow == 16;
  };
  EXPECT_TRUE(isNarrow(quantised(512)));
  EXPECT_TRUE(isNarrow(quantised(512), "sm_80"));
  EXPECT_FALSE(isNarrow(quantised(512), "gfx942"));
  EXPECT_FALSE(isNarrow(quantised(510))) << "accesses of four bytes";
  facts = quantised(512);
  facts.dynamicColumns = true;
  EXPECT_FALSE(isNarrow(facts));
  facts = quantised(512);
  facts.singleRow = true;
  EXPECT_EQ(get(facts), "64x1x1");
  facts = quantised(512);
  facts.numColumnSums = 1;
  facts.sumsNarrowestBits = 16;
  EXPECT_FALSE(isNarrow(facts));
  facts = quantised(512);
  facts.part = 128;
  EXPECT_EQ(getFields(facts, kAnyRows).rowsPerGroup, 2);
  facts = quantised(512);
  facts.sharedBitsPerColumn = 16;
  facts.loadedBitsPerColumn = 32;
  EXPECT_FALSE(isNarrow(facts));
  facts = quantised(512);
  facts.numReductions = 0;
  EXPECT_FALSE(isNarrow(facts));
}

TEST(NarrowRows, ManyRows) {
  // Up to five vectors a thread, by as many threads as are a power of two.
  EXPECT_EQ(get(quantised(320)), "8x16x1");
  EXPECT_EQ(get(quantised(328)), "16x8x1m");
  EXPECT_EQ(get(quantised(640)), "16x8x1");
  EXPECT_EQ(get(quantised(648)), "32x4x1m");
  // Six of groups, by two subgroups a block then; neighbours share one.
  EXPECT_EQ(get(grouped(384)), "8x8x1");
  EXPECT_EQ(get(grouped(320)), "8x16x1");
  EXPECT_EQ(get(grouped(384, 128)), "16x8x1m");
  // Four with a wider result beside.
  EXPECT_EQ(get(groupedBesideY(512)), "16x8x1m");
  EXPECT_EQ(get(groupedBesideY(544)), "32x4x1m");
  // Three of two tiles, five if one waits and there is more than a vector for
  // each lane of a subgroup.
  EXPECT_EQ(get(gatedBefore(768)), "32x4x1m");
  EXPECT_EQ(get(gatedBefore(776)), "64x2x1m");
  EXPECT_EQ(get(gated(640)), "16x8x1m");
  EXPECT_EQ(get(gated(264)), "8x16x1m");
  EXPECT_EQ(get(gated(256)), "16x8x1m");
  // Whose lanes have nothing to do are alone in a block of one subgroup.
  EXPECT_EQ(get(gated(896)), "32x1x1m");
  EXPECT_EQ(get(gated(776)), "32x1x1m");
  EXPECT_EQ(get(gated(704)), "32x4x1m");
  EXPECT_EQ(get(gated(1032)), "32x4x1m");
  EXPECT_EQ(get(gated(520)), "16x8x1m");
  EXPECT_EQ(get(gated(1024)), "32x4x1m");
  EXPECT_EQ(get(gatedBefore(896)), "64x2x1m");
  // The norm and functions of it: more threads while all lanes have as much.
  for (auto form : {norm, silu}) {
    EXPECT_EQ(get(form(384)), "16x8x1m");
    EXPECT_EQ(get(form(512)), "32x4x1m");
    EXPECT_EQ(get(form(640)), "16x8x1m");
    EXPECT_EQ(get(form(1024)), "64x2x1m");
    EXPECT_EQ(get(form(1280)), "32x4x1m");
    // Two rows where lanes of two subgroups have nothing to do.
    EXPECT_EQ(get(form(896)), "64x2x2m");
  }
}

TEST(NarrowRows, WiderElements) {
  // 160 vectors of four f32.
  ProgramFacts facts = norm(640);
  facts.narrowestBits = facts.columnOperandBits = 32;
  facts.liveBitsPerColumn = facts.loadedBitsPerColumn = 32;
  facts.storedBitsPerColumn = 32;
  EXPECT_EQ(get(facts), "32x4x1m");
  // Rows of that size and a weight beside them would be read again otherwise.
  facts = grouped(768);
  facts.narrowestBits = facts.columnOperandBits = 32;
  facts.liveBitsPerColumn = facts.loadedBitsPerColumn = 32;
  EXPECT_EQ(get(facts), "32x2x1");
  EXPECT_EQ(getFields(facts, kAnyRows).cache, Cache::registers);
  EXPECT_EQ(getFields(facts, kAnyRows).vectorsInFlight,
            ScheduleFields().vectorsInFlight);
}

TEST(NarrowRows, UpToThreeVectorsOfASubgroup) {
  // By two subgroups if there are many, unless functions take long.
  for (int64_t columns : {648, 704, 768}) {
    EXPECT_EQ(get(norm(columns)), "64x2x2m");
    EXPECT_EQ(get(norm(columns), 2048), "32x4x1m");
    EXPECT_EQ(get(silu(columns)), "32x4x1m");
  }
  // Half of one for some rows a multiprocessor.
  EXPECT_EQ(getLastRows(norm(192)),
            (std::vector<int64_t>{264, 1056, kAnyRows}));
  EXPECT_EQ(get(norm(192), 1056), "16x8x1m");
  EXPECT_EQ(get(norm(192), 1057), "8x16x1m");
  EXPECT_EQ(getLastRows(norm(200)), (std::vector<int64_t>{264, kAnyRows}));
}

TEST(NarrowRows, ThreeVectorsOfTwoSubgroups) {
  EXPECT_EQ(get(norm(1536)), "64x2x1m");
  const ScheduleFields fields = getFields(norm(1536), kAnyRows);
  EXPECT_EQ(fields.cache, Cache::registers);
  EXPECT_EQ(fields.vectorsInFlight, ScheduleFields().vectorsInFlight);
  for (int64_t columns : {1528, 1544})
    EXPECT_EQ(getFields(norm(columns), kAnyRows).cache, Cache::reload);
  EXPECT_EQ(getFields(silu(1536), kAnyRows).cache, Cache::reload);
  // Twice as many threads up to 4 MB.
  EXPECT_EQ(getLastRows(norm(1536)), (std::vector<int64_t>{1365, kAnyRows}));
  EXPECT_EQ(get(norm(1536), 1365), "128x1x1m");
}

TEST(NarrowRows, Masks) {
  EXPECT_TRUE(getFields(quantised(384), kAnyRows).maskBf16) << "three vectors";
  EXPECT_FALSE(getFields(quantised(512), kAnyRows).maskBf16) << "four";
  ProgramFacts facts = quantised(512);
  facts.functionsAfter = 1;
  EXPECT_TRUE(getFields(facts, kAnyRows).maskBf16);
  EXPECT_TRUE(getFields(groupedBesideY(512), kAnyRows).maskBf16);
  // Of groups where the last vector may be none, or with very many operations.
  EXPECT_FALSE(getFields(grouped(1024), kAnyRows).maskBf16);
  EXPECT_TRUE(getFields(grouped(992), kAnyRows).maskBf16);
  EXPECT_FALSE(getFields(quantised(992), kAnyRows).maskBf16);
  facts = quantised(992);
  facts.liveBitsPerColumn = 32;
  EXPECT_TRUE(getFields(facts, kAnyRows).maskBf16) << "a maximum of the row";
  facts.columns = 1024;
  EXPECT_FALSE(getFields(facts, kAnyRows).maskBf16);
  facts = grouped(1024);
  setManyOperations(facts, 2);
  EXPECT_TRUE(getFields(facts, kAnyRows).maskBf16);
  facts.groupColumns = 0;
  EXPECT_FALSE(getFields(facts, kAnyRows).maskBf16);
  facts = gated(640);
  facts.functionsAfter = 0;
  EXPECT_TRUE(getFields(facts, kAnyRows).maskBf16) << "norm(x) * z";
}

TEST(NarrowRows, FewRows) {
  // A block each for two rows a multiprocessor, by a subgroup up to so many
  // vectors a lane as what is done to them takes, else by up to four.
  EXPECT_EQ(getLastRows(quantised(512)).front(), 2 * 132);
  EXPECT_EQ(get(quantised(768), 264), "32x1x1m");
  EXPECT_EQ(get(quantised(776), 264), "128x1x1m");
  EXPECT_EQ(get(grouped(768), 1), "32x1x1m");
  EXPECT_EQ(get(norm(768), 1), "32x1x1m");
  EXPECT_EQ(get(norm(896), 1), "128x1x1m");
  EXPECT_EQ(get(gated(768), 1), "32x1x1m");
  ProgramFacts facts = quantised(512);
  setManyOperations(facts, 2);
  EXPECT_EQ(get(facts, 1), "32x1x1m");
  facts.columns = 520;
  EXPECT_EQ(get(facts, 1), "128x1x1m");
  EXPECT_EQ(get(gatedBefore(512), 1), "32x1x1m");
  EXPECT_EQ(get(gatedBefore(520), 1), "128x1x1m");
  EXPECT_EQ(get(silu(264), 1), "64x1x1m");
  EXPECT_EQ(get(silu(520), 1), "128x1x1m");
  EXPECT_EQ(get(grouped(1536), 1), "128x1x1m");
  // No more threads than vectors; several rows fill a subgroup.
  EXPECT_EQ(get(quantised(128), 1), "16x2x1m");
}

TEST(NarrowRows, MoreRows) {
  // Up to 6 MB, of groups 12, of all that is read.
  EXPECT_EQ(getLastRows(quantised(512)),
            (std::vector<int64_t>{264, 6144, kAnyRows}));
  EXPECT_EQ(getLastRows(grouped(512)),
            (std::vector<int64_t>{264, 12288, kAnyRows}));
  EXPECT_EQ(getLastRows(gated(512)),
            (std::vector<int64_t>{264, 3072, kAnyRows}));
  // Twice as many threads, where all lanes have as much then ...
  EXPECT_EQ(get(quantised(512), 6144), "32x4x1m");
  EXPECT_EQ(get(quantised(512), 6145), "16x8x1");
  EXPECT_EQ(get(quantised(768), 2048), "32x4x1m");
  EXPECT_EQ(getLastRows(quantised(768)), (std::vector<int64_t>{264, kAnyRows}));
  EXPECT_EQ(get(silu(1024), 2048), "128x1x1m");
  // ... or have more than three vectors.
  EXPECT_EQ(get(quantised(640), 2048), "32x4x1m");
  EXPECT_EQ(get(norm(640), 2048), "32x4x1m");
  EXPECT_EQ(get(norm(1024), 2048), "64x2x1m");
  EXPECT_EQ(get(grouped(1536), 2048), "64x1x1m");
  EXPECT_EQ(get(grouped(1280), 2048), "64x2x1m");
  // Functions of one tile: a vector each, or no more than that.
  EXPECT_EQ(get(silu(264), 2048), "64x2x1m");
  EXPECT_EQ(get(silu(512), 2048), "64x2x1m");
  EXPECT_EQ(get(silu(520), 2048), "32x4x1m");
  EXPECT_EQ(get(silu(896), 2048), "64x2x1m");
  // What waits for a tile: a vector each, or a block of a subgroup.
  EXPECT_EQ(getLastRows(gated(896)),
            (std::vector<int64_t>{264, 9362, kAnyRows}));
  EXPECT_EQ(get(gated(896), 9362), "64x2x1m");
  EXPECT_EQ(get(gated(264), 2048), "32x1x1m");
  EXPECT_EQ(get(gated(704), 2048), "32x1x1m");
  EXPECT_EQ(get(gated(512), 2048), "64x2x1m");
  EXPECT_EQ(get(gated(1024), 1536), "128x1x1m");
  EXPECT_EQ(get(gated(768), 2048), "32x1x1m");
  EXPECT_EQ(get(gated(520), 2048), "32x1x1m");
  EXPECT_EQ(get(gated(384), 2048), "16x8x1m");
  EXPECT_EQ(get(gated(256), 2048), "32x4x1m");
  EXPECT_EQ(get(gated(224), 2048), "32x4x1m");
  EXPECT_EQ(get(gated(1280), 1000), "64x2x1m");
}

TEST(NarrowRows, WaitForColumns) {
  auto awaits = [](const ProgramFacts &facts, int64_t rows = kAnyRows) {
    return getFields(facts, rows).columnOperands == ColumnOperands::awaited;
  };
  // Also where a lane's last vector may be none, in blocks of several rows.
  EXPECT_TRUE(awaits(norm(1152)));
  EXPECT_FALSE(awaits(norm(704), 1)) << "a row a block";
  EXPECT_TRUE(awaits(quantised(704)));
  EXPECT_FALSE(awaits(quantised(1152))) << "no masks";
  EXPECT_FALSE(awaits(quantised(1792))) << "not narrow";
  EXPECT_TRUE(awaits(grouped(992)));
  // Functions up to four vectors, as f8 also of whole lanes.
  EXPECT_TRUE(awaits(silu(704)));
  EXPECT_FALSE(awaits(silu(1152))) << "five";
  EXPECT_TRUE(awaits(silu(1280)));
  ProgramFacts facts = silu(1280);
  facts.storedBitsPerColumn = 8;
  EXPECT_FALSE(awaits(facts));
  facts.columns = 1024;
  EXPECT_TRUE(awaits(facts));
}

TEST(NarrowRows, WiderRowsOfTwoSubgroups) {
  // Two rows a block where lanes have nothing to do, or little.
  EXPECT_EQ(get(quantised(1536)), "64x2x1m");
  EXPECT_EQ(get(quantised(1544)), "64x2x1m");
  EXPECT_EQ(get(quantised(2048)), "64x1x1m");
  EXPECT_EQ(get(quantised(2304)), "64x2x1m");
  EXPECT_EQ(get(quantised(4096)), "128x1x1m");
  EXPECT_EQ(get(quantised(4104)), "128x1x1m");
  EXPECT_EQ(get(grouped(1792, 128)), "64x1x1m");
  // A tile that waits, up to seven vectors a lane.
  EXPECT_EQ(get(gated(1792)), "128x1x1m");
  EXPECT_EQ(get(gated(1800)), "64x1x1");
  EXPECT_EQ(get(silu(1544)), "64x1x1");
  // The norm is held up to 4 MB to 2048 columns, to 6 MB beyond.
  EXPECT_EQ(getLastRows(norm(2048)).front(), 1024);
  EXPECT_EQ(getLastRows(norm(2560)).front(), 1228);
}
