// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Verify.cpp - what a chip takes of a schedule ----------------------===//

#include "RMSNorm/Schedule/Select.h"
#include "Resources.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static Refusal refuse(StringRef field, const Twine &expected,
                      const Twine &got = "") {
  return {field.str(), expected.str(), got.str()};
}

static std::optional<Refusal> verifyThreads(const ScheduleFields &schedule,
                                            const ChipInfo &chip) {
  const int64_t subgroup = chip.subgroupSize;
  const int64_t threads = schedule.threadsPerRow;
  if (schedule.getBlockThreads() > chip.maxThreadsPerBlock)
    return refuse("threads_per_row",
                  "at most " + Twine(chip.maxThreadsPerBlock) +
                      " threads a block on " + chip.name,
                  Twine(schedule.getBlockThreads()));
  if (threads < subgroup ? !llvm::isPowerOf2_64(threads)
                         : threads % subgroup != 0)
    return refuse("threads_per_row",
                  "threads_per_row to be a power of two below the subgroup "
                  "size " +
                      Twine(subgroup) + " of " + chip.name +
                      " or a multiple of it",
                  Twine(threads));
  if (schedule.getBlockThreads() % subgroup != 0)
    return refuse("row_groups",
                  "a block of whole subgroups of " + Twine(subgroup) +
                      " threads on " + chip.name,
                  Twine(schedule.getBlockThreads()) + " threads");
  const int64_t summing = schedule.sumLanes * schedule.sumWalkers;
  if (summing > chip.maxThreadsPerBlock || summing % subgroup != 0)
    return refuse("sum_lanes",
                  "sum_lanes x sum_walkers to be whole subgroups of " +
                      Twine(subgroup) + " threads and at most " +
                      Twine(chip.maxThreadsPerBlock) + " on " + chip.name,
                  Twine(summing));
  return std::nullopt;
}

static std::optional<Refusal> verifyCluster(const ScheduleFields &schedule,
                                            const ProgramFacts &facts,
                                            const ChipInfo &chip) {
  if (schedule.cluster == 1)
    return std::nullopt;
  if (schedule.cluster > chip.maxClusterSize)
    return refuse("cluster",
                  "a cluster of at most " + Twine(chip.maxClusterSize) +
                      " blocks on " + chip.name,
                  Twine(schedule.cluster));
  if (facts.dynamicColumns)
    return refuse("cluster", "cluster = 1 for rows of dynamic size",
                  Twine(schedule.cluster));
  if (schedule.getTileRows() != 1)
    return refuse("cluster", "row_groups = rows_per_group = 1 in a cluster",
                  Twine(schedule.getTileRows()) + " rows");
  if (schedule.hasStrips() && facts.numReductions == 0)
    return refuse("cluster", "cluster = 1 for strips of columns",
                  Twine(schedule.cluster));
  if (schedule.split && facts.numReductions > 1)
    return refuse("split", "split = false where a tile has several reductions",
                  Twine(facts.numReductions) + " of them");
  return std::nullopt;
}

static std::optional<Refusal> verifyRings(const ScheduleFields &schedule,
                                          const ProgramFacts &facts,
                                          const ChipInfo &chip) {
  if (schedule.hasStrips())
    return refuse("cache",
                  "cache = registers or reload for column_sums = " +
                      stringifyColumnSums(schedule.columnSums),
                  "shared");
  if (facts.columns == 1)
    return refuse("cache", "cache = registers or reload for rows of one column",
                  "shared");
  const int64_t vectors = countRingVectors(schedule, facts);
  if (vectors > kMaxRingVectors)
    return refuse("threads_per_row",
                  "at most " + Twine(kMaxRingVectors) +
                      " vectors of rows in workgroup memory a thread",
                  Twine(vectors));
  if (holdsRings(schedule, facts, chip))
    return std::nullopt;
  return refuse("stages",
                "tiles in workgroup memory to take at most " +
                    Twine(getRingBudget(schedule, chip)) +
                    " bytes of each of " +
                    Twine(std::max<int64_t>(schedule.blocksPerSM, 1)) +
                    " blocks a multiprocessor on " + chip.name,
                Twine(getRingBytes(schedule, facts)) + " (" +
                    Twine(schedule.getRingSlots()) + " slots of " +
                    Twine(getSlotBytes(schedule, facts)) + " bytes)");
}

static std::optional<Refusal> verifyRegisters(const ScheduleFields &schedule,
                                              const ProgramFacts &facts,
                                              const ChipInfo &chip) {
  const int64_t sums = countSumRegisters(schedule, facts);
  const int64_t registers = countRowRegisters(schedule, facts) + sums;
  const int64_t budget = getRegisterBudget(schedule, chip);
  if (registers > budget / 2)
    return refuse("threads_per_row",
                  Twine("rows ") +
                      (schedule.columnSums == ColumnSums::registers &&
                               facts.numColumnSums > 0
                           ? "and sums over rows "
                           : "") +
                      "in registers to take at most half of a thread's " +
                      Twine(budget) + " registers on " + chip.name,
                  Twine(registers));
  if (sums > budget / 4)
    return refuse("column_sums",
                  "sums over rows in registers to take at most a quarter of a "
                  "thread's " +
                      Twine(budget) + " registers on " + chip.name,
                  Twine(sums));
  return std::nullopt;
}

/// Per-column operands held beside rows that are read again.
static std::optional<Refusal> verifyHeldColumns(const ScheduleFields &schedule,
                                                const ProgramFacts &facts,
                                                const ChipInfo &chip) {
  if (schedule.cache != Cache::reload ||
      schedule.columnOperands == ColumnOperands::use)
    return std::nullopt;
  if (facts.numColumnSums > 0)
    return refuse("column_operands",
                  "column_operands = use where cache = reload and rows are "
                  "summed over",
                  stringifyEnum(schedule.columnOperands));
  if (isWalkedInLoop(schedule, facts.columns, facts.dynamicColumns))
    return refuse("column_operands",
                  "column_operands = use where cache = reload and a thread "
                  "walks over its columns in a loop",
                  stringifyEnum(schedule.columnOperands));
  return verifyRegisters(schedule, facts, chip);
}

/// Parts of rows are some of each thread's vectors, in registers.
static std::optional<Refusal> verifyParts(const ScheduleFields &schedule,
                                          const ProgramFacts &facts) {
  if (facts.part == 0)
    return std::nullopt;
  const int64_t step = schedule.threadsPerRow * schedule.vectorWidth;
  if (facts.part % step != 0)
    return refuse("threads_per_row",
                  "threads_per_row x vector_width to divide the " +
                      Twine(facts.part) +
                      " columns that rows are taken apart in",
                  Twine(step));
  if (schedule.cluster != 1)
    return refuse("cluster", "cluster = 1 for rows that are taken apart",
                  Twine(schedule.cluster));
  if (schedule.cache != Cache::registers)
    return refuse("cache", "cache = registers for rows that are taken apart",
                  stringifyCache(schedule.cache));
  if (facts.numColumnSums > 0)
    return refuse("column_sums",
                  "no sums over rows of rows that are taken apart",
                  Twine(facts.numColumnSums) + " of them");
  return std::nullopt;
}

/// The sums of row groups, and what adds up those of blocks.
static std::optional<Refusal> verifySums(const ScheduleFields &schedule,
                                         const ProgramFacts &facts,
                                         const ChipInfo &chip) {
  const int64_t bytes = getColumnReduceBytes(schedule, facts);
  // Row groups exchange what they reduce along a row, too.
  const int64_t exchanges =
      facts.numReductions > 0 ? kReservedWorkgroupBytes : 0;
  const int64_t most = chip.maxWorkgroupMemory - exchanges;
  if (bytes > most)
    return refuse("row_groups",
                  "the sums of " + Twine(schedule.rowGroups) +
                      " row groups to take at most " + Twine(most) +
                      " bytes of workgroup memory on " + chip.name,
                  Twine(bytes));
  return std::nullopt;
}

/// The schedule of the loop that column_sums = strips splits off.
static std::optional<Refusal> verifyNested(const ScheduleFields &schedule,
                                           const ProgramFacts &facts,
                                           const ChipInfo &chip) {
  if (schedule.columnSums != ColumnSums::strips || facts.numReductions == 0)
    return std::nullopt;
  if (!schedule.sums)
    return refuse("sums", "sums, the schedule of sums over rows in strips");
  std::optional<Refusal> refusal =
      verifyOnTarget(*schedule.sums, facts.getSumsFacts(), chip);
  if (refusal)
    refusal->place = "sums";
  return refusal;
}

std::optional<Refusal>
mlir::rmsnorm::verifyOnTarget(const ScheduleFields &schedule,
                              const ProgramFacts &facts, const ChipInfo &chip) {
  if (std::optional<Refusal> refusal = schedule.check())
    return refusal;
  if (std::optional<Refusal> refusal = verifyThreads(schedule, chip))
    return refusal;
  if (facts.singleRow && schedule.getTileRows() != 1)
    return refuse("row_groups",
                  "row_groups = rows_per_group = 1 for a single row",
                  Twine(schedule.getTileRows()) + " rows");
  if (facts.groupColumns != 0 &&
      Layout(schedule, facts.columns, facts.dynamicColumns, chip.subgroupSize)
              .getGroupThreads(facts.groupColumns) == 0)
    return refuse("vector_width",
                  "each group of " + Twine(facts.groupColumns) +
                      " columns to lie in a vector, or in those of 2, 4, 8, "
                      "... neighbours of a subgroup",
                  Twine(schedule.vectorWidth) + " columns a vector and " +
                      Twine(schedule.threadsPerRow) + " threads a row");
  const bool sumsInRegisters =
      facts.numColumnSums > 0 && schedule.columnSums == ColumnSums::registers;
  if (facts.numColumnSums == 0 && schedule.columnSums != ColumnSums::registers)
    return refuse("column_sums",
                  "column_sums = registers where nothing is summed over rows",
                  stringifyColumnSums(schedule.columnSums));
  if (schedule.columnSums == ColumnSums::all_rows && facts.numReductions > 0)
    return refuse(
        "column_sums",
        "column_sums = registers or strips where something is reduced "
        "along a row",
        "all_rows");
  if (std::optional<Refusal> refusal = verifyParts(schedule, facts))
    return refusal;
  if (std::optional<Refusal> refusal = verifyCluster(schedule, facts, chip))
    return refusal;
  if (schedule.blocksPerSM == 0 && facts.numColumnSums > 0 &&
      schedule.columnSums != ColumnSums::all_rows &&
      (sumsInRegisters || facts.numReductions == 0))
    return refuse("blocks_per_sm",
                  "blocks_per_sm >= 1, as a persistent block adds up its rows",
                  "0");
  if (!facts.hasBound() && sumsInRegisters)
    return refuse("column_sums",
                  "column_sums = strips for rows of unbounded size",
                  "registers");
  if (std::optional<Refusal> refusal = verifyNested(schedule, facts, chip))
    return refusal;
  if (std::optional<Refusal> refusal = verifyHeldColumns(schedule, facts, chip))
    return refusal;
  if (schedule.hasStrips() && facts.numReductions == 0)
    if (std::optional<Refusal> refusal = verifySums(schedule, facts, chip))
      return refusal;
  if (schedule.cache == Cache::reload && !sumsInRegisters)
    return std::nullopt;
  if (!facts.hasBound())
    return refuse("cache", "cache = reload for rows of unbounded size",
                  stringifyCache(schedule.cache));
  if (schedule.cache == Cache::shared)
    if (std::optional<Refusal> refusal = verifyRings(schedule, facts, chip))
      return refusal;
  if (std::optional<Refusal> refusal = verifyRegisters(schedule, facts, chip))
    return refusal;
  return sumsInRegisters ? verifySums(schedule, facts, chip) : std::nullopt;
}
