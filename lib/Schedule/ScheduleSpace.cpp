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
  /// Persistent blocks that add up their rows in registers.
  void addSums();

  std::vector<ScheduleFields> take() { return std::move(schedules); }
  size_t countRefused() const { return refused.size(); }

private:
  /// As many vectors in each block of a cluster.
  void addSums(int64_t vectors, int64_t cluster);
  /// Of a row group, its threads and blocks.
  void addSums(ScheduleFields fields, int64_t vectorsPerThread);
  /// With rows copied ahead by so many threads each.
  void addRings(ScheduleFields fields, int64_t vectors);
  /// With one tile a block, and with as many blocks as a multiprocessor holds.
  void addWalks(ScheduleFields fields);
  bool addIfLegal(ScheduleFields fields);
  /// Whether copies ahead are worth trying: on chips where a copy needs no
  /// registers.
  bool mayRing() const { return chip.hasAsyncCopies && !facts.singleRow; }
  /// Of 16 bytes, in a row: what threads are counted by, however few of them
  /// an access takes.
  int64_t countVectors() const {
    return llvm::divideCeil(facts.columns, getWidestVector(facts, chip));
  }

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
  if (chosen.cache != Cache::shared)
    return;
  fields = chosen;
  fields.copy = chosen.copy == CopyCache::ca ? CopyCache::cg : CopyCache::ca;
  addIfLegal(fields);
}

void Enumerator::addRows() {
  ProgramFacts rows = facts;
  rows.numColumnSums = 0;
  for (ScheduleFields fields : enumerateRows(rows, chip)) {
    fields.alignment = base.alignment;
    fields.smMargin = base.smMargin;
    fields.columnSums = base.columnSums;
    fields.sums = base.sums;
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

void Enumerator::addSums() {
  const int64_t vectors = countVectors();
  addSums(vectors, /*cluster=*/1);
  // Clusters that leave two vectors for each thread of eight subgroups.
  for (int64_t cluster = 2; cluster <= chip.maxClusterSize &&
                            16 * cluster * chip.subgroupSize <= vectors;
       cluster *= 2)
    addSums(llvm::divideCeil(vectors, cluster), cluster);
}

void Enumerator::addSums(int64_t vectors, int64_t cluster) {
  for (int64_t threads : getRowThreads(vectors, chip)) {
    // Blocks of eight subgroups and more, and of one row group where that has
    // as many.
    for (int64_t block : {8 * chip.subgroupSize, 16 * chip.subgroupSize}) {
      const bool oneGroup = facts.singleRow || cluster > 1;
      if (block != 8 * chip.subgroupSize && (block < threads || oneGroup))
        continue;
      // More than four vectors a thread: only where no cluster is larger.
      if (cluster > 1 && cluster < chip.maxClusterSize && vectors > 4 * threads)
        continue;
      ScheduleFields fields = base;
      fields.cluster = cluster;
      fields.threadsPerRow = threads;
      fields.rowGroups = oneGroup ? 1 : std::max<int64_t>(1, block / threads);
      for (int64_t blocks : {1, 2, 4}) {
        if (blocks == 4 && mayRing())
          continue;
        fields.blocksPerSM = blocks;
        addSums(fields, llvm::divideCeil(vectors, threads));
      }
    }
    ScheduleFields ring = base;
    ring.cluster = cluster;
    ring.threadsPerRow = threads;
    if (mayRing())
      addRings(ring, vectors);
  }
}

void Enumerator::addRings(ScheduleFields fields, int64_t vectors) {
  fields.cache = Cache::shared;
  fields.rowsPerGroup = vectors <= chip.subgroupSize ? 2 : 1;
  // About as many bytes on their way to a multiprocessor as its share of the
  // memory's speed in the time that a load takes; wide rows are more.
  constexpr int64_t least = 24 << 10, most = 48 << 10;
  for (int64_t blocks : {1, 2})
    for (int64_t groups : {1, 2, 3, 4, 6, 8, 16}) {
      if (groups > 1 && fields.cluster > 1)
        break;
      fields.blocksPerSM = blocks;
      fields.rowGroups = groups;
      fields.stages = 2;
      const int64_t bytes = blocks * getSlotBytes(fields, facts);
      const bool alone = blocks == 1 && groups == 1;
      // Nor do more threads than the largest block has hide anything.
      if (bytes < least || (bytes > most && !alone) ||
          blocks * groups * fields.threadsPerRow > chip.maxThreadsPerBlock)
        continue;
      for (; fields.stages <= (alone ? 4 : 3); ++fields.stages)
        addIfLegal(fields);
    }
}

void Enumerator::addSums(ScheduleFields fields, int64_t vectorsPerThread) {
  fields.stages = 0;
  fields.copy = CopyCache::ca;
  fields.rowsPerGroup = 1;
  fields.cache = Cache::registers;
  bool held = addIfLegal(fields);
  if (held && !facts.singleRow && fields.cluster == 1) {
    for (int64_t rows = 2; rows * vectorsPerThread <= 4; rows *= 2) {
      fields.rowsPerGroup = rows;
      addIfLegal(fields);
    }
    fields.rowsPerGroup = 1;
  }
  fields.cache = Cache::reload;
  fields.vectorsInFlight = 4;
  if (!held && !mayRing() && vectorsPerThread >= 4)
    addIfLegal(fields);
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
  else if (facts.numColumnSums > 0 && base.columnSums == ColumnSums::registers)
    enumerator.addSums();
  else
    enumerator.addRows();
  const size_t refused = enumerator.countRefused();
  return {enumerator.take(), refused};
}
