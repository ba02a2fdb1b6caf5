// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SelectSums.cpp - schedules of programs that sum over rows ---------===//

#include "Selectors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

bool mlir::rmsnorm::selectPersistent(ScheduleFields &fields,
                                     const ProgramFacts &facts,
                                     const ChipInfo &chip, int64_t vectors) {
  const int64_t subgroup = chip.subgroupSize;
  const int64_t most = chip.maxThreadsPerBlock;
  auto fits = [&] { return fitsRegisters(fields, facts, chip); };
  auto roundUp = [&](int64_t threads) {
    return std::min<int64_t>(most, llvm::alignTo(threads, subgroup));
  };
  // The shapes of the hand-written kernels. Two blocks a multiprocessor fill
  // each other's waits, two rows a group hide one another's loads.
  fields.blocksPerSM = 2;
  fields.rowsPerGroup = 2;
  if (vectors <= subgroup) {
    // Four rows in smaller blocks (us: 32768x128 9.9, two in larger ones 10.8;
    // 32768x256 16.6 and 16.9).
    fields.threadsPerRow = llvm::PowerOf2Ceil(vectors);
    fields.rowGroups = most / 4 / fields.threadsPerRow;
    fields.rowsPerGroup = 4;
  } else {
    // Two vectors a thread, and blocks of at least eight subgroups. Larger ones
    // would leave 64 registers on NVIDIA chips, and spill (us: 4096x1024 10.8,
    // with a vector a thread in blocks of 512 10.3; from 32768 rows on as
    // fast).
    fields.threadsPerRow = roundUp(llvm::divideCeil(vectors, 2));
    fields.rowGroups =
        std::max<int64_t>(1, 8 * subgroup / fields.threadsPerRow);
  }
  if (facts.singleRow || fields.cluster > 1) {
    fields.threadsPerRow = std::max(fields.threadsPerRow, subgroup);
    fields.rowGroups = fields.rowsPerGroup = 1;
  }
  // Wider rows: one row at a time, then one block a multiprocessor with two
  // rows, then with one, then as many threads as there are, then the row read
  // again: by half of those, as 16384 f32 over 1024 threads spill.
  while (!fits() && fields.rowsPerGroup > 1)
    fields.rowsPerGroup /= 2;
  if (!fits()) {
    fields.blocksPerSM = 1;
    // Two rows over 1024 threads spill (rows of 16384 bf16, gfx942).
    if (!facts.singleRow && fields.cluster == 1 &&
        fields.threadsPerRow <= most / 2)
      fields.rowsPerGroup = 2;
  }
  if (!fits())
    fields.rowsPerGroup = 1;
  if (!fits()) {
    fields.rowGroups = 1;
    fields.threadsPerRow = roundUp(vectors);
  }
  if (!fits()) {
    fields.cache = Cache::reload;
    fields.threadsPerRow =
        std::min(most / 2, roundUp(llvm::divideCeil(vectors, 2)));
    fields.vectorsInFlight = 4;
  }
  return fits();
}

ScheduleFields mlir::rmsnorm::selectSums(const ProgramFacts &facts,
                                         const ChipInfo &chip) {
  ScheduleFields fields;
  fields.vectorWidth = getWidestVector(facts, chip);
  if (facts.dynamicColumns) {
    ScheduleFields held = fields;
    const int64_t vectors = llvm::divideCeil(facts.columns, fields.vectorWidth);
    if (facts.hasBound() &&
        (selectRing(held, facts, chip, vectors) ||
         selectPersistent(held = fields, facts, chip, vectors)) &&
        held.cluster == 1 && held.cache != Cache::reload)
      return held;
    selectDynamicRow(fields, facts, chip);
    return fields;
  }
  // A row shorter than a vector: no wider than it needs to be.
  while (fields.vectorWidth / 2 >= facts.columns)
    fields.vectorWidth /= 2;
  const int64_t vectors = llvm::divideCeil(facts.columns, fields.vectorWidth);
  ScheduleFields ring = fields;
  if (selectRing(ring, facts, chip, vectors))
    return ring;
  // The smallest cluster whose blocks hold their part of the row and the sums
  // over it in registers, else the smallest whose blocks hold the sums. Not
  // measured; the hand-written kernels have the same clusters for 16384 to
  // 131072 columns of bf16, with rows in workgroup memory.
  for (bool reload : {false, true})
    for (int64_t cluster = 1; cluster <= chip.maxClusterSize; cluster *= 2) {
      ScheduleFields persistent = fields;
      persistent.cluster = cluster;
      if (selectPersistent(persistent, facts, chip,
                           llvm::divideCeil(vectors, cluster)) &&
          (reload || persistent.cache == Cache::registers))
        return persistent;
    }
  if (facts.numReductions == 0)
    return selectStrips(facts, chip);
  // The rows as if nothing were summed, the sums in strips.
  ProgramFacts rows = facts;
  rows.numColumnSums = 0;
  fields = predictRows(rows, chip, /*sameTree=*/false).back().schedule;
  // Two rows, of x and dy, that the largest block reads again by elements
  // spill (gfx1100).
  if (fields.cache == Cache::reload)
    fields.threadsPerRow =
        std::min(fields.threadsPerRow, chip.maxThreadsPerBlock / 2);
  fields.columnSums = ColumnSums::strips;
  return fields;
}

ScheduleFields mlir::rmsnorm::getSumRowsFields(const ScheduleFields &blocks,
                                               bool dynamicColumns,
                                               bool values) {
  ScheduleFields fields;
  fields.columnSums = ColumnSums::all_rows;
  fields.cache = Cache::reload;
  fields.columnOperands = fields.getDefaultColumnOperands();
  fields.constants = fields.getDefaultConstants();
  fields.threadsPerRow = blocks.sumLanes;
  fields.rowGroups = blocks.sumWalkers;
  fields.vectorWidth = 4;
  fields.rowsPerGroup = blocks.sumInFlight;
  fields.alignment = dynamicColumns ? 4 : 16;
  if (values) {
    // A value a thread of the largest block: there are as many as the rows'
    // program has blocks, which are many where it is not persistent.
    fields.rowGroups = 1024;
    fields.threadsPerRow = fields.vectorWidth = 1;
    fields.rowsPerGroup = fields.getDefaultSumInFlight();
  }
  return fields;
}

ScheduleFields mlir::rmsnorm::selectStrips(const ProgramFacts &facts,
                                           const ChipInfo &chip) {
  ScheduleFields fields;
  fields.columnSums = ColumnSums::strips;
  fields.cache = Cache::reload;
  fields.vectorWidth = getWidestVector(facts, chip);
  // One vector a thread, so that narrow rows keep threads busy; blocks of
  // eight subgroups, four of them and four rows a thread in flight.
  fields.threadsPerRow = 2 * chip.subgroupSize;
  fields.rowGroups = facts.singleRow ? 1 : 4;
  fields.rowsPerGroup = facts.singleRow ? 1 : 4;
  fields.blocksPerSM = 4;
  followRules(fields, facts, chip);
  return fields;
}
