// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SelectClasses.cpp - schedules by the number of rows ---------------===//

#include "Selectors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// Bytes of rows from which on reading them again beats registers.
static int64_t getBytesReadAgain(const ProgramFacts &facts,
                                 const ChipInfo &chip,
                                 const ScheduleFields &next) {
  // 16 MB (us at 16 and 32 MB: N = 2048 9.66 and 17.42, read again 10.22 and
  // 17.26; N = 4096 9.85 and 17.83, 10.05 and 17.47).
  const int64_t bytes = 16 << 20;
  if (chooseColumnOperands(next, facts, chip) != ColumnOperands::awaited)
    return bytes;
  // Of one tile, where operands are awaited (us at 4, 8 and 16 MB: the norm
  // 512x4096 3.70 and 3.85, 5.76 and 5.40, 10.3 and 9.3; silu of it 4.41 and
  // 5.12, 6.41 and 6.30, 10.8 and 9.6; scale and shift of batches 409x5120 4.13
  // and 4.61, 7.11 and 6.09, 11.6 and 9.9), unless held then, too (silu as f8
  // 1024x4096 6.07 and 5.93, 2048x4096 9.5 and 8.3; x2048 6.07 and 6.01).
  // Two subgroups read up to 2048 columns again (share of a copy's speed at
  // 4.7, 6.3 and 6.3 MB: 1536x1536 0.90 and 0.98, 2048x1536 0.82 and 1.05,
  // 1536x2048 0.95 and 1.03; 3.1 MB 1024x1536 1.06 and 0.91).
  if (facts.loadedBitsPerColumn == 16) {
    if (facts.columns <= 8 * chip.subgroupSize * next.vectorWidth)
      return 4 << 20;
    return next.cache == Cache::reload ? 6 << 20 : 12 << 20;
  }
  // f8 of x + residual, 128 columns a scale, by more than 128 threads:
  // 1024x4096 9.49 and 8.89, 682x6144 9.95 and 9.16; 1024x2048 5.38 and 5.85.
  return facts.groupColumns > 0 && next.threadsPerRow > 4 * chip.subgroupSize
             ? 12 << 20
             : bytes;
}

/// Few rows, `many` being the choice for more and `next` that for the next
/// larger number.
static std::optional<RowClass> selectFewRows(const ProgramFacts &facts,
                                             const ChipInfo &chip,
                                             const ScheduleFields &many,
                                             const ScheduleFields &next) {
  if (!rereadsFromL1(chip) || facts.dynamicColumns || facts.numColumnSums > 0)
    return std::nullopt;
  if (facts.sharedBitsPerColumn > 0 && many.rowsPerGroup == 4) {
    // Blocks for more multiprocessors (us, as there, two and four rows: 64
    // tokens 1.51 and 1.65, 128 1.95 and 2.08, 512, of 4 MB, 4.25 and 4.23; 8
    // groups of 256 with weights of their own, 512 tokens 3.00 and 3.38, 2048
    // 7.6 and 5.8).
    RowClass few{std::min<int64_t>(1 << 14, (4 << 20) / ProgramFacts::getBytes(
                                                            16, facts.columns)),
                 many};
    few.schedule.rowsPerGroup = 2;
    return few;
  }
  if (getManyOperations(facts) && many.cache == Cache::registers &&
      many.threadsPerRow > chip.subgroupSize && !facts.singleRow) {
    // A row a multiprocessor: only its own threads hide what it waits for (us,
    // f8 with a scale for 128 columns, 64 rows, 2 vectors a thread and more:
    // x7168 2.48 and 3.93, x8192 2.54 and 3.35).
    RowClass few{chip.multiprocessors, many};
    few.schedule.rowGroups = few.schedule.rowsPerGroup = 1;
    few.schedule.maskBf16 = false;
    few.schedule.threadsPerRow = std::min<int64_t>(
        llvm::alignTo(llvm::divideCeil(facts.columns, 2 * many.vectorWidth),
                      chip.subgroupSize),
        chip.maxThreadsPerBlock);
    return few;
  }
  // Reading a row again pays because registers saved are blocks more on a
  // multiprocessor; with few blocks only the second latency is left.
  if (many.cache != Cache::reload)
    return std::nullopt;
  // Four vectors a thread (us on an H200, in registers by 4 vectors a thread
  // and read again by 2: 1x4096 1.19 and 1.31; 128x8192 3.12 and 3.74).
  RowClass few{0, many};
  few.schedule.cache = Cache::registers;
  // Functions of two tiles (us, norm(x) * silu(z) with masks, awaited then, and
  // neither: 1x4096 1.83 and 1.91, 64x4096 2.18 and 2.26, 256x4096 4.27 and
  // 4.62; silu of the norm the same).
  few.schedule.maskBf16 =
      facts.getFunctions() > 0 && facts.loadedBitsPerColumn > 16;
  const int64_t part = many.getPartColumns(facts.columns);
  const int64_t vectors = llvm::divideCeil(part, many.vectorWidth);
  const int64_t threads =
      llvm::alignTo(llvm::divideCeil(vectors, 4), chip.subgroupSize);
  if (threads > chip.maxThreadsPerBlock)
    return std::nullopt;
  few.schedule.threadsPerRow =
      std::max<int64_t>(threads, 4 * chip.subgroupSize);
  few.schedule.rowGroups = few.schedule.rowsPerGroup = 1;
  const int64_t values =
      many.vectorWidth *
      getVectorsPerThread(part, few.schedule.threadsPerRow, many.vectorWidth);
  if (ProgramFacts::getBytes(facts.liveBitsPerColumn, values) >
      std::min<int64_t>(256, chip.registersPerMultiprocessor /
                                 few.schedule.threadsPerRow))
    return std::nullopt;
  // Large blocks balance badly: one on each multiprocessor (N = 16384: 128 rows
  // 4.66 and 5.62, 512 rows 11.35 and 9.95).
  few.lastRow = threads > 8 * chip.subgroupSize
                    ? chip.multiprocessors / many.cluster
                    : getBytesReadAgain(facts, chip, next) /
                          std::max<int64_t>(
                              1, ProgramFacts::getBytes(facts.liveBitsPerColumn,
                                                        facts.columns));
  return few;
}

/// From 128 MB on and below. Changes `many`, the choice for both, or `fewer`,
/// and returns the first number of `many` rows.
static std::optional<int64_t> selectMoreRows(const ProgramFacts &facts,
                                             const ChipInfo &chip,
                                             ScheduleFields &fewer,
                                             ScheduleFields &many) {
  const int64_t subgroup = chip.subgroupSize;
  const int64_t vectors = llvm::divideCeil(facts.columns, many.vectorWidth);
  if (!rereadsFromL1(chip) || facts.dynamicColumns || facts.singleRow ||
      facts.numColumnSums > 0 || facts.loadedBitsPerColumn == 0)
    return std::nullopt;
  const int64_t first =
      (128 << 20) /
      ProgramFacts::getBytes(facts.loadedBitsPerColumn, facts.columns);
  if (getManyOperations(facts) && many.cache == Cache::registers &&
      many.threadsPerRow > 4 * subgroup && vectors == 4 * many.threadsPerRow &&
      (vectors <= 32 * subgroup || facts.storedBitsPerColumn <= 8)) {
    // Smaller blocks, each thread with more to do at once (us, f8 with a scale
    // given, of a row, of 128 columns, and e8m0 of 32: 8192x16384 95.4 and 103,
    // 99.6 and 101, 100 and 105, 117 and 133; 16384x8192 95.0 and 94.9, 93.9
    // and 95.0, 96.1 and 98.6, 96.6 and 100.5; but 2048x8192 15.4
    // and 15.1, 13.8 and 13.8, 15.8 and 14.5, 15.9 and 14.6). Sixteen vectors
    // with a wider result beside take all registers that a thread has.
    many.threadsPerRow = 4 * subgroup;
    return first;
  }
  if (facts.getFunctions() > 0 && facts.loadedBitsPerColumn == 16 &&
      facts.columnOperandBits > 0 && many.cache == Cache::reload &&
      vectors <= 32 * subgroup &&
      (facts.storedBitsPerColumn <= 8 || many.threadsPerRow > 4 * subgroup)) {
    // Functions of one tile: fewer rows are held (us, silu of the norm as f8
    // 4096x4096 14.4 and 15.8, 3276x5120 15.0 and 16.0, 2340x7168 15.7 and
    // 16.6; but 18724x7168 112 and 106).
    fewer.cache = Cache::registers;
    fewer.maskBf16 = true;
    fewer.vectorsInFlight = ScheduleFields().vectorsInFlight;
    fewer.threadsPerRow = getHoldingThreads(vectors, chip);
    return first;
  }
  if (facts.getFunctions() > 0 || getManyOperations(facts) > 0 ||
      facts.liveBitsPerColumn != facts.loadedBitsPerColumn ||
      facts.groupColumns > 0 || many.cache != Cache::reload)
    return std::nullopt;
  if (facts.loadedBitsPerColumn == 16) {
    // Of one tile four vectors a thread, not two, balance fewer rows better
    // (us: 2048x12288 25.7 and 26.0; but 4096x6144 25.5 and 25.4, 4096x4096
    // 17.7 and 17.5, 16384x8192 127.5 and 126.5), unless two wait for the
    // weight (2340x7168 17.5 and 18.3, 2048x8192 17.3 and 17.9).
    const int64_t threads =
        llvm::alignTo(llvm::divideCeil(vectors, 4), subgroup);
    if (chooseColumnOperands(many, facts, chip) == ColumnOperands::awaited ||
        many.threadsPerRow <= 12 * subgroup || threads >= many.threadsPerRow ||
        getAccessWidth(facts, chip) < many.vectorWidth)
      return std::nullopt;
    fewer.threadsPerRow = threads;
  } else if (facts.loadedBitsPerColumn >= 2 * facts.narrowestBits) {
    // Of two tiles, as of x and a residual, each thread has a vector of many
    // rows (us, and with two: 32768x3072 187.6 and 189.2, x4096 248.1 and
    // 251.8, x5120 310.2 and 311.3, 65536x2048 249.2 and 250.8, x4096 with fp8
    // beside it 216 and 221; but 2048x4096 18.2 and 17.9, 16384x7168 233.6 and
    // 219.7; where a scale is computed 32768x4096 235 and 221 for a row, 243
    // and 220 for 128 columns).
    if (many.threadsPerRow >= vectors || vectors > 20 * subgroup)
      return std::nullopt;
    many.threadsPerRow = llvm::alignTo(vectors, subgroup);
  } else {
    return std::nullopt;
  }
  return first;
}

SmallVector<RowClass, 2> mlir::rmsnorm::selectByRules(const ProgramFacts &facts,
                                                      const ChipInfo &chip) {
  SmallVector<RowClass, 2> classes;
  if (isNarrowRow(facts, chip)) {
    classes = selectNarrowRows(facts, chip);
  } else {
    ScheduleFields many = selectManyRows(facts, chip);
    const ScheduleFields base = many;
    ScheduleFields fewer = many;
    std::optional<int64_t> first = selectMoreRows(facts, chip, fewer, many);
    if (std::optional<RowClass> few = selectFewRows(facts, chip, base, fewer))
      classes.push_back(*few);
    if (first)
      classes.push_back({*first - 1, fewer});
    classes.push_back({kAnyRows, many});
  }
  for (RowClass &one : classes) {
    fitRow(one.schedule, facts, chip);
    followRules(one.schedule, facts, chip);
  }
  // A choice for few rows that does not fit is none.
  llvm::erase_if(classes, [&](const RowClass &one) {
    return one.lastRow != kAnyRows &&
           verifyOnTarget(one.schedule, facts, chip).has_value();
  });
  mend(classes.back().schedule, facts, chip);
  return classes;
}
