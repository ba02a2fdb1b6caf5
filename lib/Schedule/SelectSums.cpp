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
