// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SelectTest.cpp - the choice of schedules as a pure function -------===//

#include "RMSNorm/Schedule/CostModel.h"
#include "RMSNorm/Schedule/ScheduleSpace.h"

#include <gtest/gtest.h>

#include <array>

using namespace mlir;
using namespace mlir::rmsnorm;

/// A norm of rows of `columns` elements of `bits` bits, with a weight.
static ProgramFacts forward(int64_t columns, int64_t bits) {
  ProgramFacts facts;
  facts.columns = columns;
  facts.dynamicColumns = columns == kDynamicColumns;
  facts.narrowestBits = facts.columnOperandBits = bits;
  facts.liveBitsPerColumn = facts.loadedBitsPerColumn = bits;
  facts.storedBitsPerColumn = bits;
  facts.numReductions = 1;
  return facts;
}

/// Its derivatives by rows and weight.
static ProgramFacts backward(int64_t columns, int64_t bits) {
  ProgramFacts facts = forward(columns, bits);
  facts.liveBitsPerColumn = facts.loadedBitsPerColumn = 2 * bits;
  facts.numColumnSums = 1;
  facts.sumsNarrowestBits = bits;
  return facts;
}

static const ChipInfo &chip(StringRef name) { return *lookupChip(name); }

static std::string print(const ScheduleFields &fields) {
  std::string text;
  llvm::raw_string_ostream os(text);
  fields.print(os);
  return text;
}

static ScheduleFields parse(StringRef text) {
  llvm::Expected<ScheduleFields> fields = ScheduleFields::parse(text);
  if (fields)
    return *fields;
  ADD_FAILURE() << llvm::toString(fields.takeError());
  return {};
}

/// The choice for many rows with overrides.
static ScheduleFields select(const ProgramFacts &facts, StringRef name,
                             const std::string &overrides = "") {
  ScheduleRequest request;
  request.overrides = overrides;
  OrRefusal<Selection> selection =
      selectSchedules(facts, chip(name), request, {});
  if (selection)
    return selection->getFor(kAnyRows);
  ADD_FAILURE() << selection.getRefusal().getMessage();
  return {};
}

static Refusal refuse(const ProgramFacts &facts, StringRef name,
                      const std::string &overrides) {
  ScheduleRequest request;
  request.overrides = overrides;
  OrRefusal<Selection> selection = selectSchedules(facts, chip(name), request);
  EXPECT_FALSE(bool(selection)) << overrides;
  return selection ? Refusal() : selection.getRefusal();
}

/// Calls `visit` with programs of all kinds and sizes, or with every `step`-th
/// from `first` on.
static void forEachProgram(function_ref<void(const ProgramFacts &)> visit,
                           size_t first = 0, size_t step = 1) {
  size_t number = 0;
  for (int64_t columns :
       {1,      2,      3,      8,       100,           128,    512,
        640,    760,    1022,   1023,    1024,          2880,   4096,
        4097,   7168,   12289,  16384,   24576,         32768,  65536,
        131072, 262144, 262147, 1 << 24, (1 << 30) - 1, 1 << 30})
    for (int64_t bits : {8, 16, 32})
      for (int64_t tiles : {0, 1, 2, 4, 8})
        for (int64_t reductions : {0, 1, 2})
          for (int64_t sums : {0, 1, 2})
            for (bool dynamic : {false, true})
              for (bool single : {false, true}) {
                // Of a call's rows, the bound. Only those may have none.
                if (!dynamic && columns == 1 << 30)
                  continue;
                if (number++ % step != first)
                  continue;
                ProgramFacts facts;
                facts.columns = columns;
                facts.dynamicColumns = dynamic;
                facts.narrowestBits = bits;
                facts.columnOperandBits = bits;
                facts.liveBitsPerColumn = reductions > 0 ? tiles * bits : 0;
                facts.loadedBitsPerColumn = tiles * 32;
                facts.numReductions = reductions;
                facts.numColumnSums = sums;
                facts.singleRow = single;
                visit(facts);
              }
}

TEST(Select, ChoicesAreLegalAndCanBeFedBack) {
  // Chips of one kind share out the programs: all of them on each take minutes.
  constexpr size_t step = 7;
  for (const auto &[number, chip] : llvm::enumerate(getChips())) {
    const ChipInfo &one = chip;
    auto check = [&](const ProgramFacts &facts) {
      OrRefusal<Selection> selection = selectSchedules(facts, one);
      ASSERT_TRUE(bool(selection))
          << one.name.str() << " " << getProgramKey(facts) << ": "
          << selection.getRefusal().getMessage();
      EXPECT_EQ(selection->classes.back().lastRow, kAnyRows);
      for (const RowClass &rows : selection->classes) {
        std::optional<Refusal> refusal =
            verifyOnTarget(rows.schedule, facts, one);
        EXPECT_FALSE(refusal) << getProgramKey(facts);
        const std::string text = print(rows.schedule);
        ScheduleFields again = parse(text);
        EXPECT_TRUE(again == rows.schedule) << text << "\n" << print(again);
        OrRefusal<ScheduleFields> taken = takeSchedule(again, facts, one);
        ASSERT_TRUE(bool(taken)) << text;
        EXPECT_TRUE(*taken == rows.schedule) << text;
        // As a whole schedule on the command line, too.
        ScheduleRequest request;
        request.overrides = "#rmsnorm.schedule<" + text + ">";
        OrRefusal<Selection> given = selectSchedules(facts, one, request);
        ASSERT_TRUE(bool(given)) << text;
        ASSERT_EQ(given->classes.size(), 1u);
        EXPECT_TRUE(given->classes[0].schedule == rows.schedule) << text;
      }
    };
    forEachProgram(check, number % step, step);
  }
}

/// The same with programs that take rows apart, with their parts' columns.
static void forEachTakenApart(function_ref<void(const ProgramFacts &)> visit,
                              size_t first, size_t step) {
  size_t number = 0;
  for (int64_t part :
       {1,   2,   3,   4,   5,   6,   8,   10,   12,   20,   24,   28,  32,
        36,  40,  48,  50,  56,  64,  72,  80,   96,   100,  112,  128, 160,
        192, 224, 320, 384, 500, 512, 992, 1024, 1032, 2048, 4095, 4096})
    for (int64_t parts : {1, 2, 3, 4, 7, 8, 16, 24, 64})
      for (int64_t bits : {8, 16, 32})
        for (int64_t tiles : {0, 1, 2, 4, 6})
          for (int64_t sums : {0, 1, 2})
            for (bool pairs : {false, true})
              for (bool single : {false, true}) {
                if ((parts == 1 && !pairs) || (part % 2 != 0 && pairs) ||
                    number++ % step != first)
                  continue;
                ProgramFacts facts;
                // Heads, each of which is taken apart alike, or one.
                const int64_t heads = std::array{1, 1, 3, 24}[number / 7 % 4];
                facts.columns = heads * part * parts;
                facts.whole = heads == 1 ? 0 : part * parts;
                facts.part = part;
                // Groups of columns, as far as programs have them.
                const int64_t group = int64_t(2) << number % 7;
                if (number % 3 == 0 && part % group == 0)
                  facts.groupColumns = group, facts.numGroupReductions = 1;
                facts.hasPairs = pairs;
                facts.accessesFloat4 = number % 5 == 0;
                facts.narrowestBits = facts.columnOperandBits = bits;
                facts.sumsNarrowestBits = bits;
                facts.liveBitsPerColumn = tiles * bits;
                facts.loadedBitsPerColumn = tiles * 32;
                facts.numReductions = tiles > 0;
                facts.numColumnSums = sums;
                facts.singleRow = single;
                visit(facts);
              }
}

TEST(Select, WhatAllChipsHoldHasASchedule) {
  constexpr size_t step = 401;
  size_t count = 0;
  for (const auto &[number, chip] : llvm::enumerate(getChips())) {
    const ChipInfo &one = chip;
    forEachTakenApart(
        [&](const ProgramFacts &facts) {
          if (!holdPartsOnAllChips(facts))
            return;
          ++count;
          OrRefusal<Selection> selection = selectSchedules(facts, one);
          EXPECT_TRUE(bool(selection))
              << one.name.str() << " " << getProgramKey(facts) << ": "
              << selection.getRefusal().getMessage();
        },
        number % step, step);
  }
  EXPECT_GT(count, 50u);
}

TEST(Select, SpacesAreLegalAndComplete) {
  for (StringRef name : {"sm_90", "gfx942"})
    for (int64_t columns : {128, 4096, 65536, 262144, 1 << 30})
      for (const ProgramFacts &facts :
           {forward(columns, 32), backward(columns, 16)}) {
        OrRefusal<Selection> selection = selectSchedules(facts, chip(name));
        for (const ScheduleFields &one :
             enumerateSchedules(facts, chip(name), *selection)) {
          OrRefusal<ScheduleFields> taken =
              takeSchedule(parse(print(one)), facts, chip(name));
          ASSERT_TRUE(bool(taken)) << print(one);
          EXPECT_TRUE(*taken == one) << print(one);
        }
      }
}

TEST(Select, SpaceHasWhatWaitsAndNot) {
  const ProgramFacts facts = forward(4096, 16);
  auto has = [&](StringRef name, ColumnOperands operands, Cache cache) {
    OrRefusal<Selection> selection = selectSchedules(facts, chip(name));
    return llvm::any_of(enumerateSchedules(facts, chip(name), *selection),
                        [&](const ScheduleFields &one) {
                          return one.columnOperands == operands &&
                                 one.cache == cache;
                        });
  };
  EXPECT_TRUE(has("sm_90", ColumnOperands::awaited, Cache::registers));
  EXPECT_TRUE(has("sm_90", ColumnOperands::tile, Cache::registers));
  EXPECT_FALSE(has("gfx942", ColumnOperands::awaited, Cache::registers));
}

TEST(Select, FillsWhatPassesDecidedBefore) {
  // In registers per-column operands are loaded with the row, by persistent
  // blocks once.
  EXPECT_EQ(select(forward(1024, 16), "gfx942").columnOperands,
            ColumnOperands::tile);
  EXPECT_EQ(select(backward(1023, 16), "sm_90").columnOperands,
            ColumnOperands::block);
  // In workgroup memory up to 128 bytes a thread are held.
  EXPECT_EQ(select(forward(262144, 16), "sm_90").columnOperands,
            ColumnOperands::tile);
  EXPECT_EQ(select(forward(131072, 32), "sm_90").columnOperands,
            ColumnOperands::tile);
  ProgramFacts twoWeights = forward(262144, 16);
  twoWeights.columnOperandBits = 64;
  EXPECT_EQ(select(twoWeights, "sm_90").columnOperands, ColumnOperands::use);
  // Constants are loaded before the wait, on chips that have one.
  EXPECT_EQ(select(forward(256, 16), "sm_90").constants, Constants::block);
  EXPECT_EQ(select(forward(1 << 20, 16), "sm_90").constants,
            Constants::as_columns);
  // A reduction that a cluster shares is split, of two none is.
  const char *ring = "cluster=8,threads_per_row=512,cache=shared,"
                     "blocks_per_sm=1,stages=3";
  ProgramFacts wide = backward(65536, 16);
  EXPECT_TRUE(select(wide, "sm_90", ring).split)
      << print(select(wide, "sm_90", ring));
  wide.numReductions = 2;
  EXPECT_FALSE(select(wide, "sm_90", ring).split);
  // Blocks for narrow sums and for wide ones.
  EXPECT_EQ(select(backward(8192, 16), "sm_90").sumLanes, 8);
  EXPECT_EQ(select(backward(8192, 16), "sm_90").sumWalkers, 32);
  EXPECT_EQ(select(backward(16384, 16), "sm_90").sumLanes, 32);
  EXPECT_EQ(select(backward(16384, 16), "sm_90").sumWalkers, 16);
  // The loop that is split off.
  const ScheduleFields strips = select(backward(kDynamicColumns, 16), "sm_90");
  EXPECT_EQ(strips.columnSums, ColumnSums::strips);
  ASSERT_TRUE(bool(strips.sums));
  EXPECT_EQ(print(*strips.sums),
            "row_groups = 4, rows_per_group = 4, threads_per_row = 64, "
            "vector_width = 8, cache = reload, blocks_per_sm = 4, column_sums "
            "= strips");
  ProgramFacts f32Sums = backward(kDynamicColumns, 16);
  f32Sums.sumsNarrowestBits = 32;
  EXPECT_EQ(select(f32Sums, "sm_90").sums->vectorWidth, 4);
}

TEST(Select, OverridesTakeAlongWhatFollows) {
  const ProgramFacts facts = forward(1024, 16);
  ScheduleFields reload =
      select(facts, "sm_90", "cache=reload,threads_per_row=32");
  EXPECT_EQ(reload.columnOperands, ColumnOperands::use);
  EXPECT_EQ(reload.constants, Constants::as_columns);
  // What is given stays, and so does what was not ruled before.
  ScheduleFields use = select(facts, "sm_90", "column_operands=use");
  EXPECT_EQ(use.columnOperands, ColumnOperands::use);
  EXPECT_EQ(use.constants, Constants::block);
  ScheduleFields persistent =
      select(facts, "sm_90",
             "static_persistent,column_operands=use,constants="
             "as_columns");
  EXPECT_EQ(persistent.columnOperands, ColumnOperands::use);
  EXPECT_EQ(persistent.constants, Constants::as_columns);
  TuningRecord record{"f: record 0", "sm_90", "", 0, kAnyRows, use};
  ScheduleRequest request;
  request.overrides = "vectors_in_flight=4";
  OrRefusal<Selection> selection =
      selectSchedules(facts, chip("sm_90"), request, record);
  ASSERT_TRUE(bool(selection));
  use.vectorsInFlight = 4;
  EXPECT_TRUE(selection->getFor(1) == use);
  // A ring that nobody asked for goes; strips have a schedule of their own.
  ScheduleFields strips =
      select(backward(4096, 16), "sm_90", "column_sums=strips");
  EXPECT_EQ(strips.stages, 0);
  EXPECT_TRUE(bool(strips.sums));
  strips = select(backward(4096, 16), "sm_90",
                  "column_sums=strips, sums=<threads_per_row=32, "
                  "vector_width=8, row_groups=4, cache=reload, "
                  "column_sums=strips, blocks_per_sm=2>");
  EXPECT_EQ(strips.sums->blocksPerSM, 2);
}

TEST(Select, RequestsReachNestedSchedules) {
  ScheduleRequest request;
  request.alignment = 4;
  request.smMargin = 7;
  OrRefusal<Selection> selection =
      selectSchedules(backward(kDynamicColumns, 16), chip("sm_90"), request);
  const ScheduleFields &fields = selection->getFor(kAnyRows);
  for (const ScheduleFields &one : {fields, *fields.sums}) {
    EXPECT_EQ(one.alignment, 4);
    EXPECT_EQ(one.smMargin, 7);
  }
  request.smMargin = -1;
  EXPECT_EQ(selectSchedules(forward(128, 16), chip("sm_90"), request)
                .getRefusal()
                .getMessage(),
            "expected sm-margin >= 0, got -1");
}

TEST(Select, RefusalsAreValues) {
  const ProgramFacts wide = forward(65536, 16);
  Refusal threads = refuse(wide, "sm_90", "threads_per_row=2048");
  EXPECT_EQ(threads.field, "threads_per_row");
  EXPECT_EQ(threads.expected, "at most 1024 threads a block on sm_90");
  EXPECT_EQ(threads.got, "2048");
  EXPECT_EQ(threads.getMessage(),
            "expected at most 1024 threads a block on sm_90, got 2048");
  EXPECT_EQ(refuse(wide, "sm_90", "row_groups=two").got, "'two'");
  EXPECT_EQ(refuse(wide, "sm_90", "alignment=16").got, "'alignment=16'");
  EXPECT_EQ(
      refuse(wide, "sm_90", "cache=reload,column_operands=block").getMessage(),
      "expected column_operands = use, tile or awaited where cache = reload, "
      "got "
      "block");
  for (const ProgramFacts &looped :
       {forward(kDynamicColumns, 16), forward(1 << 17, 16)})
    EXPECT_EQ(
        refuse(looped, "sm_90", "cluster=1,cache=reload,column_operands=tile")
            .getMessage(),
        "expected column_operands = use where cache = reload and a "
        "thread walks over its columns in a loop, got tile");
  EXPECT_EQ(refuse(backward(4096, 16), "sm_90",
                   "cache=reload,stages=0,column_operands=tile")
                .getMessage(),
            "expected column_operands = use where cache = reload and rows are "
            "summed over, got tile");
  ProgramFacts manyColumns = forward(4096, 16);
  manyColumns.columnOperandBits = 160;
  EXPECT_EQ(refuse(manyColumns, "sm_90",
                   "threads_per_row=128,cache=reload,column_operands=tile")
                .got,
            "160");
  EXPECT_EQ(refuse(wide, "sm_90", "split=true").field, "split");
  EXPECT_EQ(refuse(wide, "sm_90", "sum_walkers=24").field, "sum_walkers");
  EXPECT_EQ(refuse(wide, "sm_90", "sum_lanes=64").field, "sum_lanes");
  EXPECT_EQ(refuse(wide, "sm_90", "unrolled=65").field, "unrolled");
  EXPECT_EQ(refuse(backward(4096, 16), "sm_90",
                   "column_sums=strips,sums=<threads_per_row=48,vector_width=8,"
                   "cache=reload,blocks_per_sm=1,column_sums=strips>")
                .place,
            "sums");
  // A record names itself.
  TuningRecord record{"f.json: record 2",
                      "sm_90",
                      "",
                      0,
                      kAnyRows,
                      parse("threads_per_row = 48, vector_width = 8")};
  OrRefusal<Selection> selection =
      selectSchedules(wide, chip("sm_90"), {}, record);
  ASSERT_FALSE(bool(selection));
  EXPECT_EQ(selection.getRefusal().place, "f.json: record 2");
}

TEST(Select, BatchInvarianceDropsOtherTrees) {
  const ProgramFacts facts = forward(4096, 16);
  TuningRecord record{"f.json: record 0",
                      "sm_90",
                      "",
                      0,
                      8,
                      parse("threads_per_row = 128, vector_width = 4")};
  ScheduleRequest request;
  request.batchInvariant = true;
  OrRefusal<Selection> selection =
      selectSchedules(facts, chip("sm_90"), request, record);
  ASSERT_TRUE(bool(selection));
  EXPECT_EQ(selection->dropped, std::vector<std::string>{"f.json: record 0"});
  EXPECT_EQ(selection->getFor(1).threadsPerRow,
            selection->getFor(kAnyRows).threadsPerRow);
}

TEST(Select, AsksTheTableOfChips) {
  // What is Nvidia's is a field: a chip with its L1 and copies is chosen for
  // alike.
  ChipInfo made = chip("gfx1100");
  const ProgramFacts facts = forward(4096, 16);
  auto awaits = [&] {
    return llvm::any_of(enumerateSchedules(facts, made, Selection()),
                        [](const ScheduleFields &one) {
                          return one.columnOperands == ColumnOperands::awaited;
                        });
  };
  EXPECT_FALSE(awaits());
  made.l1Bytes = 256 << 10;
  EXPECT_TRUE(awaits());
  EXPECT_NE(selectSchedules(backward(4096, 16), made)->getFor(kAnyRows).cache,
            Cache::shared);
  made.hasAsyncCopies = true;
  made.maxWorkgroupMemory = 227 << 10;
  EXPECT_EQ(selectSchedules(backward(4096, 16), made)->getFor(kAnyRows).cache,
            Cache::shared);
  // 32 bytes are data until there is a lowering for them.
  EXPECT_EQ(chip("sm_100").accessBytes, 32);
  EXPECT_EQ(select(forward(4096, 32), "sm_100").vectorWidth, 4);
}

TEST(Select, ClassesOfColumnsAreFewAndAscend) {
  for (const ChipInfo &one : getChips())
    for (const ProgramFacts &any :
         {forward(kDynamicColumns, 16), forward(kDynamicColumns, 32),
          backward(kDynamicColumns, 16)}) {
      const SmallVector<int64_t, 3> bounds = getColumnBounds(any, one);
      EXPECT_EQ(bounds.back(), kAnyColumns);
      EXPECT_GT(bounds.size(), 2u) << one.name.str();
      EXPECT_LE(bounds.size(), 12u) << one.name.str();
      EXPECT_TRUE(llvm::is_sorted(bounds));
      // Narrow rows are held, and shared out to fewer threads than wide ones.
      ProgramFacts narrow = any;
      narrow.columns = bounds.front();
      const ScheduleFields first = select(narrow, one.name);
      EXPECT_EQ(first.columnSums, ColumnSums::registers);
      EXPECT_LT(first.threadsPerRow, select(any, one.name).threadsPerRow);
      narrow.singleRow = true;
      EXPECT_EQ(select(narrow, one.name).rowGroups, 1);
    }
}

TEST(CostModel, LongLoopsTakeWhatThereIs) {
  // Of a class of N, a row that is held costs what the widest does, and one
  // that is walked over in a loop no more than there is of it.
  ProgramFacts any = forward(8192, 16);
  any.dynamicColumns = true;
  auto getVectors = [&](StringRef cache, int64_t columns) {
    const ScheduleFields fields = parse(
        ("threads_per_row = 128, vector_width = 8, cache = " + cache).str());
    return ScheduleCost(fields, any, chip("sm_90"), columns)
        .getTerms(1)[size_t(CostTerm::Vectors)];
  };
  EXPECT_EQ(getVectors("registers", 8192), 3);
  EXPECT_EQ(getVectors("registers", 1024), 3);
  EXPECT_EQ(getVectors("reload", 8192), 3);
  EXPECT_EQ(getVectors("reload", 1024), 0);
}

TEST(Select, ClassesAreFewAndOfTheSpace) {
  for (StringRef name : {"sm_80", "sm_90", "gfx942", "gfx1100"})
    forEachProgram([&](const ProgramFacts &facts) {
      if (facts.dynamicColumns || facts.numColumnSums > 0)
        return;
      OrRefusal<Selection> selection = selectSchedules(facts, chip(name));
      ASSERT_LE(selection->classes.size(), kMaxClasses);
      const std::vector<ScheduleFields> space =
          enumerateSchedules(facts, chip(name), Selection());
      int64_t last = 0;
      for (const RowClass &one : selection->classes) {
        EXPECT_LT(last, one.lastRow);
        last = one.lastRow;
        EXPECT_TRUE(llvm::is_contained(space, one.schedule))
            << print(one.schedule);
      }
    });
}

TEST(CostModel, CountsByMultiprocessor) {
  // Twice as many rows are as many for a chip with twice the multiprocessors.
  ChipInfo twice = chip("sm_90");
  twice.multiprocessors *= 2;
  const ProgramFacts facts = forward(4096, 16);
  for (const ScheduleFields &one :
       enumerateSchedules(facts, chip("sm_90"), Selection()))
    for (int64_t rows : {132, 528, 8448})
      EXPECT_NEAR(ScheduleCost(one, facts, chip("sm_90"), 4096).predict(rows),
                  ScheduleCost(one, facts, twice, 4096).predict(2 * rows), 1e-9)
          << print(one);
}

TEST(Select, FewWideRowsAreSharedByClusters) {
  for (int64_t columns : {16384, 24576})
    EXPECT_GT(
        selectSchedules(forward(columns, 16), chip("sm_90"))->getFor(1).cluster,
        1);
  // On chips that have them.
  EXPECT_EQ(
      selectSchedules(forward(24576, 16), chip("sm_80"))->getFor(1).cluster, 1);
}

TEST(Select, RowsThatRegistersHoldAreHeld) {
  for (const ChipInfo &one : getChips())
    for (int64_t columns : {128, 640, 1023, 4096, 8192}) {
      OrRefusal<Selection> selection =
          selectSchedules(forward(columns, 16), one);
      for (const RowClass &rows : selection->classes)
        EXPECT_EQ(rows.schedule.cache, Cache::registers)
            << one.name.str() << " " << columns;
    }
}

TEST(CostModel, TermsAddUp) {
  const ProgramFacts facts = forward(4096, 16);
  for (const ScheduleFields &one :
       enumerateSchedules(facts, chip("sm_90"), Selection())) {
    const ScheduleCost cost(one, facts, chip("sm_90"), 4096);
    for (int64_t rows : {1, 12, 132, 4096, 1 << 20, 1 << 30}) {
      double sum = 0;
      for (double term : cost.predictTerms(rows))
        sum += term;
      EXPECT_NEAR(sum, cost.predict(rows), 1e-9);
    }
  }
}

TEST(CostModel, TermsFollowTheSchedule) {
  const ProgramFacts facts = forward(4096, 16);
  auto getTerms = [&](StringRef text, int64_t rows) {
    return ScheduleCost(parse(text), facts, chip("sm_90"), 4096).getTerms(rows);
  };
  CostTerms terms = getTerms("threads_per_row = 128, vector_width = 8", 264);
  EXPECT_EQ(terms[size_t(CostTerm::Vectors)], 2);
  EXPECT_EQ(terms[size_t(CostTerm::Used)], 1);
  EXPECT_EQ(terms[size_t(CostTerm::Blocks)], 1);
  EXPECT_LT(terms[size_t(CostTerm::Waves)], 0);
  terms = getTerms("threads_per_row = 128, vector_width = 8, cluster = 4", 264);
  EXPECT_EQ(terms[size_t(CostTerm::Vectors)], 0);
  EXPECT_EQ(terms[size_t(CostTerm::Cluster)], 2);
  EXPECT_EQ(terms[size_t(CostTerm::Blocks)], 3);
  terms =
      getTerms("row_groups = 2, threads_per_row = 384, vector_width = 8", 264);
  EXPECT_LT(terms[size_t(CostTerm::Used)], 1);
  EXPECT_EQ(terms[size_t(CostTerm::Blocks)], 0);
  EXPECT_EQ(terms[size_t(CostTerm::Groups)], 1);
  // Halves of 48 columns: six of eight threads have a vector of each.
  ProgramFacts halves = forward(96, 16);
  halves.part = 48;
  terms = ScheduleCost(parse("row_groups = 16, threads_per_row = 8, "
                             "vector_width = 8"),
                       halves, chip("sm_90"), 96)
              .getTerms(264);
  EXPECT_EQ(terms[size_t(CostTerm::Vectors)], 1);
  EXPECT_EQ(terms[size_t(CostTerm::Used)], 1);
  EXPECT_NEAR(terms[size_t(CostTerm::Padded)], 0.415, 0.001);
}

TEST(ScheduleFields, TextLeavesOutWhatFollows) {
  ScheduleFields fields = parse("threads_per_row = 256, vector_width = 8");
  EXPECT_EQ(fields.columnOperands, ColumnOperands::tile);
  fields = parse("threads_per_row = 256, vector_width = 8, cache = reload");
  EXPECT_EQ(fields.columnOperands, ColumnOperands::use);
  EXPECT_EQ(print(fields),
            "threads_per_row = 256, vector_width = 8, cache = reload");
  fields.cache = Cache::registers;
  EXPECT_EQ(print(fields), "threads_per_row = 256, vector_width = 8, "
                           "column_operands = use, constants = as_columns");
  EXPECT_FALSE(fields.check());
  for (StringRef wrong :
       {"", "threads_per_row = 8", "threads_per_row = 8, vector_width = 8, x",
        "threads_per_row = 8, vector_width = 8, threads_per_row = 8",
        "<threads_per_row = 8, vector_width = 8",
        "threads_per_row = 8, vector_width = 8, split = 1",
        "threads_per_row = 8, vector_width = 8, sums = 3",
        "threads_per_row = 8, vector_width = 8, sums = <threads_per_row = "
        "8>"}) {
    llvm::Expected<ScheduleFields> parsed = ScheduleFields::parse(wrong);
    EXPECT_FALSE(bool(parsed)) << wrong.str();
    llvm::consumeError(parsed.takeError());
  }
}

TEST(ScheduleFields, KernelsKeepTheirNames) {
  auto suffix = [](StringRef text) { return parse(text).getKernelSuffix(); };
  EXPECT_EQ(suffix("threads_per_row = 256, vector_width = 8"),
            "multi_wave_cached_g1u1t256v8f2a16");
  EXPECT_EQ(suffix("row_groups = 4, rows_per_group = 2, threads_per_row = 32, "
                   "vector_width = 8, cache = reload, alignment = 1"),
            "multi_wave_reload_g4u2t32v8f2a1");
  EXPECT_EQ(suffix("threads_per_row = 512, vector_width = 8, cache = shared, "
                   "cluster = 8, blocks_per_sm = 1, stages = 3, "
                   "column_operands = tile"),
            "static_persistent_g1u1t512v8f2a16c8_s3");
  EXPECT_EQ(suffix("threads_per_row = 256, vector_width = 8, unrolled = 4"),
            "multi_wave_cached_g1u1t256v8f2a16n4");
}

TEST(ProgramFacts, KeyHasAll) {
  struct Listed {
#define RMSNORM_PROGRAM_FACT(Type, member, text, Default) Type member;
#include "RMSNorm/Schedule/ProgramFacts.def"
  };
  static_assert(sizeof(ProgramFacts) == sizeof(Listed),
                "a new fact belongs in ProgramFacts.def");
  const std::string key = getProgramKey(backward(kDynamicColumns, 4));
  EXPECT_EQ(key.rfind("columns=?,dynamic_columns=1,narrowest_bits=4,", 0), 0u)
      << key;
#define RMSNORM_PROGRAM_FACT(Type, member, text, Default)                      \
  {                                                                            \
    ProgramFacts facts = backward(kDynamicColumns, 4);                         \
    facts.member = facts.member == Type(1) ? Type() : Type(1);                 \
    EXPECT_NE(getProgramKey(facts), key) << #member;                           \
  }
#include "RMSNorm/Schedule/ProgramFacts.def"
}
