// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScheduleSpace.cpp - schedules worth measuring ---------------------===//

#include "RMSNorm/Schedule/ScheduleSpace.h"
#include "Selectors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {

class Enumerator {
public:
  Enumerator(const ProgramFacts &facts, const ChipInfo &chip,
             const ScheduleFields &base)
      : facts(facts), chip(chip), base(base) {}

  void add(const ScheduleFields &schedule) {
    if (!llvm::is_contained(schedules, schedule))
      schedules.push_back(schedule);
  }
  /// `chosen` with one of the fields changed that are not enumerated.
  void addChanged(const ScheduleFields &chosen);
  void addDynamic();
  /// Those that selection without measuring chooses from.
  void addRows();

  std::vector<ScheduleFields> take() { return std::move(schedules); }
  size_t countRefused() const { return refused.size(); }

private:
  /// With one tile a block, and with as many blocks as a multiprocessor holds.
  void addWalks(ScheduleFields fields);
  bool addIfLegal(ScheduleFields fields);
  const ProgramFacts &facts;
  const ChipInfo &chip;
  /// What the selector chooses for many rows: all that is not enumerated.
  const ScheduleFields base;
  std::vector<ScheduleFields> schedules;
  /// Of those enumerated, what cannot run on the chip.
  std::vector<ScheduleFields> refused;
};

} // namespace

bool Enumerator::addIfLegal(ScheduleFields fields) {
  followRules(fields, facts, chip);
  if (fields.check())
    return false;
  if (!verifyOnTarget(fields, facts, chip)) {
    add(fields);
    return true;
  }
  if (!llvm::is_contained(refused, fields))
    refused.push_back(fields);
  return false;
}

void Enumerator::addChanged(const ScheduleFields &chosen) {
  // What a rule says of per-column operands is nearly even for many rows.
  ScheduleFields fields = chosen;
  fields.columnOperands = chosen.columnOperands == ColumnOperands::awaited
                              ? ColumnOperands::tile
                              : ColumnOperands::awaited;
  const bool isHeld =
      chosen.cache == Cache::registers || chosen.cache == Cache::reload;
  if (rereadsFromL1(chip) && isHeld &&
      facts.columnOperandBits + facts.sharedBitsPerColumn > 0 &&
      chosen.columnOperands != ColumnOperands::block && !fields.check() &&
      !verifyOnTarget(fields, facts, chip))
    add(fields);
}

void Enumerator::addRows() {
  ScheduleRequest request;
  request.alignment = base.alignment;
  request.smMargin = base.smMargin;
  for (ScheduleFields fields : enumerateRows(facts, chip)) {
    setForRequest(fields, request);
    if (!verifyOnTarget(fields, facts, chip))
      add(fields);
  }
}

void Enumerator::addWalks(ScheduleFields fields) {
  fields.blocksPerSM = 0;
  addIfLegal(fields);
  if (fields.cluster > 1)
    return;
  fields.blocksPerSM =
      chip.threadsPerMultiprocessor / (fields.rowGroups * fields.threadsPerRow);
  addIfLegal(fields);
}

void Enumerator::addDynamic() {
  for (int64_t threads = 2 * chip.subgroupSize;
       threads <= chip.maxThreadsPerBlock; threads *= 2)
    for (int64_t inFlight : {2, 4}) {
      ScheduleFields fields = base;
      fields.threadsPerRow = threads;
      fields.rowGroups = 1;
      fields.vectorsInFlight = inFlight;
      addWalks(fields);
    }
}

ScheduleCandidates mlir::rmsnorm::enumerateSchedules(const ProgramFacts &facts,
                                                     const ChipInfo &chip,
                                                     const Selection &chosen) {
  const ScheduleFields base = chosen.classes.empty()
                                  ? ScheduleFields()
                                  : chosen.classes.back().schedule;
  Enumerator enumerator(facts, chip, base);
  for (const RowClass &one : chosen.classes)
    enumerator.add(one.schedule);
  for (const RowClass &one : chosen.classes)
    enumerator.addChanged(one.schedule);
  if (facts.dynamicColumns)
    enumerator.addDynamic();
  else
    enumerator.addRows();
  const size_t refused = enumerator.countRefused();
  return {enumerator.take(), refused};
}
