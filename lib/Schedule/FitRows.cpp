// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FitRows.cpp - schedules that a row or a chip does not take -------===//

#include "Selectors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

void mlir::rmsnorm::fitRow(ScheduleFields &fields, const ProgramFacts &facts,
                           const ChipInfo &chip) {
  const int64_t width = getAccessWidth(facts, chip);
  if (width >= fields.vectorWidth)
    return;
  const int64_t wide = fields.vectorWidth;
  // Threads side by side access elements side by side, where eight of each
  // would be as many accesses 16 bytes apart. N says so for all variants, which
  // own the same columns.
  fields.vectorWidth = width;
  if (fields.cache == Cache::reload)
    fields.vectorsInFlight =
        std::min<int64_t>(8, fields.vectorsInFlight * wide / width);
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
