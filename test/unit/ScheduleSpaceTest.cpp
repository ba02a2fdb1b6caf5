// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScheduleSpaceTest.cpp - schedules worth measuring -----------------===//

#include "RMSNorm/InitAll.h"
#include "RMSNorm/Rows/Passes.h"
#include "RMSNorm/Rows/RowClasses.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <gtest/gtest.h>

#include <set>

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
class ScheduleSpaceTest : public ::testing::Test {
protected:
  ScheduleSpaceTest() {
    DialectRegistry registry;
    registerAllDialects(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
  }

  /// A sum of squares of rows of `columns` ("?": run-time) elements of `type`;
  /// with `sums` their scaled values are summed over rows, too.
  void parse(const std::string &columns, const std::string &type,
             const std::string &rows = "%m", bool sums = false) {
    bool dynamic = columns == "?";
    std::string n = dynamic ? "1073741824" : columns;
    std::string memref = "memref<?x" + columns + "x" + type + ">";
    std::string narrow = "vector<1x" + n + "x" + type + ">";
    std::string wide = "vector<1x" + n + "xf32>";
    bool f32 = type == "f32";
    std::string widened = f32 ? "%0" : "%1", result = f32 ? "%4" : "%5";
    bool single = rows != "%m";
    std::string source =
        "func.func @f(%x: " + memref + ", %y: " + memref + ", %s: memref<" +
        columns + "xf32>, %m: index, %n: index) {\n rmsnorm.rows sizes [" +
        rows + "] columns(" + n + (dynamic ? ", %n" : "") +
        ") buffers(read %x : " + memref + ", write %y : " + memref +
        (sums ? ", write %s : memref<" + columns + "xf32>" : "") +
        ") {\n ^bb0(" + (single ? "" : "%rows: index, ") +
        (dynamic ? "%live: index, " : "") + "%a: " + memref +
        ", %b: " + memref + (sums ? ", %c: memref<" + columns + "xf32>" : "") +
        "):\n rmsnorm.tiles body {\n ^bb0(%row: index):\n"
        " %0 = rmsnorm.tile_load tile %a[%row] : " +
        memref + " -> " + narrow + "\n" +
        (f32 ? "" : "%1 = arith.extf %0 : " + narrow + " to " + wide + "\n") +
        " %2 = rmsnorm.row_reduce add(" + widened + ") : " + wide +
        " -> vector<1x1xf32>\n %3 = vector.broadcast %2 : vector<1x1xf32> to " +
        wide + "\n %4 = arith.mulf " + widened + ", %3 : " + wide + "\n" +
        (f32 ? "" : "%5 = arith.truncf %4 : " + wide + " to " + narrow + "\n") +
        " rmsnorm.tile_store tile " + result + ", %b[%row] : " + narrow + ", " +
        memref + "\n" +
        (sums ? "rmsnorm.accumulate %4 into %c : " + wide + " into memref<" +
                    columns + "xf32>\n"
              : "") +
        " rmsnorm.yield\n }\n rmsnorm.yield\n }\n return\n}";
    module = parseSourceString<ModuleOp>(source, &context);
    ASSERT_TRUE(module) << source;
    module->walk([&](RowsOp rows) { loop = rows; });
    ASSERT_TRUE(loop) << source;
  }

  SmallVector<ScheduleAttr> getSchedules(StringRef chip) {
    TargetAttr target =
        TargetAttr::parseSpelling(UnknownLoc::get(&context), chip);
    auto spaces = getScheduleSpaces(module->lookupSymbol<func::FuncOp>("f"),
                                    target, ScheduleOptions());
    EXPECT_TRUE(succeeded(spaces));
    if (failed(spaces) || spaces->size() != 1) {
      ADD_FAILURE() << "expected one loop";
      return {};
    }
    EXPECT_EQ(spaces->front().loops, SmallVector<size_t>{0});
    key = spaces->front().tuningKey;
    SmallVector<ScheduleAttr> schedules;
    for (const ScheduleFields &one : spaces->front().candidates)
      schedules.push_back(ScheduleAttr::get(&context, one));
    return schedules;
  }

  ScheduleAttr schedule(StringRef fields) {
    return cast<ScheduleAttr>(
        parseAttribute(("#rmsnorm.schedule<" + fields + ">").str(), &context));
  }

  /// What rmsnorm-select-schedule sets without and accepts with the attribute.
  ScheduleAttr select(StringRef chip, ScheduleAttr given, int64_t rows) {
    if (given)
      loop.setScheduleAttr(given);
    OwningOpRef<ModuleOp> clone = module->clone();
    loop.removeScheduleAttr();
    PassManager passes(&context);
    passes.addPass(createAttachTarget({chip.str()}));
    SelectScheduleOptions options;
    options.rows = rows;
    passes.addPass(createSelectSchedule(options));
    if (failed(passes.run(*clone)))
      return ScheduleAttr();
    ScheduleAttr found;
    clone->walk([&](RowsOp rows) { found = rows.getScheduleAttr(); });
    return found;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  RowsOp loop;
  std::string key;
};
} // namespace

TEST_F(ScheduleSpaceTest, IsLegalDistinctAndSmall) {
  for (StringRef chip : {"sm_90", "sm_80", "gfx942", "gfx1100", "sim:sim64"})
    for (const char *type : {"bf16", "f32"})
      for (const char *columns :
           {"1", "3", "8", "128", "512", "640", "760", "1024", "2880", "4096",
            "4097", "16384", "65536", "262144", "?"})
        for (bool sums : {false, true}) {
          SCOPED_TRACE((chip + " " + columns + "x" + type).str() +
                       (sums ? " summed" : ""));
          parse(columns, type, "%m", sums);
          SmallVector<ScheduleAttr> schedules = getSchedules(chip);
          EXPECT_GE(schedules.size(), 1u);
          // Of each of three widths of vectors.
          EXPECT_LE(schedules.size(), 3 * 72u);
          DenseSet<Attribute> distinct(schedules.begin(), schedules.end());
          EXPECT_EQ(distinct.size(), schedules.size());
          for (ScheduleAttr one : schedules)
            EXPECT_EQ(select(chip, one, -1), one);
          // What is chosen without measuring is among them, for any rows.
          for (int64_t rows : {1, 100, 10000, -1})
            EXPECT_TRUE(distinct.contains(select(chip, ScheduleAttr(), rows)));
        }
}

TEST_F(ScheduleSpaceTest, HoldsWhatIsKnownToBeFast) {
  auto has = [&](StringRef fields) {
    auto wanted = schedule(fields);
    for (ScheduleAttr one : getSchedules("sm_90"))
      if (one.getThreadsPerRow() == wanted.getThreadsPerRow() &&
          one.getRowGroups() == wanted.getRowGroups() &&
          one.getRowsPerGroup() == wanted.getRowsPerGroup() &&
          one.getVectorWidth() == wanted.getVectorWidth() &&
          one.getVectorsInFlight() == wanted.getVectorsInFlight() &&
          one.getCache() == wanted.getCache() &&
          one.getBlocksPerSm() == wanted.getBlocksPerSm())
        return true;
    return false;
  };
  for (const char *fields :
       {"threads_per_row = 512, vector_width = 8",
        "threads_per_row = 256, vector_width = 8",
        "threads_per_row = 128, vector_width = 8",
        "row_groups = 2, threads_per_row = 64, vector_width = 8"}) {
    parse("4096", "bf16");
    EXPECT_TRUE(has(fields)) << fields;
  }
  parse("128", "bf16");
  EXPECT_TRUE(has("row_groups = 16, threads_per_row = 8, vector_width = 8"));
  EXPECT_TRUE(has("row_groups = 2, threads_per_row = 16, vector_width = 8"));
}

TEST_F(ScheduleSpaceTest, HoldsRingsAndClusters) {
  auto has = [&](StringRef chip, StringRef fields) {
    return llvm::is_contained(getSchedules(chip), schedule(fields));
  };
  // Rings of rows of 8 KB, 24 KB and more of them in a slot.
  parse("4096", "bf16", "%m", /*sums=*/true);
  const std::string ring =
      "threads_per_row = 256, vector_width = 8, cache = shared, blocks_per_sm "
      "= 1, ";
  // 132 multiprocessors of sm_90, 108 of sm_80, over 32 walkers.
  const std::string flight = ", sum_in_flight = 5";
  for (const char *stages : {"stages = 2", "stages = 3"}) {
    EXPECT_TRUE(has("sm_90", "row_groups = 4, " + ring + stages + flight))
        << stages;
    EXPECT_FALSE(has("sm_90", "row_groups = 2, " + ring + stages + flight))
        << stages;
  }
  // What is chosen without measuring is among them.
  std::string chosen;
  llvm::raw_string_ostream(chosen) << select("sm_90", ScheduleAttr(), -1);
  StringRef fields = chosen;
  EXPECT_TRUE(fields.consume_front("#rmsnorm.schedule<") &&
              fields.consume_back(">"));
  EXPECT_TRUE(has("sm_90", fields)) << chosen;
  EXPECT_TRUE(has("sm_80",
                  "row_groups = 4, " + ring + "stages = 2, sum_in_flight = 4"));
  // Of rows that are alone, too.
  parse("16384", "bf16", "%m", /*sums=*/true);
  const std::string alone =
      "threads_per_row = 512, vector_width = 8, cache = shared, blocks_per_sm "
      "= 1, ";
  const std::string sums = ", sum_lanes = 32, sum_walkers = 16, "
                           "sum_in_flight = 9";
  for (const char *stages : {"stages = 2", "stages = 3"})
    EXPECT_TRUE(has("sm_90", alone + stages + sums)) << stages;
  parse("4096", "bf16", "%m", /*sums=*/true);

  auto getClusters = [&](StringRef chip) {
    std::set<int64_t> clusters;
    for (ScheduleAttr one : getSchedules(chip))
      clusters.insert(one.getCluster());
    return clusters;
  };
  auto countShared = [&](StringRef chip) {
    return llvm::count_if(getSchedules(chip), [](ScheduleAttr one) {
      return one.getCache() == Cache::shared;
    });
  };
  using Set = std::set<int64_t>;
  EXPECT_EQ(countShared("gfx942"), 0);
  EXPECT_EQ(getClusters("sm_90"), (Set{1, 2}));
  parse("131072", "bf16", "%m", /*sums=*/true);
  EXPECT_GT(countShared("sm_90"), 0);
  EXPECT_TRUE(getClusters("sm_90").count(16));
  EXPECT_EQ(getClusters("sm_80"), (Set{1}));
  EXPECT_EQ(getClusters("gfx942"), (Set{1}));
  // Without sums: in registers or workgroup memory of a cluster, or read again.
  parse("131072", "bf16");
  EXPECT_TRUE(getClusters("sm_90").count(8));
  EXPECT_GT(countShared("sm_90"), 0);
  EXPECT_TRUE(
      has("sm_90", "threads_per_row = 1024, vector_width = 8, cache = reload"));
  // Blocks of four subgroups and more, two of them at least for a row: of half
  // the vectors' width twice as many.
  parse("4096", "bf16");
  EXPECT_EQ(getClusters("sm_90"), (Set{1, 2, 4, 8}));
  EXPECT_EQ(countShared("sm_90"), 0);
  parse("1024", "bf16");
  EXPECT_EQ(getClusters("sm_90"), (Set{1, 2}));
}

TEST_F(ScheduleSpaceTest, FollowsTheFacts) {
  parse("?", "bf16");
  for (ScheduleAttr one : getSchedules("sm_90"))
    EXPECT_EQ(one.getCache(), Cache::reload);
  EXPECT_NE(key.find("columns=?,"), std::string::npos) << key;
  parse("128", "f32", "1");
  for (ScheduleAttr one : getSchedules("gfx942"))
    EXPECT_EQ(one.getTileRows(), 1);
  EXPECT_NE(key.find("single_row=1"), std::string::npos) << key;
  parse("128", "f32");
  getSchedules("gfx942");
  std::string f32 = key;
  EXPECT_NE(key.find("columns=128,dynamic_columns=0,narrowest_bits=32"),
            std::string::npos)
      << key;
  parse("128", "bf16");
  getSchedules("gfx942");
  EXPECT_NE(key, f32);
}

TEST_F(ScheduleSpaceTest, LeavesAloneWhatTheUserWrote) {
  parse("4096", "bf16");
  getSchedules("sm_90");
  loop.setScheduleAttr(schedule("threads_per_row = 64, vector_width = 8"));
  auto spaces = getScheduleSpaces(
      module->lookupSymbol<func::FuncOp>("f"),
      TargetAttr::parseSpelling(UnknownLoc::get(&context), "sm_90"),
      ScheduleOptions());
  ASSERT_TRUE(succeeded(spaces));
  EXPECT_TRUE(spaces->empty());
}
