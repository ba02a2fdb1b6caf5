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
  void addStatic();
  /// Persistent blocks that add up their rows in registers.
  void addSums();

  std::vector<ScheduleFields> take() { return std::move(schedules); }
  size_t countRefused() const { return refused.size(); }

private:
  /// As many vectors in each block of a cluster.
  void addStatic(int64_t vectors, int64_t cluster);
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
  SmallVector<int64_t> getThreads(int64_t vectors) const;
  SmallVector<int64_t> getRowGroups(int64_t threads) const;
  int64_t getMaxRowsPerGroup(int64_t threads, int64_t vectorsPerThread) const;

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

/// Numbers of threads that share out the vectors of a row about evenly.
SmallVector<int64_t> Enumerator::getThreads(int64_t vectors) const {
  SmallVector<int64_t> threads;
  for (int64_t t = 1; t <= chip.subgroupSize; t *= 2)
    if (t < 2 * vectors && llvm::divideCeil(vectors, t) <= 4)
      threads.push_back(t);
  for (int64_t each : {8, 6, 4, 3, 2, 1}) {
    int64_t t =
        llvm::alignTo(llvm::divideCeil(vectors, each), chip.subgroupSize);
    if (t <= chip.maxThreadsPerBlock)
      threads.push_back(t);
  }
  // Rows beyond that: the two largest blocks.
  if (vectors > 8 * chip.maxThreadsPerBlock)
    threads.append({chip.maxThreadsPerBlock / 2, chip.maxThreadsPerBlock});
  llvm::sort(threads);
  threads.erase(llvm::unique(threads), threads.end());
  // In tenths of a percent, of the places for vectors in all threads.
  auto getShareInUse = [&](int64_t t) -> int64_t {
    return 1000 * vectors / (t * llvm::divideCeil(vectors, t));
  };
  int64_t best = 0;
  for (int64_t t : threads)
    best = std::max<int64_t>(best, getShareInUse(t));
  llvm::erase_if(threads,
                 [&](int64_t t) { return 10 * getShareInUse(t) < 9 * best; });
  return threads;
}

/// Up to 4 or 8 subgroups a block.
SmallVector<int64_t> Enumerator::getRowGroups(int64_t threads) const {
  SmallVector<int64_t> groups;
  if (threads >= chip.subgroupSize)
    groups.push_back(1);
  for (int64_t block : {4 * chip.subgroupSize, 8 * chip.subgroupSize})
    if (int64_t g = block / threads;
        threads < 4 * chip.subgroupSize && g > 1 && !facts.singleRow)
      groups.push_back(g);
  return groups;
}

int64_t Enumerator::getMaxRowsPerGroup(int64_t threads,
                                       int64_t vectorsPerThread) const {
  if (facts.singleRow || threads >= 4 * chip.subgroupSize ||
      countVectors() > 4 * chip.maxThreadsPerBlock)
    return 1;
  return std::max<int64_t>(1, 4 / vectorsPerThread);
}

void Enumerator::addStatic() {
  const int64_t vectors = countVectors();
  addStatic(vectors, /*cluster=*/1);
  // Rows of more vectors than four a thread of the largest block: clusters that
  // leave a vector for each of its threads.
  if (vectors > 4 * chip.maxThreadsPerBlock)
    for (int64_t cluster = 2; cluster <= chip.maxClusterSize &&
                              cluster * chip.maxThreadsPerBlock <= vectors;
         cluster *= 2)
      addStatic(llvm::divideCeil(vectors, cluster), cluster);
}

void Enumerator::addStatic(int64_t vectors, int64_t cluster) {
  for (int64_t threads : getThreads(vectors)) {
    const int64_t each = llvm::divideCeil(vectors, threads);
    for (int64_t groups : getRowGroups(threads)) {
      if (cluster > 1 && groups > 1)
        continue;
      ScheduleFields fields = base;
      fields.cluster = cluster;
      fields.blocksPerSM = 0;
      fields.threadsPerRow = threads;
      fields.rowGroups = groups;
      fields.cache = Cache::registers;
      for (int64_t u = 1; u <= getMaxRowsPerGroup(threads, each); u *= 2) {
        fields.rowsPerGroup = u;
        addWalks(fields);
      }
      fields.rowsPerGroup = 1;
      // Rows that registers hold with difficulty, each in the workgroup memory
      // of as many blocks as share it.
      if (countVectors() > 4 * chip.maxThreadsPerBlock && chip.hasAsyncCopies &&
          each <= 8) {
        fields.cache = Cache::shared;
        addIfLegal(fields);
      }
      if (threads <= chip.subgroupSize || each < 2)
        continue;
      fields.cache = Cache::reload;
      for (int64_t inFlight = 2; inFlight == 2 || 2 * inFlight <= each;
           inFlight *= 2) {
        if (inFlight > 8)
          break;
        fields.vectorsInFlight = inFlight;
        addWalks(fields);
      }
    }
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
  for (int64_t threads : getThreads(vectors)) {
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
  const ScheduleFields &base = chosen.classes.back().schedule;
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
    enumerator.addStatic();
  const size_t refused = enumerator.countRefused();
  return {enumerator.take(), refused};
}
