// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SelectRings.cpp - schedules with tiles in workgroup memory --------===//

#include "Selectors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// Rows that one subgroup reads: it needs nobody else for their reduction, and
/// one iteration hides what the next one waits for. Figures are us, backward of
/// 32768 rows of bf16 on an H200.
static void selectNarrowRing(ScheduleFields &fields, const ProgramFacts &facts,
                             const ChipInfo &chip, int64_t vectors) {
  const int64_t subgroup = chip.subgroupSize;
  fields.threadsPerRow =
      std::min<int64_t>(subgroup, llvm::PowerOf2Ceil(vectors));
  // Two vectors on their way a thread (x256 15.9, of one row 19.2).
  fields.rowsPerGroup = vectors <= subgroup ? 2 : 1;
  // Eight subgroups, or as many as copy 24 KB at once (x512 27.5, of sixteen
  // 37; x1128 57.9 of four, 59.3 of five; x1024 52.3 of six, 55.4 of eight).
  fields.stages = 2;
  fields.rowGroups = 1;
  fields.rowGroups =
      std::clamp<int64_t>((24 << 10) / getSlotBytes(fields, facts), 1,
                          8 * subgroup / fields.threadsPerRow);
  fields.blocksPerSM = 2;
}

/// Rows of several subgroups, up to half of the largest block.
static void selectWideRing(ScheduleFields &fields, const ProgramFacts &facts,
                           const ChipInfo &chip, int64_t vectors) {
  const int64_t most = chip.maxThreadsPerBlock / 2;
  const int64_t each = std::max<int64_t>(2, llvm::divideCeil(vectors, most));
  fields.threadsPerRow =
      llvm::alignTo(llvm::divideCeil(vectors, each), chip.subgroupSize);
  fields.rowGroups = fields.blocksPerSM = 1;
  fields.stages = 2;
  // Rows enough that 32 KB are on their way to a multiprocessor, whose share
  // of the memory's speed is as much in the microsecond a load takes. Of small
  // ones in two blocks, as one works while the other waits (x4096 190.5, in one
  // block of two 194.7; but x5120 257 and 237).
  int64_t rows = 1;
  if (fields.cluster == 1 && 4 * fields.threadsPerRow <= 3 * most)
    rows = std::min<int64_t>(
        llvm::divideCeil(32 << 10, getSlotBytes(fields, facts)),
        chip.maxThreadsPerBlock / fields.threadsPerRow);
  if (rows % 2 == 0 && 2 * fields.threadsPerRow <= most)
    fields.blocksPerSM = 2;
  fields.rowGroups = rows / fields.blocksPerSM;
  // Two slots; a row that is alone gains by more (x8192 376, of three
  // slots 384, of two 390), if they leave L1, where copies pass, two fifths of
  // what the two share. Three are the fewest that hold the tiles of a split
  // reduction beside one on its way.
  if (rows > 1)
    return;
  fields.stages = 4;
  if (getRingBytes(fields, facts) > chip.maxWorkgroupMemory / 5 * 3)
    fields.stages = 3;
}

bool mlir::rmsnorm::selectRing(ScheduleFields &fields,
                               const ProgramFacts &facts, const ChipInfo &chip,
                               int64_t vectors) {
  const int64_t subgroup = chip.subgroupSize;
  // Elsewhere copies hide nothing, and less than 8 bytes at a time they cost
  // more than they hide (x1022 63.1 us, in registers 57.3).
  if (!chip.hasAsyncCopies || facts.singleRow || facts.columns == 1 ||
      facts.loadedBitsPerColumn == 0 ||
      getAccessWidth(facts, chip) * facts.narrowestBits < 64)
    return false;
  fields.cache = Cache::shared;
  auto fits = [&] {
    return 4 * countSumRegisters(fields, facts) <=
               getRegisterBudget(fields, chip) &&
           holdsRings(fields, facts, chip);
  };
  // Four vectors a thread are two of two subgroups (x1024 52.1 us by two and
  // by one; 4096x1024 10.6 and 11.4).
  if (vectors <= 6 * subgroup && llvm::divideCeil(vectors, subgroup) != 4) {
    selectNarrowRing(fields, facts, chip, vectors);
    return fits();
  }
  // Wider ones in a cluster, portable if its blocks can hold the row. One block
  // takes 2.6 vectors for each of its threads (x10240 471, in two blocks 518).
  const int64_t wanted = llvm::PowerOf2Ceil(
      llvm::divideCeil(vectors, chip.maxThreadsPerBlock / 16 * 21));
  for (int64_t most : {int64_t(8), chip.maxClusterSize}) {
    fields.cluster = std::min({chip.maxClusterSize, wanted, most});
    const int64_t part = llvm::divideCeil(vectors, fields.cluster);
    selectWideRing(fields, facts, chip, part);
    // Copies that were faster past L1, or through it (us: 8192x262144 over 16
    // blocks 3092 and 3821, 16384x131072 over eight 3095 and 3020, 32768x12288
    // over two 585 and 598).
    fields.copy = fields.cluster == 2 || fields.cluster > 8 ? CopyCache::cg
                                                            : CopyCache::ca;
    if (fits())
      return true;
  }
  return false;
}
