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
  int64_t sums = 0;
  if (fields.rowGroups > 1)
    sums = countSumRegisters(fields, facts) * fields.rowGroups *
           fields.threadsPerRow * 4;
  return chip.maxWorkgroupMemory / std::max<int64_t>(fields.blocksPerSM, 1) -
         kReservedBytes - sums;
}

/// Accesses to workgroup memory are unrolled.
static constexpr int64_t kMaxVectors = 64;

/// Tiles are in a slot each of a ring, or all in the only one.
static int64_t getRingBytes(const ScheduleFields &fields,
                            const ProgramFacts &facts) {
  return std::max<int64_t>(fields.stages, 1) * getSlotBytes(fields, facts);
}

bool mlir::rmsnorm::holdsRings(const ScheduleFields &fields,
                               const ProgramFacts &facts,
                               const ChipInfo &chip) {
  return countVectors(fields, facts) <= kMaxVectors &&
         getRingBytes(fields, facts) <= getRingBudget(fields, facts, chip);
}

LogicalResult
mlir::rmsnorm::verifyRings(ScheduleAttr schedule, const ProgramFacts &facts,
                           const ChipInfo &chip,
                           function_ref<InFlightDiagnostic()> emitError) {
  const ScheduleFields fields(schedule);
  if (schedule.getColumnSums() == ColumnSums::strips)
    return emitError() << "expected cache = registers or reload for "
                          "column_sums = strips, got shared";
  if (facts.columns == 1)
    return emitError() << "expected cache = registers or reload for rows of "
                          "one column, got shared";
  if (holdsRings(fields, facts, chip))
    return success();
  const int64_t vectors = countVectors(fields, facts);
  if (vectors > kMaxVectors)
    return emitError() << "expected at most " << kMaxVectors
                       << " vectors of rows in workgroup memory a thread, got "
                       << vectors;
  return emitError() << "expected tiles in workgroup memory to take at most "
                     << getRingBudget(fields, facts, chip)
                     << " bytes of each of "
                     << std::max<int64_t>(fields.blocksPerSM, 1)
                     << " blocks a multiprocessor on " << chip.name << ", got "
                     << getRingBytes(fields, facts) << " ("
                     << schedule.getRingSlots() << " slots of "
                     << getSlotBytes(fields, facts) << " bytes)";
}

bool mlir::rmsnorm::selectRing(ScheduleFields &fields,
                               const ProgramFacts &facts, const ChipInfo &chip,
                               int64_t vectors) {
  const int64_t subgroup = chip.subgroupSize;
  // Elsewhere copies hide nothing. Narrow rows are as many in registers, and so
  // are those that a power of two of threads shares out evenly.
  if (chip.vendor != Vendor::Nvidia || facts.singleRow ||
      vectors <= 2 * subgroup ||
      (vectors < 8 * subgroup && llvm::isPowerOf2_64(vectors)))
    return false;
  // The shapes of the hand-written kernels (PERFORMANCE.md): two vectors a
  // thread, up to 512 threads a row, for wider ones a cluster, portable if its
  // blocks can hold the row.
  const int64_t mostThreads = chip.maxThreadsPerBlock / 2;
  fields.cache = Cache::shared;
  fields.rowsPerGroup = 1;
  const int64_t wanted =
      llvm::PowerOf2Ceil(llvm::divideCeil(vectors, 2 * mostThreads));
  for (int64_t most : {int64_t(8), chip.maxClusterSize}) {
    fields.cluster = std::min({chip.maxClusterSize, wanted, most});
    const int64_t part = llvm::divideCeil(vectors, fields.cluster);
    fields.threadsPerRow = std::min<int64_t>(
        mostThreads, llvm::alignTo(llvm::divideCeil(part, 2), subgroup));
    // Sixteen subgroups and more on a multiprocessor, in two blocks if they are
    // small (us: 32768x4096 191.1 in two blocks, 195.5 in one of two row
    // groups; 4096x4096 29.6 and 30.5; but 32768x5120 255 and 241).
    const bool small =
        fields.cluster == 1 && fields.threadsPerRow <= mostThreads / 2;
    fields.blocksPerSM = small ? 2 : 1;
    if (small)
      fields.rowGroups =
          llvm::divideCeil(mostThreads / 2, fields.threadsPerRow);
    else
      fields.rowGroups =
          fields.cluster == 1 && 4 * fields.threadsPerRow <= 3 * mostThreads
              ? 2
              : 1;
    // A row takes its group about 1.7 us, however narrow it is: below 2048
    // columns of bf16 as many groups as have three slots in 72 KB, of threads
    // few enough to have registers. Not measured (in registers 32768x1128 took
    // 78 us, eight rows on a multiprocessor at once; 24 are there now).
    if (vectors < 8 * subgroup) {
      fields.threadsPerRow = (vectors <= 6 * subgroup ? 2 : 4) * subgroup;
      fields.stages = 3;
      fields.rowGroups = 1;
      fields.rowGroups = (24 << 10) / getSlotBytes(fields, facts);
    }
    // Copies that were faster past L1 (16384x131072 over clusters of 8: 3111
    // us, through it 3423 at best; 32768x16384 over two: 738 and 762).
    fields.copy = fields.cluster == 2 || part > 2 * mostThreads ? CopyCache::cg
                                                                : CopyCache::ca;
    if (4 * countSumRegisters(fields, facts) > getRegisterBudget(fields, chip))
      continue;
    // Four slots, as the ring is refilled before a tile is waited for, if they
    // leave L1, where copies pass, two fifths of what the two share
    // (32768x5120: four slots of 40 KB 276 us, three 241). Three are the fewest
    // that hold the tiles of a split reduction beside one on its way.
    fields.stages = 4;
    if (holdsRings(fields, facts, chip) &&
        fields.blocksPerSM * getRingBytes(fields, facts) <=
            chip.maxWorkgroupMemory / 5 * 3)
      return true;
    fields.stages = 3;
    if (holdsRings(fields, facts, chip))
      return true;
  }
  return false;
}
