// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScheduleRing.cpp - schedules with tiles in workgroup memory -------===//

#include "ScheduleSelector.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// Exchanges of row_reduce, and what the hardware takes for each block.
static constexpr int64_t kReservedBytes = 2 << 10;

/// Vectors of its rows that a thread has in workgroup memory.
static int64_t countVectors(const ScheduleFields &fields,
                            const ProgramFacts &facts) {
  return fields.rowsPerGroup *
         llvm::divideCeil(ScheduleAttr::getPartColumns(facts.columns,
                                                       fields.cluster,
                                                       fields.vectorWidth),
                          fields.threadsPerRow * fields.vectorWidth);
}

/// Bytes of one slot of all rings of a block.
static int64_t getSlotBytes(const ScheduleFields &fields,
                            const ProgramFacts &facts) {
  return countVectors(fields, facts) * fields.vectorWidth * fields.rowGroups *
         fields.threadsPerRow *
         (fields.stages >= 2 ? facts.loadedBytesPerColumn
                             : facts.liveBytesPerColumn);
}

/// Bytes that slots may take of a block's workgroup memory, if the blocks that
/// the schedule wants are to share a multiprocessor.
static int64_t getRingBudget(const ScheduleFields &fields,
                             const ProgramFacts &facts, const ChipInfo &chip) {
  // The row groups' sums meet there in the end.
  const int64_t step = fields.threadsPerRow * fields.vectorWidth;
  int64_t sums = 0;
  if (fields.rowGroups > 1 && fields.columnSums == ColumnSums::registers)
    sums = facts.numColumnSums * fields.rowGroups *
           llvm::alignTo(ScheduleAttr::getPartColumns(
                             facts.columns, fields.cluster, fields.vectorWidth),
                         step) *
           4;
  const int64_t blocks = std::max<int64_t>(fields.blocksPerSM, 1);
  return chip.maxWorkgroupMemory / blocks - kReservedBytes - sums;
}

LogicalResult
mlir::rmsnorm::verifyRings(ScheduleAttr schedule, const ProgramFacts &facts,
                           const ChipInfo &chip,
                           function_ref<InFlightDiagnostic()> emitError) {
  // Accesses to workgroup memory are unrolled.
  constexpr int64_t maxVectors = 64;
  const ScheduleFields fields(schedule);
  if (schedule.getColumnSums() == ColumnSums::strips)
    return emitError() << "expected cache = registers or reload for "
                          "column_sums = strips, got shared";
  const int64_t vectors = countVectors(fields, facts);
  if (vectors > maxVectors)
    return emitError() << "expected at most " << maxVectors
                       << " vectors of rows in workgroup memory a thread, got "
                       << vectors;
  const int64_t slot = getSlotBytes(fields, facts);
  const int64_t most = getRingBudget(fields, facts, chip);
  if (slot * schedule.getRingSlots() <= most)
    return success();
  return emitError() << "expected tiles in workgroup memory to take at most "
                     << most << " bytes of each of "
                     << std::max<int64_t>(fields.blocksPerSM, 1)
                     << " blocks a multiprocessor on " << chip.name << ", got "
                     << slot * schedule.getRingSlots() << " ("
                     << schedule.getRingSlots() << " slots of " << slot
                     << " bytes)";
}

bool mlir::rmsnorm::selectRing(ScheduleFields &fields,
                               const ProgramFacts &facts, const ChipInfo &chip,
                               int64_t vectors) {
  const int64_t subgroup = chip.subgroupSize;
  // Narrower rows are as many in registers. Elsewhere copies hide nothing.
  if (chip.vendor != Vendor::Nvidia || vectors < 8 * subgroup ||
      facts.singleRow)
    return false;
  // The shapes of the hand-written kernels (PERFORMANCE.md): two vectors a
  // thread, up to 512 threads a row, a cluster for wider ones; a second row
  // group fills the block, and for rows below 4096 columns of bf16 a second
  // block the multiprocessor.
  const int64_t mostThreads = chip.maxThreadsPerBlock / 2;
  fields.cache = Cache::shared;
  fields.cluster = std::min<int64_t>(
      chip.maxClusterSize,
      llvm::PowerOf2Ceil(llvm::divideCeil(vectors, 2 * mostThreads)));
  const int64_t part = llvm::divideCeil(vectors, fields.cluster);
  fields.rowsPerGroup = 1;
  fields.threadsPerRow = std::min<int64_t>(
      mostThreads, llvm::alignTo(llvm::divideCeil(part, 2), subgroup));
  fields.rowGroups =
      fields.cluster == 1 && 4 * fields.threadsPerRow <= 3 * mostThreads ? 2
                                                                         : 1;
  fields.blocksPerSM = vectors < 16 * subgroup ? 2 : 1;
  // The hand-written kernels' copies that were faster past L1.
  if (fields.cluster == 2 || part > 2 * mostThreads)
    fields.copy = CopyCache::cg;
  if (4 * countSumRegisters(fields, facts) > getRegisterBudget(fields, chip))
    return false;
  // Four slots, as the ring is refilled before a tile is waited for; three are
  // the fewest that hold the tiles of a split reduction beside one on its way.
  for (fields.stages = 4; fields.stages >= 3; --fields.stages)
    if (fields.stages * getSlotBytes(fields, facts) <=
        getRingBudget(fields, facts, chip))
      return true;
  return false;
}
