// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatchBlocks.cpp - blocks that can be one launch -------------------===//

#include "RMSNorm/Rows/RowsProgram.h"

#include "RMSNorm/IR/Disjoint.h"
#include "RMSNorm/Rows/RowClasses.h"

#include <numeric>

using namespace mlir;
using namespace mlir::rmsnorm;

bool mlir::rmsnorm::areIndependent(RowsOp a, RowsOp b, AliasAnalysis &aliases) {
  SmallVector<MemoryEffects::EffectInstance> effectsOfA, effectsOfB;
  a.getEffects(effectsOfA);
  b.getEffects(effectsOfB);
  for (const MemoryEffects::EffectInstance &x : effectsOfA)
    for (const MemoryEffects::EffectInstance &y : effectsOfB)
      if ((isa<MemoryEffects::Write>(x.getEffect()) ||
           isa<MemoryEffects::Write>(y.getEffect())) &&
          !areDisjoint(x.getValue(), y.getValue(), aliases))
        return false;
  return true;
}

/// Whether blocks of `schedule` may stand in a grid beside others.
static bool hasOrdinaryGrid(const ScheduleFields &schedule) {
  return schedule.cluster == 1 && schedule.blocksPerSM == 0 &&
         schedule.smMargin == 0;
}

/// Whether `schedule` is our choice, not the user's.
static bool isChosen(RowsOp rows, const ScheduleFields &schedule,
                     const ChipInfo &chip, const ScheduleRequest &request,
                     int64_t number) {
  if (rows.getScheduleAttr() || !request.overrides.empty())
    return false;
  OrRefusal<Selection> selection =
      selectSchedules(getProgramFacts(rows), chip, request);
  return selection && selection->getFor(number) == schedule;
}

void mlir::rmsnorm::matchBlocks(ArrayRef<RowsOp> loops, TargetAttr target,
                                const ScheduleRequest &request,
                                ArrayRef<int64_t> lastRows,
                                MutableArrayRef<ScheduleFields> schedules) {
  if (loops.size() < 2)
    return;
  const ChipInfo &chip = target.getChipInfo();
  const int64_t most = 8 * chip.subgroupSize;
  const std::vector<ScheduleFields> before(schedules.begin(), schedules.end());
  AliasAnalysis aliases(loops.front()->getParentOp());
  auto canStand = [&](size_t one) {
    return hasOrdinaryGrid(before[one]) &&
           before[one].getBlockThreads() <= most;
  };
  for (size_t one = 0; one < loops.size(); ++one) {
    if (!canStand(one))
      continue;
    RowsOp rows = loops[one];
    const int64_t own = before[one].getBlockThreads();
    // The largest of the blocks, or as many threads as rows of all need.
    int64_t step = before[one].threadsPerRow, largest = own;
    for (size_t other = 0; other < loops.size(); ++other)
      if (other != one && canStand(other) &&
          areIndependent(rows, loops[other], aliases)) {
        step = std::lcm(step, before[other].threadsPerRow);
        largest = std::max(largest, before[other].getBlockThreads());
      }
    const int64_t threads = std::max(step, largest / step * step);
    if (threads > most)
      continue;
    ScheduleFields matched = before[one];
    matched.rowGroups = threads / matched.threadsPerRow;
    if (threads != own &&
        isChosen(rows, before[one], chip, request, lastRows[one]) &&
        !verifyOnTarget(matched, getProgramFacts(rows), chip))
      schedules[one] = matched;
  }
}
