// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MatchBlocks.cpp - blocks that can be one launch -------------------===//

#include "RMSNorm/Rows/RowsProgram.h"

#include "RMSNorm/IR/Disjoint.h"
#include "RMSNorm/Rows/RowClasses.h"

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

/// Whether rules have chosen `schedule`, not the user.
static bool isByRules(RowsOp rows, const ScheduleFields &schedule,
                      const ChipInfo &chip, const ScheduleRequest &request,
                      int64_t number) {
  if (rows.getScheduleAttr() || !request.overrides.empty())
    return false;
  OrRefusal<Selection> selection =
      selectSchedules(getProgramFacts(rows), chip, request);
  return selection && selection->getFor(number) == schedule;
}

void mlir::rmsnorm::matchBlocks(ArrayRef<RowsOp> loops, TargetAttr target,
                                const ScheduleRequest &request, int64_t lastRow,
                                MutableArrayRef<ScheduleFields> schedules) {
  if (loops.size() < 2)
    return;
  const ChipInfo &chip = target.getChipInfo();
  const int64_t most = 8 * chip.subgroupSize;
  const std::vector<ScheduleFields> before(schedules.begin(), schedules.end());
  AliasAnalysis aliases(loops.front()->getParentOp());
  for (size_t one = 0; one < loops.size(); ++one) {
    RowsOp rows = loops[one];
    const int64_t number = getStaticRows(rows).value_or(lastRow);
    int64_t threads = before[one].getBlockThreads();
    // Of more rows a launch is a small part.
    if (number > 8 * chip.multiprocessors || threads >= most ||
        !hasOrdinaryGrid(before[one]))
      continue;
    for (size_t other = 0; other < loops.size(); ++other) {
      const int64_t size = before[other].getBlockThreads();
      if (other != one && size > threads && size <= most &&
          size % before[one].threadsPerRow == 0 &&
          hasOrdinaryGrid(before[other]) &&
          areIndependent(rows, loops[other], aliases))
        threads = size;
    }
    ScheduleFields matched = before[one];
    matched.rowGroups = threads / matched.threadsPerRow;
    if (threads > before[one].getBlockThreads() &&
        isByRules(rows, before[one], chip, request, number) &&
        !verifyOnTarget(matched, getProgramFacts(rows), chip))
      schedules[one] = matched;
  }
}
