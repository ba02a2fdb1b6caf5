// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Resources.cpp - what a schedule takes of a chip -------------------===//

#include "Resources.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

/// The widest access that there is a lowering for, and the most elements of
/// a vector.
static constexpr int64_t kMaxAccessBytes = 16, kMaxVectorWidth = 16;

static int64_t getAccessBytes(const ChipInfo &chip) {
  return std::min(chip.accessBytes, kMaxAccessBytes);
}

int64_t mlir::rmsnorm::getWidestVector(const ProgramFacts &facts,
                                       const ChipInfo &chip) {
  return std::min(8 * getAccessBytes(chip) / facts.narrowestBits,
                  kMaxVectorWidth);
}

int64_t mlir::rmsnorm::getAccessWidth(const ProgramFacts &facts,
                                      const ChipInfo &chip) {
  const int64_t widest = getWidestVector(facts, chip);
  if (facts.dynamicColumns)
    return widest;
  return std::min(widest, facts.columns & -facts.columns);
}

bool mlir::rmsnorm::rereadsFromL1(const ChipInfo &chip) {
  // Two vectors of each thread.
  return chip.l1Bytes >=
         2 * getAccessBytes(chip) * chip.threadsPerMultiprocessor;
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// Values of a row that a thread owns.
static int64_t countValues(const ScheduleFields &fields,
                           const ProgramFacts &facts) {
  return fields.vectorWidth * countVectors(fields, facts.columns);
}

int64_t mlir::rmsnorm::countSumRegisters(const ScheduleFields &fields,
                                         const ProgramFacts &facts) {
  if (fields.columnSums != ColumnSums::registers)
    return 0;
  return facts.numColumnSums * countValues(fields, facts);
}

int64_t mlir::rmsnorm::countRowRegisters(const ScheduleFields &fields,
                                         const ProgramFacts &facts) {
  int64_t bits = 0;
  if (fields.cache == Cache::registers)
    bits = fields.rowsPerGroup * std::max<int64_t>(facts.liveBitsPerColumn, 8);
  else if (fields.cache == Cache::reload &&
           fields.columnOperands != ColumnOperands::use)
    bits = facts.columnOperandBits;
  return llvm::divideCeil(bits * countValues(fields, facts), 32);
}

int64_t mlir::rmsnorm::getRegisterBudget(const ScheduleFields &fields,
                                         const ChipInfo &chip) {
  return std::min<int64_t>(256, chip.registersPerMultiprocessor /
                                    (fields.getBlockThreads() *
                                     std::max<int64_t>(fields.blocksPerSM, 1)));
}

//===----------------------------------------------------------------------===//
// Workgroup memory
//===----------------------------------------------------------------------===//

int64_t mlir::rmsnorm::countRingVectors(const ScheduleFields &fields,
                                        const ProgramFacts &facts) {
  return fields.rowsPerGroup * countVectors(fields, facts.columns);
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

int64_t mlir::rmsnorm::getRingBudget(const ScheduleFields &fields,
                                     const ChipInfo &chip) {
  return chip.maxWorkgroupMemory / std::max<int64_t>(fields.blocksPerSM, 1) -
         kReservedWorkgroupBytes;
}

bool mlir::rmsnorm::holdsRings(const ScheduleFields &fields,
                               const ProgramFacts &facts,
                               const ChipInfo &chip) {
  return countRingVectors(fields, facts) <= kMaxRingVectors &&
         getRingBytes(fields, facts) <= getRingBudget(fields, chip);
}

int64_t mlir::rmsnorm::getColumnReduceBytes(const ScheduleFields &fields,
                                            const ProgramFacts &facts) {
  if (fields.rowGroups == 1)
    return 0;
  int64_t columns = fields.getStripColumns();
  if (fields.columnSums == ColumnSums::registers)
    columns = llvm::alignTo(facts.columns, columns);
  return facts.numColumnSums * fields.rowGroups * columns * 4;
}
