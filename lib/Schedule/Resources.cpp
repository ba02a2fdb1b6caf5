// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Resources.cpp - what a schedule takes of a chip -------------------===//

#include "Resources.h"

using namespace mlir;
using namespace mlir::rmsnorm;

Layout mlir::rmsnorm::getLayout(const ScheduleFields &fields,
                                const ProgramFacts &facts,
                                int64_t subgroupSize) {
  return Layout(
      fields,
      getColumnDigits(facts.columns, facts.part, facts.hasPairs, facts.whole),
      facts.dynamicColumns != 0, subgroupSize);
}

int64_t mlir::rmsnorm::countVectors(const ScheduleFields &fields,
                                    const ProgramFacts &facts) {
  return getLayout(fields, facts).countRowVectors();
}

int64_t mlir::rmsnorm::getAccessWidth(const ProgramFacts &facts,
                                      const ChipInfo &chip) {
  const int64_t widest = getWidestVector(facts, chip);
  if (facts.dynamicColumns)
    return facts.hasNarrowColumns() ? 1 : widest;
  return std::min(widest, facts.columns & -facts.columns);
}

int64_t mlir::rmsnorm::getRegisterBudget(const ScheduleFields &fields,
                                         const ChipInfo &chip) {
  return std::min<int64_t>(256, chip.registersPerMultiprocessor /
                                    (fields.getBlockThreads() *
                                     std::max<int64_t>(fields.blocksPerSM, 1)));
}

int64_t mlir::rmsnorm::countRingVectors(const ScheduleFields &fields,
                                        const ProgramFacts &facts) {
  return fields.rowsPerGroup * countVectors(fields, facts);
}

int64_t mlir::rmsnorm::getSlotBytes(const ScheduleFields &fields,
                                    const ProgramFacts &facts) {
  return ProgramFacts::getBytes(
      fields.stages >= 2 ? facts.loadedBitsPerColumn : facts.liveBitsPerColumn,
      countRingVectors(fields, facts) * fields.vectorWidth *
          fields.getBlockThreads());
}

int64_t mlir::rmsnorm::getRingBytes(const ScheduleFields &fields,
                                    const ProgramFacts &facts) {
  return fields.getRingSlots() * getSlotBytes(fields, facts);
}
