// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Verify.cpp - what a chip takes of a schedule ----------------------===//

#include "RMSNorm/Schedule/Select.h"
#include "Resources.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// Goes through all conditions; the first that does not hold is the reason.
class Verifier {
public:
  Verifier(const ScheduleFields &schedule, const ProgramFacts &facts,
           const ChipInfo &chip)
      : schedule(schedule), facts(facts), chip(chip),
        sumsInRegisters(facts.numColumnSums > 0 &&
                        schedule.columnSums == ColumnSums::registers) {}

  std::optional<Refusal> run();

private:
  void expect(bool holds, StringRef field, const Twine &expected,
              const Twine &got) {
    if (!holds && !refusal)
      refusal = Refusal{field.str(), expected.str(), got.str()};
  }
  void verifyThreads();
  void verifyProgram();
  /// Parts of rows are some of each thread's vectors, in registers.
  void verifyParts();
  void verifyCluster();
  /// The schedule of the loop that column_sums = strips splits off.
  void verifyNested();
  /// Per-column operands held beside rows that are read again.
  void verifyHeldColumns();
  void verifyRings();
  void verifyRegisters();
  /// The sums of row groups.
  void verifySums();

  const ScheduleFields &schedule;
  const ProgramFacts &facts;
  const ChipInfo &chip;
  const bool sumsInRegisters;
  std::optional<Refusal> refusal;
};
} // namespace

void Verifier::verifyThreads() {
  const int64_t subgroup = chip.subgroupSize, threads = schedule.threadsPerRow;
  const int64_t block = schedule.getBlockThreads();
  expect(block <= chip.maxThreadsPerBlock, "threads_per_row",
         "at most " + Twine(chip.maxThreadsPerBlock) + " threads a block on " +
             chip.name,
         Twine(block));
  expect(threads < subgroup ? llvm::isPowerOf2_64(threads)
                            : threads % subgroup == 0,
         "threads_per_row",
         "threads_per_row to be a power of two below the subgroup size " +
             Twine(subgroup) + " of " + chip.name + " or a multiple of it",
         Twine(threads));
  expect(block % subgroup == 0, "row_groups",
         "a block of whole subgroups of " + Twine(subgroup) + " threads on " +
             chip.name,
         Twine(block) + " threads");
  const int64_t summing = schedule.sumLanes * schedule.sumWalkers;
  expect(summing <= chip.maxThreadsPerBlock && summing % subgroup == 0,
         "sum_lanes",
         "sum_lanes x sum_walkers to be whole subgroups of " + Twine(subgroup) +
             " threads and at most " + Twine(chip.maxThreadsPerBlock) + " on " +
             chip.name,
         Twine(summing));
}

void Verifier::verifyProgram() {
  expect(!facts.singleRow || schedule.getTileRows() == 1, "row_groups",
         "row_groups = rows_per_group = 1 for a single row",
         Twine(schedule.getTileRows()) + " rows");
  const Layout layout = getLayout(schedule, facts, chip.subgroupSize);
  expect(facts.groupColumns == 0 ||
             (layout.getGroupThreads(facts.groupColumns) > 0 &&
              (facts.leastGroupColumns == 0 ||
               layout.getGroupThreads(facts.leastGroupColumns) > 0)),
         "vector_width",
         "each group of " + Twine(facts.groupColumns) +
             " columns to lie in a vector, or in those of 2, 4, 8, ... "
             "neighbours of a subgroup",
         Twine(schedule.vectorWidth) + " columns a vector and " +
             Twine(schedule.threadsPerRow) + " threads a row");
  const int64_t least = facts.getLeastVector();
  expect(schedule.vectorWidth >= least || !facts.accessesFloat4, "vector_width",
         "vector_width >= " + Twine(least) + " for " +
             (facts.hasPairs ? "pairs of " : "") +
             "f4E2M1FN, of which two are a byte",
         Twine(schedule.vectorWidth));
  expect(facts.numColumnSums > 0 || !schedule.hasStrips(), "column_sums",
         "column_sums = registers where nothing is summed over rows",
         stringifyColumnSums(schedule.columnSums));
  expect(schedule.columnSums != ColumnSums::all_rows ||
             facts.numReductions == 0,
         "column_sums",
         "column_sums = registers or strips where something is reduced along a "
         "row",
         "all_rows");
}

void Verifier::verifyParts() {
  if (facts.part == 0)
    return;
  const int64_t width = schedule.vectorWidth;
  expect(bool(getLayout(schedule, facts)) && facts.part % width == 0,
         "vector_width",
         "vector_width to divide the " + Twine(facts.part) +
             " columns that rows are taken apart in",
         Twine(width));
  expect(width > 1 || !facts.hasPairs, "vector_width",
         "vector_width >= 2 for pairs of columns in one vector", "1");
  expect(schedule.threadsPerRow == 1 ||
             schedule.threadsPerRow * width < 2 * facts.getSharedColumns(),
         "threads_per_row",
         "at least half of the threads of a row to have some of the " +
             Twine(facts.getSharedColumns()) +
             " columns that rows are taken apart in",
         Twine(schedule.threadsPerRow) + " threads with " + Twine(width) +
             " columns each");
  expect(schedule.cluster == 1, "cluster",
         "cluster = 1 for rows that are taken apart", Twine(schedule.cluster));
  expect(schedule.cache == Cache::registers, "cache",
         "cache = registers for rows that are taken apart",
         stringifyCache(schedule.cache));
  expect(!schedule.hasStrips(), "column_sums",
         "column_sums = registers for rows that are taken apart",
         stringifyColumnSums(schedule.columnSums));
}

void Verifier::verifyCluster() {
  if (schedule.cluster == 1)
    return;
  expect(schedule.cluster <= chip.maxClusterSize, "cluster",
         "a cluster of at most " + Twine(chip.maxClusterSize) + " blocks on " +
             chip.name,
         Twine(schedule.cluster));
  expect(!facts.dynamicColumns, "cluster",
         "cluster = 1 for rows of dynamic size", Twine(schedule.cluster));
  expect(schedule.getTileRows() == 1, "cluster",
         "row_groups = rows_per_group = 1 in a cluster",
         Twine(schedule.getTileRows()) + " rows");
  expect(!schedule.hasStrips() || facts.numReductions > 0, "cluster",
         "cluster = 1 for strips of columns", Twine(schedule.cluster));
  expect(!schedule.split || facts.numReductions <= 1, "split",
         "split = false where a tile has several reductions",
         Twine(facts.numReductions) + " of them");
}

void Verifier::verifyNested() {
  if (refusal || schedule.columnSums != ColumnSums::strips ||
      facts.numReductions == 0)
    return;
  if (!schedule.sums)
    return expect(false, "sums",
                  "sums, the schedule of sums over rows in strips", "");
  refusal = verifyOnTarget(*schedule.sums, facts.getSumsFacts(), chip);
  if (refusal)
    refusal->place = "sums";
}

void Verifier::verifyHeldColumns() {
  if (schedule.cache != Cache::reload ||
      schedule.columnOperands == ColumnOperands::use)
    return;
  const StringRef operands = stringifyEnum(schedule.columnOperands);
  expect(facts.numColumnSums == 0, "column_operands",
         "column_operands = use where cache = reload and rows are summed over",
         operands);
  expect(!isWalkedInLoop(schedule, facts.columns, facts.dynamicColumns),
         "column_operands",
         "column_operands = use where cache = reload and a thread walks over "
         "its columns in a loop",
         operands);
}

void Verifier::verifyRings() {
  expect(!schedule.hasStrips(), "cache",
         "cache = registers or reload for column_sums = " +
             stringifyColumnSums(schedule.columnSums),
         "shared");
  expect(facts.columns != 1, "cache",
         "cache = registers or reload for rows of one column", "shared");
  const int64_t vectors = countRingVectors(schedule, facts);
  expect(vectors <= kMaxRingVectors, "threads_per_row",
         "at most " + Twine(kMaxRingVectors) +
             " vectors of rows in workgroup memory a thread",
         Twine(vectors));
  const int64_t blocks = std::max<int64_t>(schedule.blocksPerSM, 1);
  const int64_t budget =
      chip.maxWorkgroupMemory / blocks - kReservedWorkgroupBytes;
  const int64_t bytes = getRingBytes(schedule, facts);
  expect(bytes <= budget, "stages",
         "tiles in workgroup memory to take at most " + Twine(budget) +
             " bytes of each of " + Twine(blocks) +
             " blocks a multiprocessor on " + chip.name,
         Twine(bytes) + " (" + Twine(schedule.getRingSlots()) + " slots of " +
             Twine(getSlotBytes(schedule, facts)) + " bytes)");
}

/// Registers of a thread for its part of the rows it keeps, or of per-column
/// operands beside rows it reads again, and for the sums over rows, may be half
/// of them; the rest is for addresses, weights and arithmetic. Sums alone may
/// be a quarter: more of them were seen to spill.
void Verifier::verifyRegisters() {
  const int64_t values = schedule.vectorWidth * countVectors(schedule, facts);
  int64_t bits = 0;
  if (schedule.cache == Cache::registers)
    bits =
        schedule.rowsPerGroup * std::max<int64_t>(facts.liveBitsPerColumn, 8);
  else if (schedule.cache == Cache::reload &&
           schedule.columnOperands != ColumnOperands::use)
    bits = facts.columnOperandBits;
  const int64_t sums = sumsInRegisters ? facts.numColumnSums * values : 0;
  const int64_t registers = llvm::divideCeil(bits * values, 32) + sums;
  const int64_t budget = getRegisterBudget(schedule, chip);
  expect(registers <= budget / 2, "threads_per_row",
         Twine("rows ") + (sumsInRegisters ? "and sums over rows " : "") +
             "in registers to take at most half of a thread's " +
             Twine(budget) + " registers on " + chip.name,
         Twine(registers));
  expect(
      sums <= budget / 4, "column_sums",
      "sums over rows in registers to take at most a quarter of a thread's " +
          Twine(budget) + " registers on " + chip.name,
      Twine(sums));
}

void Verifier::verifySums() {
  int64_t columns = schedule.getStripColumns();
  if (sumsInRegisters)
    columns = llvm::alignTo(facts.columns, columns);
  const int64_t bytes =
      schedule.rowGroups == 1
          ? 0
          : facts.numColumnSums * schedule.rowGroups * columns * 4;
  // Row groups exchange what they reduce along a row, too.
  const int64_t most = chip.maxWorkgroupMemory -
                       (facts.numReductions > 0 ? kReservedWorkgroupBytes : 0);
  expect(bytes <= most, "row_groups",
         "the sums of " + Twine(schedule.rowGroups) +
             " row groups to take at most " + Twine(most) +
             " bytes of workgroup memory on " + chip.name,
         Twine(bytes));
}

std::optional<Refusal> Verifier::run() {
  refusal = schedule.check();
  if (refusal)
    return refusal;
  verifyThreads();
  verifyProgram();
  verifyParts();
  verifyCluster();
  const bool isOnlySums = facts.numColumnSums > 0 && facts.numReductions == 0;
  expect(schedule.blocksPerSM > 0 ||
             schedule.columnSums == ColumnSums::all_rows ||
             !(sumsInRegisters || isOnlySums),
         "blocks_per_sm",
         "blocks_per_sm >= 1, as a persistent block adds up its rows", "0");
  expect(facts.hasBound() || !sumsInRegisters, "column_sums",
         "column_sums = strips for rows of unbounded size", "registers");
  verifyNested();
  verifyHeldColumns();
  if (schedule.hasStrips() && isOnlySums)
    verifySums();
  if (refusal || !holdsColumns(schedule, facts))
    return refusal;
  expect(facts.hasBound(), "cache", "cache = reload for rows of unbounded size",
         stringifyCache(schedule.cache));
  if (!refusal && schedule.cache == Cache::shared)
    verifyRings();
  if (refusal)
    return refusal;
  verifyRegisters();
  if (sumsInRegisters)
    verifySums();
  return refusal;
}

std::optional<Refusal>
mlir::rmsnorm::verifyOnTarget(const ScheduleFields &schedule,
                              const ProgramFacts &facts, const ChipInfo &chip) {
  return Verifier(schedule, facts, chip).run();
}
