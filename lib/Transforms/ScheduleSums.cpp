// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScheduleSums.cpp - schedules of programs that sum over rows -------===//

#include "ScheduleSelector.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

int64_t mlir::rmsnorm::countRegisters(const ScheduleFields &fields,
                                      const ProgramFacts &facts) {
  const int64_t step = fields.threadsPerRow * fields.vectorWidth;
  const int64_t values =
      fields.vectorWidth *
      llvm::divideCeil(ScheduleAttr::getPartColumns(
                           facts.columns, fields.cluster, fields.vectorWidth),
                       step);
  int64_t bytes = 0;
  if (fields.cache == Cache::registers)
    bytes += fields.rowsPerGroup * values *
             std::max<int64_t>(facts.liveBytesPerColumn, 1);
  if (fields.columnSums == ColumnSums::registers)
    bytes += facts.numColumnSums * values * 4;
  return llvm::divideCeil(bytes, 4);
}

int64_t mlir::rmsnorm::getRegisterBudget(const ScheduleFields &fields,
                                         const ChipInfo &chip) {
  return std::min<int64_t>(256, chip.registersPerMultiprocessor /
                                    (fields.rowGroups * fields.threadsPerRow *
                                     std::max<int64_t>(fields.blocksPerSM, 1)));
}

bool mlir::rmsnorm::selectPersistent(ScheduleFields &fields,
                                     const ProgramFacts &facts,
                                     const ChipInfo &chip, int64_t vectors) {
  const int64_t subgroup = chip.subgroupSize;
  const int64_t most = chip.maxThreadsPerBlock;
  auto fits = [&] {
    return 2 * countRegisters(fields, facts) <= getRegisterBudget(fields, chip);
  };
  auto roundUp = [&](int64_t threads) {
    return std::min<int64_t>(most, llvm::alignTo(threads, subgroup));
  };
  // The shapes of the hand-written kernels. Two blocks a multiprocessor fill
  // each other's waits, two rows a group hide one another's loads.
  fields.blocksPerSM = 2;
  fields.rowsPerGroup = 2;
  if (vectors <= subgroup) {
    fields.threadsPerRow = llvm::PowerOf2Ceil(vectors);
    fields.rowGroups = most / 2 / fields.threadsPerRow;
  } else if (vectors <= 2 * subgroup) {
    fields.threadsPerRow = 2 * subgroup;
    fields.rowGroups = most / 2 / fields.threadsPerRow;
  } else {
    // Two vectors a thread, and blocks of at least eight subgroups.
    fields.threadsPerRow = roundUp(llvm::divideCeil(vectors, 2));
    fields.rowGroups =
        std::max<int64_t>(1, 8 * subgroup / fields.threadsPerRow);
  }
  if (facts.singleRow || fields.cluster > 1) {
    fields.threadsPerRow = std::max(fields.threadsPerRow, subgroup);
    fields.rowGroups = fields.rowsPerGroup = 1;
  }
  // Wider rows: one row at a time, then one block a multiprocessor, then as
  // many threads as there are, then the row read again.
  if (!fits())
    fields.rowsPerGroup = 1;
  if (!fits())
    fields.blocksPerSM = 1;
  if (!fits()) {
    fields.rowGroups = 1;
    fields.threadsPerRow = roundUp(vectors);
  }
  if (!fits())
    fields.cache = Cache::reload;
  return fits();
}

ScheduleFields mlir::rmsnorm::selectStrips(const ProgramFacts &facts,
                                           const ChipInfo &chip,
                                           int64_t alignment) {
  ScheduleFields fields;
  fields.columnSums = ColumnSums::strips;
  fields.cache = Cache::reload;
  fields.alignment = alignment;
  fields.vectorWidth = 16 / facts.narrowestBytes;
  // One vector a thread, so that narrow rows keep threads busy; blocks of
  // eight subgroups, four of them and four rows a thread in flight.
  fields.threadsPerRow = 2 * chip.subgroupSize;
  fields.rowGroups = facts.singleRow ? 1 : 4;
  fields.rowsPerGroup = facts.singleRow ? 1 : 4;
  fields.blocksPerSM = 4;
  return fields;
}
