// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Enumerate.cpp - the schedules for rows ---------------------------===//
//
// Every way of sharing out a row, and the sums over rows, that may be the best
// for some number of rows. What measurements have shown to be worth nothing is
// not among them (test/Schedule/Inputs): rows of one element width read again
// that registers hold and, of programs that sum nothing, several rows in flight
// and persistent blocks.
//
//===----------------------------------------------------------------------===//

#include "Resources.h"
#include "Selectors.h"

#include "RMSNorm/Schedule/CostModel.h"
#include "RMSNorm/Schedule/ScheduleSpace.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// Keeps the thread counts whose share of busy lanes is close to the best. With
/// one vector per thread no thread does more than another, so more threads may
/// idle. The same holds for rows within one subgroup, which waits for no other.
static SmallVector<int64_t> keepEven(SmallVector<int64_t> threads,
                                     int64_t vectors, const ChipInfo &chip) {
  llvm::sort(threads);
  threads.erase(llvm::unique(threads), threads.end());
  // In tenths of a percent, of the places for vectors in all threads.
  auto getShareInUse = [&](int64_t t) -> int64_t {
    return 1000 * vectors / (t * llvm::divideCeil(vectors, t));
  };
  int64_t best = 0;
  for (int64_t t : threads)
    best = std::max(best, getShareInUse(t));
  llvm::erase_if(threads, [&](int64_t t) {
    const bool mayIdle = t >= vectors || t == chip.subgroupSize;
    return 10 * getShareInUse(t) < (mayIdle ? 6 : 9) * best;
  });
  return threads;
}

SmallVector<int64_t> mlir::rmsnorm::getRowThreads(int64_t vectors,
                                                  const ChipInfo &chip,
                                                  int64_t least) {
  SmallVector<int64_t> threads;
  for (int64_t t = least; t <= chip.subgroupSize; t *= 2)
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
  return keepEven(std::move(threads), vectors, chip);
}

namespace {
/// The schedules of a program on a chip, as they are found.
class Space {
protected:
  Space(const ProgramFacts &facts, const ChipInfo &chip, int64_t width);

  /// Adds `fields` once, if they run on the chip. Returns whether they do.
  bool addGiven(const ScheduleFields &fields);
  /// The same of what follows from `fields` by the rules; with `sums`, if
  /// given, in place of what the rules say.
  bool add(ScheduleFields fields, NestedSchedule sums = {});

  /// Calls `add` with numbers of threads for rows that are taken apart, among
  /// them the most that share out a part evenly, and the fewest of which each
  /// needs one vector of a part at most: by the widest vectors, then,
  /// as long as it returns true, by vectors of half as many elements, which
  /// more threads can share out.
  void addParts(llvm::function_ref<bool(ArrayRef<int64_t>)> add);

  const ProgramFacts &facts;
  const ChipInfo &chip;
  /// The fields that all have.
  ScheduleFields base;
  /// Accesses of the widest kind in a row.
  const int64_t wholeVectors;
  /// What threads are counted by: vectors of a row or, where N allows no wide
  /// accesses, as many elements in several vectors.
  int64_t vectors;
  std::vector<ScheduleFields> schedules;
};

/// Of programs that sum over no rows.
class RowSpace : Space {
public:
  RowSpace(const ProgramFacts &facts, const ChipInfo &chip, int64_t width,
           bool all)
      : Space(facts, chip, width), all(all) {}

  std::vector<ScheduleFields> take();

private:
  /// A row in the registers of one block, of several rows, or of a cluster.
  void addHeld(int64_t cluster, ArrayRef<int64_t> threads);
  /// A row in the workgroup memory of a block or of a cluster.
  void addShared();
  void addReadAgain();

  /// Whether what is only worth a measurement is among them.
  bool all;
};
} // namespace

/// Elements of the widest accesses, or of those that a shorter row fills.
static int64_t getWholeWidth(const ProgramFacts &facts, const ChipInfo &chip) {
  int64_t width = getWidestVector(facts, chip);
  while (width / 2 >= facts.columns)
    width /= 2;
  return width;
}

/// Whether elements of 32 bits are accessed beside narrower ones, which one
/// vector cannot both take in an access.
static bool isMixed(const ProgramFacts &facts) {
  const int64_t bits = facts.loadedBitsPerColumn + facts.storedBitsPerColumn +
                       facts.columnOperandBits;
  return facts.wideBitsPerColumn > 0 && facts.wideBitsPerColumn < bits;
}

/// Whether vectors of several widths are worth comparing: in mixed rows, or
/// where nothing is reduced along a row, so that the number of threads is free.
/// Other programs gain next to nothing by other widths, and rows without wide
/// accesses lose.
static bool hasSeveralWidths(const ProgramFacts &facts, const ChipInfo &chip) {
  const bool isElementwise =
      facts.numReductions == 0 && facts.numColumnSums == 0;
  return !hasNarrowAccesses(facts, chip) && (isMixed(facts) || isElementwise);
}

SmallVector<int64_t, 3>
mlir::rmsnorm::getVectorWidths(const ProgramFacts &facts, const ChipInfo &chip,
                               bool all) {
  // Threads side by side access elements side by side, where a vector of them
  // each would be as many accesses 16 bytes apart. N says so for all variants,
  // which own the same columns.
  const int64_t whole = getWholeWidth(facts, chip);
  int64_t width = std::min(whole, getAccessWidth(facts, chip));
  while (facts.part % width != 0)
    width /= 2;
  SmallVector<int64_t, 3> widths = {width};
  // Rows that are taken apart have vectors of all widths, those whose size only
  // a call knows a guard for each.
  if (facts.part > 0 || facts.dynamicColumns ||
      (!all && !hasSeveralWidths(facts, chip)))
    return widths;
  // Half of an access of the widest kind. Two of them are never much better.
  if (width == whole && width > 1)
    widths.push_back(width / 2);
  if (all && 2 * width <= kMaxVectorWidth && width < facts.columns)
    widths.push_back(2 * width);
  return widths;
}

Space::Space(const ProgramFacts &facts, const ChipInfo &chip, int64_t width)
    : facts(facts), chip(chip),
      wholeVectors(
          llvm::divideCeil(facts.columns, getWholeWidth(facts, chip))) {
  base.vectorWidth = width;
  const bool isNarrow = hasNarrowAccesses(facts, chip) || facts.part > 0;
  vectors = llvm::divideCeil(
      facts.columns,
      isNarrow ? std::max(width, getWholeWidth(facts, chip)) : width);
}

void Space::addParts(llvm::function_ref<bool(ArrayRef<int64_t>)> add) {
  const int64_t widest = base.vectorWidth;
  SmallVector<int64_t> threads = getRowThreads(vectors, chip);
  for (; base.vectorWidth > 0; base.vectorWidth /= 2) {
    const int64_t shares = facts.part / base.vectorWidth;
    const int64_t most = std::min(shares & -shares, chip.maxThreadsPerBlock);
    // Some of those that are enough for all may have nothing of a part.
    const int64_t all = shares < chip.subgroupSize
                            ? int64_t(llvm::PowerOf2Ceil(shares))
                            : llvm::alignTo(shares, chip.subgroupSize);
    SmallVector<int64_t> some = {std::max<int64_t>(1, most / 2), most, all / 2,
                                 all};
    // Of parts that repeat each thread may have those of several repeats.
    const int64_t lanes = llvm::PowerOf2Ceil(shares);
    if (facts.getRepeats() > 1)
      for (int64_t each : {8, 6, 4, 3, 2, 1}) {
        const int64_t t = lanes * llvm::divideCeil(facts.getRepeats(), each);
        some.push_back(
            t < chip.subgroupSize
                ? int64_t(llvm::PowerOf2Ceil(t))
                : llvm::alignTo(t, std::max(chip.subgroupSize, lanes)));
      }
    for (int64_t t : some)
      if (t > 0 && t <= chip.maxThreadsPerBlock &&
          !llvm::is_contained(threads, t))
        threads.push_back(t);
    if (!add(threads))
      break;
    threads.clear();
  }
  base.vectorWidth = widest;
}

bool Space::addGiven(const ScheduleFields &fields) {
  if (verifyOnTarget(fields, facts, chip))
    return false;
  if (!llvm::is_contained(schedules, fields))
    schedules.push_back(fields);
  return true;
}

bool Space::add(ScheduleFields fields, NestedSchedule sums) {
  followRules(fields, facts, chip);
  if (sums)
    fields.sums = sums;
  return addGiven(fields);
}

/// Row groups of a block of one subgroup, and of four.
static SmallVector<int64_t>
getRowGroups(int64_t threads, const ProgramFacts &facts, const ChipInfo &chip) {
  SmallVector<int64_t> groups;
  if (threads >= chip.subgroupSize)
    groups.push_back(1);
  if (facts.singleRow)
    return groups;
  for (int64_t block : {chip.subgroupSize, 4 * chip.subgroupSize})
    if (const int64_t count = block / threads; count > 1)
      groups.push_back(count);
  return groups;
}

/// Rows that a thread has loads of in flight. Parts of rows are short, and what
/// is computed with them is loaded for several.
static SmallVector<int64_t> getRowsInFlight(int64_t threads,
                                            const ProgramFacts &facts,
                                            const ChipInfo &chip) {
  if (facts.part == 0 || facts.singleRow || threads >= chip.subgroupSize)
    return {1};
  return {1, 2, 4};
}

/// Whether threads can wait for loads of per-column operands that come with
/// those of the row: of whole vectors, on chips where that was ever measured,
/// whose L1 holds two vectors of each thread. Where not all vectors exist it
/// gains nothing, and where nothing is reduced all are waited for at once.
static bool mayAwait(const ScheduleFields &fields, const ProgramFacts &facts,
                     const ChipInfo &chip) {
  return chip.l1Bytes >= 2 * std::min(chip.accessBytes, kMaxAccessBytes) *
                             chip.threadsPerMultiprocessor &&
         facts.numReductions > 0 && !facts.dynamicColumns &&
         fields.cluster == 1 && facts.part == 0 &&
         !hasNarrowAccesses(facts, chip) &&
         facts.columnOperandBits + facts.sharedBitsPerColumn > 0;
}

void RowSpace::addHeld(int64_t cluster, ArrayRef<int64_t> threads) {
  const int64_t part = llvm::divideCeil(vectors, cluster);
  for (int64_t t : threads) {
    // Where only a call knows N, each element has a guard, and addresses of its
    // own in variants by elements: more than that spills (gfx942, sm_75). So do
    // narrow accesses to rows that are longer than offsets reach.
    const bool isLarge = 2 * t > chip.maxThreadsPerBlock;
    int64_t most = 8;
    if (facts.dynamicColumns)
      most = isLarge ? 0 : 4;
    else if (chip.offsetBytes < facts.columns * facts.narrowestBits / 8 &&
             hasNarrowAccesses(facts, chip))
      most = isLarge ? 2 : 4;
    if (facts.part == 0 && part > most * t)
      continue;
    for (int64_t groups : getRowGroups(t, facts, chip)) {
      if (cluster > 1 && groups > 1)
        continue;
      ScheduleFields fields = base;
      fields.cluster = cluster;
      fields.threadsPerRow = t;
      fields.rowGroups = groups;
      for (int64_t rows : getRowsInFlight(t, facts, chip)) {
        fields.rowsPerGroup = rows;
        // More would spill.
        if (estimateRegisters(fields, facts, chip) >
                getRegisterBudget(fields, chip) ||
            !add(fields) || !mayAwait(fields, facts, chip))
          continue;
        ScheduleFields awaited = schedules.back();
        awaited.columnOperands = ColumnOperands::awaited;
        awaited.constants = awaited.getDefaultConstants();
        addGiven(awaited);
      }
    }
  }
}

void RowSpace::addShared() {
  if (!chip.hasAsyncCopies || facts.part > 0)
    return;
  for (int64_t cluster = 1; cluster <= chip.maxClusterSize; cluster *= 2) {
    // Per-column operands wait beside eight vectors a thread in registers.
    const int64_t part = llvm::divideCeil(vectors, cluster);
    ScheduleFields fields = base;
    fields.cluster = cluster;
    fields.cache = Cache::shared;
    fields.threadsPerRow = std::min<int64_t>(
        llvm::alignTo(llvm::divideCeil(part, 8), chip.subgroupSize),
        chip.maxThreadsPerBlock / 2);
    if (fields.threadsPerRow < 4 * chip.subgroupSize)
      break;
    add(fields);
  }
}

void RowSpace::addReadAgain() {
  for (int64_t t : getRowThreads(vectors, chip)) {
    if (t < chip.subgroupSize)
      continue;
    ScheduleFields fields = base;
    fields.cache = Cache::reload;
    fields.threadsPerRow = t;
    add(fields);
  }
}

std::vector<ScheduleFields> RowSpace::take() {
  const int64_t most = chip.maxThreadsPerBlock, subgroup = chip.subgroupSize;
  if (facts.part > 0)
    addParts([&](ArrayRef<int64_t> threads) {
      addHeld(/*cluster=*/1, threads);
      return true;
    });
  else
    addHeld(
        /*cluster=*/1,
        getRowThreads(vectors, chip, facts.singleRow ? chip.subgroupSize : 1));
  // Rows that are reduced, over blocks of four subgroups and more, two at
  // least.
  if (facts.numReductions > 0 && vectors >= 8 * subgroup)
    for (int64_t cluster = 2; cluster <= chip.maxClusterSize; cluster *= 2) {
      SmallVector<int64_t> threads;
      for (int64_t each : {4, 2, 1}) {
        const int64_t t =
            llvm::alignTo(llvm::divideCeil(vectors, cluster * each), subgroup);
        if (t >= 4 * subgroup && t <= most / 2)
          threads.push_back(t);
      }
      addHeld(cluster, threads);
    }
  // What registers hold of a row of any size is there for the widest one.
  const bool isWide = schedules.empty() || wholeVectors > 2 * most;
  // What is held of a mixed row takes registers in which more of the wide
  // elements could be on their way. Few programs were measured so far: the
  // model does not compare them.
  const bool isWorthMeasuring =
      all && facts.numReductions > 0 && facts.part == 0 && isMixed(facts);
  if (isWide || facts.dynamicColumns || isWorthMeasuring)
    addReadAgain();
  if (isWide)
    addShared();
  // A row by the largest block that every program has registers for.
  if (schedules.empty()) {
    base.cache = Cache::reload;
    base.threadsPerRow = most / 2;
    followRules(base, facts, chip);
    schedules.push_back(base);
  }
  return std::move(schedules);
}

namespace {
/// The schedules of a program that sums over rows. Either each block adds up
/// the rows that it works on and leaves a row of partial sums, or other blocks
/// own columns, and add them up over all rows.
class SumsSpace : Space {
public:
  SumsSpace(const ProgramFacts &facts, const ChipInfo &chip, int64_t width)
      : Space(facts, chip, width), leastThreads(8 * chip.subgroupSize) {}

  std::vector<ScheduleFields> take();

private:
  /// Persistent blocks, `cluster` of them for a row, of so many threads each.
  void addPersistent(int64_t cluster, ArrayRef<int64_t> threads);
  /// With rows in registers.
  void addHeld(ScheduleFields fields);
  /// With rows copied ahead into workgroup memory.
  void addRings(ScheduleFields fields);
  /// Blocks that own columns, in the launch of those that own rows.
  void addColumns();
  /// So many threads that add up their columns over all rows, of one, two or
  /// four sectors of memory a row.
  SmallVector<ScheduleFields> getColumnBlocks(int64_t threads,
                                              int64_t width) const;
  /// Rows as if nothing were summed, then the sums in strips of columns.
  void addStrips();
  /// The same of a program that only sums.
  ScheduleFields getStrips() const;

  /// Whether copies ahead are worth trying: where a copy needs no registers.
  /// The shortest such copy takes 4 bytes.
  bool mayRing() const {
    return chip.hasAsyncCopies && !facts.singleRow && facts.columns > 1 &&
           facts.loadedBitsPerColumn > 0 &&
           getAccessWidth(facts, chip) * facts.narrowestBits >= 32;
  }

  /// Of persistent blocks with rows in registers.
  int64_t leastThreads;
};
} // namespace

void SumsSpace::addPersistent(int64_t cluster, ArrayRef<int64_t> threads) {
  for (int64_t t : threads) {
    ScheduleFields fields = base;
    fields.cluster = cluster;
    fields.threadsPerRow = t;
    addHeld(fields);
    if (mayRing())
      addRings(fields);
  }
}

void SumsSpace::addHeld(ScheduleFields fields) {
  // These vectors have as many elements as one access takes.
  const int64_t vectorsPerThread = countVectors(fields, facts);
  // Blocks of so many threads and more, and of one row group where that has as
  // many.
  const bool oneGroup = facts.singleRow || fields.cluster > 1;
  for (int64_t block : {leastThreads, 2 * leastThreads}) {
    if (block != leastThreads && (block < fields.threadsPerRow || oneGroup))
      continue;
    fields.rowGroups =
        oneGroup ? 1 : std::max<int64_t>(1, block / fields.threadsPerRow);
    // Three vectors of each thread of the largest block spill, by elements
    // (7168 bf16, gfx950).
    if (fields.rowGroups > 1 && vectorsPerThread > 2 &&
        fields.getBlockThreads() > chip.maxThreadsPerBlock / 2)
      continue;
    for (int64_t blocks : {1, 2, 4}) {
      fields.blocksPerSM = blocks;
      fields.rowsPerGroup = 1;
      add(fields);
      fields.rowsPerGroup = 2;
      // Two rows of each thread of the largest block spill (8192 and 16384
      // bf16, gfx942 and gfx950).
      if (!oneGroup && 2 * vectorsPerThread <= 4 &&
          fields.getBlockThreads() <= chip.maxThreadsPerBlock / 2)
        add(fields);
    }
  }
}

void SumsSpace::addRings(ScheduleFields fields) {
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
      for (; fields.stages <= (blocks == 1 ? 3 : 2); ++fields.stages)
        add(fields);
    }
}

SmallVector<ScheduleFields> SumsSpace::getColumnBlocks(int64_t threads,
                                                       int64_t width) const {
  SmallVector<ScheduleFields> schedules;
  ScheduleFields fields;
  fields.columnSums = ColumnSums::all_rows;
  fields.cache = Cache::reload;
  fields.vectorWidth = width;
  for (int64_t bytes : {32, 64, 128})
    for (int64_t rows : {4, 8}) {
      const int64_t lanes =
          8 * bytes / (fields.vectorWidth * facts.sumsNarrowestBits);
      if (lanes == 0 || threads % lanes != 0)
        continue;
      fields.threadsPerRow = lanes;
      fields.rowGroups = threads / lanes;
      fields.rowsPerGroup = rows;
      followRules(fields, facts.getSumsFacts(), chip);
      schedules.push_back(fields);
    }
  return schedules;
}

ScheduleFields SumsSpace::getStrips() const {
  ScheduleFields fields = selectStrips(facts, chip);
  fields.vectorWidth = base.vectorWidth;
  followRules(fields, facts, chip);
  return fields;
}

void SumsSpace::addColumns() {
  if (!facts.independentSums)
    return;
  if (facts.numReductions == 0) {
    for (const ScheduleFields &fields :
         getColumnBlocks(8 * chip.subgroupSize, base.vectorWidth))
      add(fields);
    add(getStrips());
    return;
  }
  ProgramFacts rows = facts;
  rows.numColumnSums = 0;
  const int64_t width = getVectorWidths(facts, chip, /*all=*/false).front();
  for (ScheduleFields fields : enumerateRows(rows, chip, base.vectorWidth)) {
    const int64_t threads = fields.getBlockThreads();
    // Rows that no registers hold are many bytes: strips keep more blocks busy.
    if (fields.cluster > 1 || fields.cache != Cache::registers ||
        fields.columnOperands == ColumnOperands::awaited ||
        threads < 4 * chip.subgroupSize || threads > 16 * chip.subgroupSize)
      continue;
    fields.columnSums = ColumnSums::strips;
    for (const ScheduleFields &sums : getColumnBlocks(threads, width))
      add(fields, sums);
    // Twice as many threads add up a column beside twice as many rows a block.
    if (fields.rowGroups == 1 || fields.threadsPerRow > 2 * chip.subgroupSize)
      continue;
    fields.rowGroups *= 2;
    for (const ScheduleFields &sums : getColumnBlocks(2 * threads, width))
      add(fields, sums);
  }
}

void SumsSpace::addStrips() {
  if (facts.numReductions == 0)
    return schedules.push_back(getStrips());
  ProgramFacts rows = facts;
  rows.numColumnSums = 0;
  std::optional<ScheduleFields> first;
  for (ScheduleFields fields : enumerateRows(rows, chip, base.vectorWidth)) {
    // Two rows, of x and dy, that the largest block reads again by elements
    // spill (gfx1100).
    if (fields.cache == Cache::reload)
      fields.threadsPerRow =
          std::min(fields.threadsPerRow, chip.maxThreadsPerBlock / 2);
    fields.columnSums = ColumnSums::strips;
    add(fields);
    first = first ? first : fields;
  }
  if (!schedules.empty())
    return;
  followRules(*first, facts, chip);
  schedules.push_back(*first);
}

std::vector<ScheduleFields> SumsSpace::take() {
  auto getThreads = [&](int64_t cluster) {
    return getRowThreads(llvm::divideCeil(vectors, cluster), chip,
                         facts.singleRow ? chip.subgroupSize : 1);
  };
  // Parts of few threads may need more registers than larger blocks have.
  for (;
       facts.part > 0 && schedules.empty() && leastThreads >= chip.subgroupSize;
       leastThreads /= 2)
    addParts([&](ArrayRef<int64_t> threads) {
      addPersistent(/*cluster=*/1, threads);
      return schedules.empty();
    });
  if (facts.part == 0)
    addPersistent(/*cluster=*/1, getThreads(1));
  // Clusters that leave two vectors for each thread of eight subgroups.
  for (int64_t cluster = 2;
       !facts.dynamicColumns && cluster <= chip.maxClusterSize &&
       16 * cluster * chip.subgroupSize <= vectors;
       cluster *= 2)
    addPersistent(cluster, getThreads(cluster));
  // Strips of wide rows are candidates everywhere, so that the cost model,
  // which was fitted on a chip that holds such rows, compares them.
  if (schedules.empty() || wholeVectors > 2 * chip.maxThreadsPerBlock)
    addStrips();
  if (!facts.dynamicColumns)
    addColumns();
  return std::move(schedules);
}

std::vector<ScheduleFields>
mlir::rmsnorm::enumerateRows(const ProgramFacts &facts, const ChipInfo &chip,
                             int64_t width, bool all) {
  return facts.numColumnSums > 0 ? SumsSpace(facts, chip, width).take()
                                 : RowSpace(facts, chip, width, all).take();
}

std::vector<ScheduleFields>
mlir::rmsnorm::enumerateRows(const ProgramFacts &facts, const ChipInfo &chip,
                             bool all) {
  const SmallVector<int64_t, 3> widths = getVectorWidths(facts, chip, all);
  std::vector<ScheduleFields> schedules =
      enumerateRows(facts, chip, widths.front(), all);
  // A program whose rows no vectors of the first width share out has one that
  // takes any row; it needs no other.
  for (int64_t width : ArrayRef(widths).drop_front())
    for (const ScheduleFields &fields : enumerateRows(facts, chip, width, all))
      if (!verifyOnTarget(fields, facts, chip))
        schedules.push_back(fields);
  return schedules;
}

std::vector<ScheduleFields>
mlir::rmsnorm::enumerateLike(const ScheduleFields &given,
                             const ProgramFacts &facts, const ChipInfo &chip) {
  ScheduleRequest request;
  request.alignment = given.alignment;
  request.smMargin = given.smMargin;
  std::vector<ScheduleFields> schedules =
      enumerateRows(facts, chip, /*all=*/true);
  for (ScheduleFields &fields : schedules)
    setForRequest(fields, request);
  return schedules;
}

std::vector<ScheduleFields> mlir::rmsnorm::enumerateSchedules(
    const ProgramFacts &facts, const ChipInfo &chip, const Selection &chosen) {
  std::vector<ScheduleFields> schedules;
  auto add = [&](const ScheduleFields &schedule) {
    if (!llvm::is_contained(schedules, schedule))
      schedules.push_back(schedule);
  };
  for (const RowClass &one : chosen.classes)
    add(one.schedule);
  const ScheduleFields last = chosen.classes.empty()
                                  ? ScheduleFields()
                                  : chosen.classes.back().schedule;
  llvm::for_each(enumerateLike(last, facts, chip), add);
  return schedules;
}
