// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SelectRows.cpp - schedules by the size of rows --------------------===//

#include "Selectors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

int64_t mlir::rmsnorm::getManyOperations(const ProgramFacts &facts) {
  const int64_t bits = facts.loadedBitsPerColumn + facts.storedBitsPerColumn;
  // Chips before sm_100 have no conversions to these types.
  const int64_t instructions = facts.getOperations() +
                               7 * facts.numFloat4Conversions +
                               2 * facts.numIntegerConversions;
  if (facts.columns == 1 || 16 * facts.getOperations() <= 5 * bits)
    return 0;
  return 16 * instructions > 9 * bits ? 2 : 1;
}

int64_t mlir::rmsnorm::getHoldingThreads(int64_t vectors,
                                         const ChipInfo &chip) {
  return std::clamp<int64_t>(llvm::bit_floor<uint64_t>(vectors / 4),
                             2 * chip.subgroupSize,
                             chip.maxThreadsPerBlock / 2);
}

/// Rows of several subgroups.
static void selectWideRow(ScheduleFields &fields, const ProgramFacts &facts,
                          const ChipInfo &chip, int64_t vectors) {
  const int64_t subgroup = chip.subgroupSize;
  // Rows that L1 does not hold: a cluster keeps them in workgroup memory, each
  // block up to 64 KB of a row. Clusters of more than 8 are not portable, and a
  // device takes fewer of them.
  const int64_t rowBytes =
      ProgramFacts::getBytes(facts.liveBitsPerColumn, facts.columns);
  if (chip.maxClusterSize > 1 && chip.hasAsyncCopies &&
      rowBytes > (192 << 10)) {
    while (fields.cluster < std::min<int64_t>(chip.maxClusterSize, 8) &&
           rowBytes > fields.cluster * (32 << 10))
      fields.cluster *= 2;
    while (fields.cluster < chip.maxClusterSize &&
           rowBytes > fields.cluster * (64 << 10))
      fields.cluster *= 2;
    vectors = llvm::divideCeil(vectors, fields.cluster);
    // Eight vectors a thread: the weight waits beside them in registers, and 32
    // subgroups on a multiprocessor hide each other's waits (16384x131072: 0.97
    // in 8 blocks of 256 threads, 0.83 of 512, 0.87 in 16 of 256, 0.87 when the
    // row is read again; 8192x262144: 0.94, 0.84 when it is read again). Past
    // L1 where its share is small (8192x262144: 2114 us, through it 2134).
    fields.cache = Cache::shared;
    fields.threadsPerRow =
        std::min<int64_t>(llvm::alignTo(llvm::divideCeil(vectors, 8), subgroup),
                          chip.maxThreadsPerBlock / 2);
    if (facts.numColumnSums == 0 && holdsRings(fields, facts, chip)) {
      if (rowBytes > fields.cluster * (32 << 10))
        fields.copy = CopyCache::cg;
      return;
    }
  }
  // About two vectors a thread, in whole subgroups (32768x1024: 64 threads
  // 0.99, 128 threads 0.94), up to half of the largest block (32768x16384: 512
  // threads 0.985, 1024 threads 0.955).
  auto threads = [&](int64_t most, int64_t vectorsPerThread = 2) {
    int64_t subgroups = (vectors + vectorsPerThread / 2 * subgroup) /
                        (vectorsPerThread * subgroup);
    return std::clamp(subgroups * subgroup, 2 * subgroup, most);
  };
  fields.threadsPerRow = threads(chip.maxThreadsPerBlock / 2);

  if (rereadsFromL1(chip) && facts.numRepeatedFunctions > 0 &&
      vectors <= 8 * fields.threadsPerRow) {
    // What takes instructions is done once, and its values held (us, norm(x *
    // silu(z)), in registers and read again: 4096x4096 25.5 and 31.2, of a
    // ceiling of 24.9; 32768x4096 185 and 231, of 185; 4096x7168 42.7 and
    // 53.9; 16384x16384 371, of 369). With masks 64x4096 1.90 and 2.12,
    // 2048x8192 26.0 and 27.4.
    fields.cache = Cache::registers;
    fields.maskBf16 = true;
    return;
  }
  if (rereadsFromL1(chip) && facts.getFunctions() > 0 &&
      rowBytes <= fields.cluster * (64 << 10)) {
    // Fewer threads, each with more to do at once, hide what functions take
    // (us, norm(x) * silu(z) with 2 and 4 vectors a thread: 32768x2048 97 and
    // 95, x4096 198 and 186, x7168 372 and 324, x8192 415 and 373, 16384x16384
    // 510 and 376; four in flight and two: x7168 324 and 329, x8192 378 and
    // 373, 16384x16384 387 and 376).
    fields.cache = Cache::reload;
    fields.threadsPerRow =
        threads(chip.maxThreadsPerBlock / 2, /*vectorsPerThread=*/4);
    if (fields.threadsPerRow < 8 * subgroup)
      fields.vectorsInFlight = 4;
    // A tile read after the reduction, by four subgroups and two: 24960x1536
    // 0.955 and 0.925, 21394x1792 0.968 and 0.899; 18720x2048 0.965 and 0.983.
    if (facts.liveBitsPerColumn < facts.loadedBitsPerColumn &&
        vectors <= 7 * subgroup) {
      fields.threadsPerRow = 4 * subgroup;
      fields.maskBf16 = true;
    }
    return;
  }
  if (rereadsFromL1(chip) && getManyOperations(facts) &&
      rowBytes <= fields.cluster * (64 << 10)) {
    // Fewer threads again (us, bf16 with a scale and a shift for each batch, 2
    // vectors a thread and 4: 32768x4096 159 and 130, 4096x4096 23.1 and 21.1).
    fields.threadsPerRow =
        threads(chip.maxThreadsPerBlock / 2, /*vectorsPerThread=*/4);
    fields.cache = Cache::reload;
    // What they hold of a row and of per-column operands stays in registers if
    // it is no more than an f32: four to seven vectors, which divide N best
    // (us, f8 out of bf16 with a scale a row, 2 vectors read again and these:
    // 32768x4096 120 and 94.5, 4096x4096 16.9 and 13.5, 4096x7168 30.0 and
    // 22.4, with 4 vectors 23.6; with a scale for 128 columns 16384x7168 85.2,
    // 4 vectors and read again 90.3; 2048x16384 28.7 and 30.1).
    // With very many operations up to eight (us, 32768x4096 with i8 94.3 and
    // with 4 vectors 96.1; f4 with a scale for 16 columns 108.6 and 115.9).
    int64_t holding = getHoldingThreads(vectors, chip);
    if (getManyOperations(facts) > 1)
      holding =
          std::clamp<int64_t>(llvm::PowerOf2Ceil(llvm::divideCeil(vectors, 8)),
                              2 * subgroup, chip.maxThreadsPerBlock / 2);
    const bool fits =
        facts.loadedBitsPerColumn + facts.columnOperandBits <= 32 &&
        vectors <= 8 * holding;
    // Nine or ten by half of the threads rather than a part of one, or blocks
    // of 256 (us, f8 with a scale a row, 32 columns e8m0: 3640x9216 25.6 and
    // 31.7, 26.3 and 35.2; 3640x4608 14.1 and 16.7, 14.7 and 14.6; 13107x10240
    // 94.5 and 97.7, 96.9 and 124.7; but x5120 by 64 threads 94.1 and 92.9).
    const int64_t half = holding / 2;
    if (vectors % half == 0 && vectors > 8 * half && vectors <= 10 * half &&
        half >= (vectors % holding != 0 ? 2 : 4) * subgroup)
      holding = half;
    // Of one tile: with a residual beside x loads wait longer.
    fields.maskBf16 = facts.loadedBitsPerColumn <= 16;
    if (fits) {
      fields.threadsPerRow = holding;
      fields.cache = Cache::registers;
      // Two rows a block where lanes have nothing to do or little (share, with
      // two and with one, of a scale a row and given: x1536 0.98, 0.99 and
      // 0.90, 0.88; x1792 0.96, 0.96 and 0.84, 0.93; x2304 0.99, 0.96 and 0.85,
      // 0.95; but i8 x2048 0.96 and 0.98, 128 columns x1792 0.93 and 0.94).
      if (holding == 2 * subgroup && facts.groupColumns == 0 &&
          (vectors % holding != 0 || vectors <= 3 * holding))
        fields.rowGroups = 2;
    } else if (fields.threadsPerRow < 8 * subgroup &&
               (facts.columnOperandBits <= facts.loadedBitsPerColumn ||
                fields.threadsPerRow > 4 * subgroup)) {
      // As above (us, the same with four in flight and two: 32768x4096 132.7
      // and 134.2, 4096x4096 19.5 and 19.85).
      fields.vectorsInFlight = 4;
    }
    return;
  }
  if (rereadsFromL1(chip)) {
    // The second read of the row hits L1 and beats keeping it at every width
    // (32768x2048: 0.99 read again, 0.98 in registers; x4096: 1.00 and 0.97;
    // x7168: 0.985 and 0.92).
    fields.cache = Cache::reload;
    // Operands of columns that are wider than x are held by few threads (us,
    // a weight of f32, four vectors a thread and two: 4096x4096 18.7 and 19.2,
    // 4096x7168 32.3 and 35.2, 32768x4096 127.4 and 127.1, x7168 219 and 225).
    // With several reductions, one after the other, few threads wait for each
    // other more often (benchmarks/data/sandwich_h200.json).
    const int64_t holding =
        threads(chip.maxThreadsPerBlock / 2, /*vectorsPerThread=*/4);
    const bool hasWideOperands =
        facts.columnOperandBits > facts.loadedBitsPerColumn &&
        getAccessWidth(facts, chip) == fields.vectorWidth &&
        holding <= 8 * subgroup;
    if (hasWideOperands || facts.numReductions > 1)
      fields.threadsPerRow = holding;
    // Rows of more than half of L1: one block a multiprocessor, so that rows
    // do not evict one another (8192x65536: 0.98 with 1024 threads, 0.67 with
    // 512; a cluster of 4 gets 0.905).
    if (rowBytes > fields.cluster * (64 << 10))
      fields.threadsPerRow = threads(chip.maxThreadsPerBlock);
    return;
  }

  // AMD chips, not measured: their L1 is smaller than the rows in flight.
  // Registers hold a row as long as 32 values a thread suffice.
  auto fits = [&] {
    return fields.vectorWidth * getVectorsPerThread(facts.columns,
                                                    fields.threadsPerRow,
                                                    fields.vectorWidth) <=
           32;
  };
  if (!fits())
    fields.threadsPerRow = threads(chip.maxThreadsPerBlock);
  if (!fits()) {
    fields.cache = Cache::reload;
    // Two rows, of x and dy, that 1024 threads read by elements spill
    // (gfx1100).
    if (facts.numColumnSums > 0)
      fields.threadsPerRow = threads(chip.maxThreadsPerBlock / 2);
  }
}

ScheduleFields mlir::rmsnorm::selectManyRows(const ProgramFacts &facts,
                                             const ChipInfo &chip) {
  ScheduleFields fields;
  const int64_t subgroup = chip.subgroupSize;
  // 16 bytes of the narrowest operand: its accesses are as wide as the machine
  // has, those of wider operands are several of that width.
  fields.vectorWidth = getWidestVector(facts, chip);

  if (facts.dynamicColumns) {
    ScheduleFields held = fields;
    const int64_t vectors = llvm::divideCeil(facts.columns, fields.vectorWidth);
    if (facts.numColumnSums > 0 && facts.hasBound() &&
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

  if (facts.numColumnSums > 0) {
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
    // The rows as if nothing were summed, the sums in strips.
    fields.columnSums = ColumnSums::strips;
  }

  // Figures: bf16 on an H200, share of the speed of a copy of the same bytes,
  // CUDA-graph replays over more memory than L2 holds.
  if (vectors <= subgroup) {
    // A subgroup or less a row: no barrier; four subgroups a block, and two
    // rows in flight to hide one another's loads (262144x128: 0.98, with one
    // row in flight 0.96; one row a block is 0.24).
    fields.threadsPerRow = llvm::PowerOf2Ceil(vectors);
    fields.rowGroups = 4 * subgroup / fields.threadsPerRow;
    fields.rowsPerGroup = 2;
    // What rows of a tile share is loaded once for all of them (us, 32 heads of
    // 128 with RoPE, 16 groups of two rows and 8 of four: 32768 tokens 141.8
    // and 137.8, 2048 11.4 and 10.7).
    if (rereadsFromL1(chip) && facts.sharedBitsPerColumn > 0) {
      fields.rowGroups /= 2;
      fields.rowsPerGroup = 4;
    }
  } else if (vectors <= 5 * subgroup) {
    // What is no narrow row (SelectNarrowRows.cpp): narrow accesses, shared
    // tiles, other chips. Two subgroups a row, two rows in flight. A grid of
    // dependent launches gets 0.8 blocks a nanosecond started, so that a block
    // must be worth it: two row groups up to 768 columns (32768x512: 17.6 us,
    // with one 20.5; 32768x1024 with one: 33.5, one row in flight 40.4).
    fields.threadsPerRow = 2 * subgroup;
    fields.rowGroups = vectors <= 3 * subgroup ? 2 : 1;
    fields.rowsPerGroup = 2;
  } else {
    selectWideRow(fields, facts, chip, vectors);
  }
  if (facts.singleRow) {
    fields.threadsPerRow = std::max(fields.threadsPerRow, subgroup);
    fields.rowGroups = fields.rowsPerGroup = 1;
  }
  return fields;
}
