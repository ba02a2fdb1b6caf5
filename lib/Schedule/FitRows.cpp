// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FitRows.cpp - schedules that a row or a chip does not take -------===//

#include "Selectors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// Makes a thread own no more neighbouring columns than one access can take
/// where N is no multiple of 16 bytes. Threads side by side then access
/// elements side by side, where eight of each would be as many accesses 16
/// bytes apart (us on an H200, single elements and eight: forward of 32768x1023
/// 38.0 and 124, x4095 150 and 511, by two x1022 33.9 and 37.0; backward x1023
/// 67.2 and 187). N says so for all variants, which own the same columns.
static void narrowVectors(ScheduleFields &fields, const ProgramFacts &facts,
                          const ChipInfo &chip) {
  const int64_t width = getAccessWidth(facts, chip);
  if (width >= fields.vectorWidth)
    return;
  const int64_t wide = fields.vectorWidth;
  fields.vectorWidth = width;
  if (facts.numColumnSums == 0 && fields.cache != Cache::shared) {
    // Of 32 single elements over 1024 threads some spill.
    const int64_t values =
        width * getVectorsPerThread(facts.columns, fields.threadsPerRow, width);
    const bool held =
        values <= (fields.threadsPerRow < chip.maxThreadsPerBlock ? 32 : 16);
    // Less than four bytes: reading a row again is more accesses than it is
    // worth (x4095 150 us, read again 164).
    if (held && width * facts.narrowestBits < 32)
      fields.cache = Cache::registers;
    else if (!held)
      fields.cache = Cache::reload;
  }
  if (fields.cache == Cache::reload)
    fields.vectorsInFlight =
        std::min<int64_t>(8, fields.vectorsInFlight * wide / width);
}

/// Rows that are taken apart: a thread's vectors are as far apart as the parts
/// are, or nearer, and stay in registers (32768 tokens of packed qkv, norm and
/// rotation by hand: 8 threads a head of 128 0.96 of a copy).
static void fitParts(ScheduleFields &fields, const ProgramFacts &facts) {
  if (facts.part == 0)
    return;
  fields.cache = Cache::registers;
  fields.cluster = 1;
  while (fields.vectorWidth > 1 && facts.part % fields.vectorWidth != 0)
    fields.vectorWidth /= 2;
  while (fields.threadsPerRow % 2 == 0 &&
         facts.part % (fields.threadsPerRow * fields.vectorWidth) != 0) {
    fields.threadsPerRow /= 2;
    if (!facts.singleRow)
      fields.rowGroups *= 2;
  }
}

void mlir::rmsnorm::fitRow(ScheduleFields &fields, const ProgramFacts &facts,
                           const ChipInfo &chip) {
  narrowVectors(fields, facts, chip);
  fitParts(fields, facts);
}

void mlir::rmsnorm::mend(ScheduleFields &fields, const ProgramFacts &facts,
                         const ChipInfo &chip) {
  auto isRefused = [&] {
    followRules(fields, facts, chip);
    return verifyOnTarget(fields, facts, chip).has_value();
  };
  while (isRefused() && fields.rowsPerGroup > 1)
    fields.rowsPerGroup /= 2;
  if (!isRefused())
    return;
  if (facts.numColumnSums > 0 && facts.numReductions == 0) {
    fields = selectStrips(facts, chip);
    return followRules(fields, facts, chip);
  }
  fields.cache = Cache::reload;
  if (!isRefused())
    return;
  fields.cluster = 1;
  fields.rowGroups = 1;
  fields.stages = fields.blocksPerSM = 0;
  fields.threadsPerRow = std::clamp<int64_t>(
      llvm::alignTo(fields.threadsPerRow, chip.subgroupSize), chip.subgroupSize,
      chip.maxThreadsPerBlock / 2);
  if (facts.numColumnSums > 0)
    fields.columnSums = ColumnSums::strips;
  followRules(fields, facts, chip);
}
