// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScheduleSelector.cpp - the choice of a schedule -------------------===//

#include "ScheduleSelector.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// Vectors a thread owns of a row of `columns` columns.
static int64_t getVectorsPerThread(int64_t columns, int64_t threadsPerRow,
                                   int64_t vectorWidth) {
  return llvm::divideCeil(columns, threadsPerRow * vectorWidth);
}

ScheduleFields::ScheduleFields(ScheduleAttr schedule)
    : rowGroups(schedule.getRowGroups()),
      rowsPerGroup(schedule.getRowsPerGroup()),
      threadsPerRow(schedule.getThreadsPerRow()),
      vectorWidth(schedule.getVectorWidth()),
      vectorsInFlight(schedule.getVectorsInFlight()),
      cache(schedule.getCache()), alignment(schedule.getAlignment()),
      cluster(schedule.getCluster()), blocksPerSM(schedule.getBlocksPerSm()),
      columnSums(schedule.getColumnSums()), pdl(schedule.getPdl()),
      stages(schedule.getStages()), copy(schedule.getCopy()) {
  assert(getChecked(
             [&] { return emitError(UnknownLoc::get(schedule.getContext())); },
             schedule.getContext()) == schedule &&
         "expected all fields of the schedule above");
}

/// Rows of several subgroups.
static void selectWideRow(ScheduleFields &fields, const ProgramFacts &facts,
                          const ChipInfo &chip, int64_t vectors) {
  const int64_t subgroup = chip.subgroupSize;
  // Rows that L1 does not hold: a cluster keeps them in workgroup memory, each
  // block up to 64 KB of a row. Clusters of more than 8 are not portable, and a
  // device takes fewer of them.
  const int64_t rowBytes = facts.columns * facts.liveBytesPerColumn;
  if (chip.maxClusterSize > 1 && chip.vendor == Vendor::Nvidia &&
      rowBytes > (192 << 10)) {
    while (fields.cluster < std::min<int64_t>(chip.maxClusterSize, 8) &&
           rowBytes > fields.cluster * (32 << 10))
      fields.cluster *= 2;
    while (fields.cluster < chip.maxClusterSize &&
           rowBytes > fields.cluster * (64 << 10))
      fields.cluster *= 2;
    vectors = llvm::divideCeil(vectors, fields.cluster);
    // Eight vectors a thread: the weight waits beside them in registers, and 32
    // subgroups on a multiprocessor hide each other's waits (16384x131072: 0.97
    // in 8 blocks of 256 threads, 0.83 of 512, 0.87 in 16 of 256, 0.87 when the
    // row is read again; 8192x262144: 0.94, 0.84 when it is read again). Past
    // L1 where its share is small (8192x262144: 2114 us, through it 2134).
    fields.cache = Cache::shared;
    fields.threadsPerRow =
        std::min<int64_t>(llvm::alignTo(llvm::divideCeil(vectors, 8), subgroup),
                          chip.maxThreadsPerBlock / 2);
    if (facts.numColumnSums == 0 && holdsRings(fields, facts, chip)) {
      if (rowBytes > fields.cluster * (32 << 10))
        fields.copy = CopyCache::cg;
      return;
    }
  }
  // About two vectors a thread, in whole subgroups (32768x1024: 64 threads
  // 0.99, 128 threads 0.94), up to half of the largest block (32768x16384: 512
  // threads 0.985, 1024 threads 0.955).
  auto threads = [&](int64_t most) {
    int64_t subgroups = (vectors + subgroup) / (2 * subgroup);
    return std::clamp(subgroups * subgroup, 2 * subgroup, most);
  };
  fields.threadsPerRow = threads(chip.maxThreadsPerBlock / 2);

  if (chip.vendor == Vendor::Nvidia) {
    // The second read of the row hits L1 and beats keeping it at every width
    // (32768x2048: 0.99 read again, 0.98 in registers; x4096: 1.00 and 0.97;
    // x7168: 0.985 and 0.92).
    fields.cache = Cache::reload;
    // Rows of more than half of L1: one block a multiprocessor, so that rows
    // do not evict one another (8192x65536: 0.98 with 1024 threads, 0.67 with
    // 512; a cluster of 4 gets 0.905).
    if (rowBytes > fields.cluster * (64 << 10))
      fields.threadsPerRow = threads(chip.maxThreadsPerBlock);
    return;
  }

  // AMD chips, not measured: their L1 is smaller than the rows in flight.
  // Registers hold a row as long as 32 values a thread suffice.
  auto fits = [&] {
    return fields.vectorWidth * getVectorsPerThread(facts.columns,
                                                    fields.threadsPerRow,
                                                    fields.vectorWidth) <=
           32;
  };
  if (!fits())
    fields.threadsPerRow = threads(chip.maxThreadsPerBlock);
  if (!fits()) {
    fields.cache = Cache::reload;
    // Two rows, of x and dy, that 1024 threads read by elements spill
    // (gfx1100).
    if (facts.numColumnSums > 0)
      fields.threadsPerRow = threads(chip.maxThreadsPerBlock / 2);
  }
}

/// Subgroups of rows whose size is known only at a call, by class of N: what is
/// best at one size is far off at another (us, forward of 32768 rows of bf16 on
/// an H200 by 1, 2, 4, 8 and 16 subgroups: x1024 34.5, 40.9, 46.0, 82.9, 163;
/// x4096 182, 142, 134, 159, 204; 16384x12288 -, 285, 234, 193, 241). Programs
/// that sum over rows are two loops, and as many kernels for each class: fewer.
static SmallVector<int64_t, 4> getDynamicSubgroups(const ProgramFacts &facts) {
  if (facts.numColumnSums > 0)
    return {1, 4, 8};
  return {1, 2, 4, 8, 16};
}

/// Columns of six vectors a thread: where a class of N ends.
static int64_t getColumnBound(const ProgramFacts &facts, int64_t threads) {
  return 6 * threads * getWidestVector(facts);
}

SmallVector<int64_t, 3>
mlir::rmsnorm::getColumnBounds(const ProgramFacts &facts,
                               const ChipInfo &chip) {
  if (!facts.hasDynamicColumns())
    return {kAnyColumns};
  const SmallVector<int64_t, 4> classes = getDynamicSubgroups(facts);
  SmallVector<int64_t, 3> bounds;
  for (int64_t subgroups : ArrayRef(classes).drop_back())
    bounds.push_back(getColumnBound(facts, subgroups * chip.subgroupSize));
  bounds.push_back(kAnyColumns);
  return bounds;
}

static void selectDynamicRow(ScheduleFields &fields, const ProgramFacts &facts,
                             const ChipInfo &chip) {
  // None may fit anywhere: read the row again.
  fields.cache = Cache::reload;
  const SmallVector<int64_t, 4> classes = getDynamicSubgroups(facts);
  const int64_t *subgroups = llvm::find_if(classes, [&](int64_t count) {
    return facts.maxColumns <= getColumnBound(facts, count * chip.subgroupSize);
  });
  if (subgroups == classes.end())
    --subgroups;
  fields.threadsPerRow =
      std::min(*subgroups * chip.subgroupSize, chip.maxThreadsPerBlock);
  if (*subgroups == 1 && !facts.singleRow)
    fields.rowGroups = 4;
  if (facts.numColumnSums > 0)
    fields.columnSums = ColumnSums::strips;
}

/// Rows enough to fill the machine several times.
static ScheduleFields selectManyRows(const ProgramFacts &facts,
                                     const ChipInfo &chip) {
  ScheduleFields fields;
  const int64_t subgroup = chip.subgroupSize;
  // 16 bytes of the narrowest operand: its accesses are as wide as the machine
  // has, those of wider operands are several of that width.
  fields.vectorWidth = getWidestVector(facts);
  // Hides the launch behind the end of the kernel before: 0.3 to 0.6 us a
  // launch, 5 to 10% below 20 us, nothing lost from 100 us up.
  fields.pdl = chip.hasDependentLaunch;

  if (facts.hasDynamicColumns()) {
    selectDynamicRow(fields, facts, chip);
    return fields;
  }

  // A row shorter than a vector: no wider than it needs to be.
  while (fields.vectorWidth / 2 >= facts.columns)
    fields.vectorWidth /= 2;
  const int64_t vectors = llvm::divideCeil(facts.columns, fields.vectorWidth);

  if (facts.numColumnSums > 0) {
    ScheduleFields ring = fields;
    if (selectRing(ring, facts, chip, vectors))
      return ring;
    // The smallest cluster whose blocks hold their part of the row and the sums
    // over it in registers, else the smallest whose blocks hold the sums. Not
    // measured; the hand-written kernels have the same clusters for 16384 to
    // 131072 columns of bf16, with rows in workgroup memory.
    for (bool reload : {false, true})
      for (int64_t cluster = 1; cluster <= chip.maxClusterSize; cluster *= 2) {
        ScheduleFields persistent = fields;
        persistent.cluster = cluster;
        if (selectPersistent(persistent, facts, chip,
                             llvm::divideCeil(vectors, cluster)) &&
            (reload || persistent.cache == Cache::registers))
          return persistent;
      }
    // The rows as if nothing were summed, the sums in strips.
    fields.columnSums = ColumnSums::strips;
  }

  // Figures: bf16 on an H200, share of the speed of a copy of the same bytes,
  // CUDA-graph replays over more memory than L2 holds.
  if (vectors <= subgroup) {
    // A subgroup or less a row: no barrier; four subgroups a block, and two
    // rows in flight to hide one another's loads (262144x128: 0.98, with one
    // row in flight 0.96; one row a block is 0.24).
    fields.threadsPerRow = llvm::PowerOf2Ceil(vectors);
    fields.rowGroups = 4 * subgroup / fields.threadsPerRow;
    fields.rowsPerGroup = 2;
  } else if (vectors <= 5 * subgroup) {
    // Two subgroups a row, two rows in flight. A grid of dependent launches
    // gets 0.8 blocks a nanosecond started, so that a block must be worth it:
    // two row groups up to 768 columns (32768x512: 17.6 us, with one 20.5;
    // 32768x1024 with one: 33.5, one row in flight 40.4).
    fields.threadsPerRow = 2 * subgroup;
    fields.rowGroups = vectors <= 3 * subgroup ? 2 : 1;
    fields.rowsPerGroup = 2;
  } else {
    selectWideRow(fields, facts, chip, vectors);
  }
  if (facts.singleRow) {
    fields.threadsPerRow = std::max(fields.threadsPerRow, subgroup);
    fields.rowGroups = fields.rowsPerGroup = 1;
  }
  return fields;
}

/// Few rows, `many` being the choice for more.
static std::optional<RowClass> selectFewRows(const ProgramFacts &facts,
                                             const ChipInfo &chip,
                                             const ScheduleFields &many) {
  // Reading a row again pays because registers saved are blocks more on a
  // multiprocessor; with few blocks only the second latency is left.
  if (chip.vendor != Vendor::Nvidia || many.cache != Cache::reload ||
      facts.hasDynamicColumns() || facts.numColumnSums > 0)
    return std::nullopt;
  // Four vectors a thread (us on an H200, in registers by 4 vectors a thread
  // and read again by 2: 1x4096 1.19 and 1.31; 128x8192 3.12 and 3.74).
  RowClass few{0, many};
  few.fields.cache = Cache::registers;
  const int64_t part = ScheduleAttr::getPartColumns(facts.columns, many.cluster,
                                                    many.vectorWidth);
  const int64_t vectors = llvm::divideCeil(part, many.vectorWidth);
  const int64_t threads =
      llvm::alignTo(llvm::divideCeil(vectors, 4), chip.subgroupSize);
  if (threads > chip.maxThreadsPerBlock)
    return std::nullopt;
  few.fields.threadsPerRow = std::max<int64_t>(threads, 4 * chip.subgroupSize);
  few.fields.rowGroups = 1;
  const int64_t values =
      many.vectorWidth *
      getVectorsPerThread(part, few.fields.threadsPerRow, many.vectorWidth);
  if (values * facts.liveBytesPerColumn >
      std::min<int64_t>(256, chip.registersPerMultiprocessor /
                                 few.fields.threadsPerRow))
    return std::nullopt;
  // Up to 16 MB (us at 16 and 32 MB: N = 2048 9.66 and 17.42, read again 10.22
  // and 17.26; N = 4096 9.85 and 17.83, 10.05 and 17.47). Large blocks balance
  // badly: one on each multiprocessor (N = 16384: 128 rows 4.66 and 5.62, 512
  // rows 11.35 and 9.95).
  few.lastRow =
      threads > 8 * chip.subgroupSize
          ? chip.multiprocessors / many.cluster
          : (16 << 20) /
                std::max<int64_t>(1, facts.columns * facts.liveBytesPerColumn);
  return few;
}

int64_t mlir::rmsnorm::getWidestVector(const ProgramFacts &facts) {
  return 16 / facts.narrowestBytes;
}

int64_t mlir::rmsnorm::getAccessWidth(const ProgramFacts &facts) {
  const int64_t widest = getWidestVector(facts);
  if (facts.hasDynamicColumns())
    return widest;
  return std::min(widest, facts.columns & -facts.columns);
}

/// Makes a thread own no more neighbouring columns than one access can take
/// where N is no multiple of 16 bytes. Threads side by side then access
/// elements side by side, where eight of each would be as many accesses 16
/// bytes apart (us on an H200, single elements and eight: forward of 32768x1023
/// 38.0 and 124, x4095 150 and 511, by two x1022 33.9 and 37.0; backward x1023
/// 67.2 and 187). N says so for all variants, which own the same columns.
static void narrowVectors(ScheduleFields &fields, const ProgramFacts &facts,
                          const ChipInfo &chip) {
  const int64_t width = getAccessWidth(facts);
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
    if (held && width * facts.narrowestBytes < 4)
      fields.cache = Cache::registers;
    else if (!held)
      fields.cache = Cache::reload;
  }
  if (fields.cache == Cache::reload)
    fields.vectorsInFlight =
        std::min<int64_t>(8, fields.vectorsInFlight * wide / width);
}

SmallVector<RowClass, 2>
mlir::rmsnorm::selectSchedules(const ProgramFacts &facts,
                               const ChipInfo &chip) {
  SmallVector<RowClass, 2> classes;
  ScheduleFields many = selectManyRows(facts, chip);
  if (std::optional<RowClass> few = selectFewRows(facts, chip, many))
    classes.push_back(*few);
  classes.push_back({kAnyRows, many});
  for (RowClass &one : classes)
    narrowVectors(one.fields, facts, chip);
  return classes;
}

ScheduleAttr
ScheduleFields::getChecked(function_ref<InFlightDiagnostic()> emitError,
                           MLIRContext *context) const {
  return ScheduleAttr::getChecked(emitError, context, rowGroups, rowsPerGroup,
                                  threadsPerRow, vectorWidth, vectorsInFlight,
                                  cache, alignment, cluster, blocksPerSM,
                                  columnSums, pdl, stages, copy);
}

/// Row groups for a block of the size that was chosen, `blockThreads`; rows of
/// a part of a subgroup fill four.
static int64_t getRowGroups(const ScheduleFields &fields, int64_t blockThreads,
                            const ProgramFacts &facts, const ChipInfo &chip) {
  const int64_t threads = std::max<int64_t>(1, fields.threadsPerRow);
  if (threads < chip.subgroupSize && !facts.singleRow)
    return 4 * chip.subgroupSize / threads;
  return std::max<int64_t>(1,
                           std::min(fields.rowGroups, blockThreads / threads));
}

LogicalResult mlir::rmsnorm::applyScheduleOverrides(
    StringRef text, const ProgramFacts &facts, const ChipInfo &chip,
    ScheduleFields &fields, function_ref<InFlightDiagnostic()> emitError) {
  if (text.trim().empty())
    return success();
  const int64_t blockThreads = fields.rowGroups * fields.threadsPerRow;
  const std::pair<StringRef, int64_t *> integers[] = {
      {"row_groups", &fields.rowGroups},
      {"rows_per_group", &fields.rowsPerGroup},
      {"threads_per_row", &fields.threadsPerRow},
      {"vector_width", &fields.vectorWidth},
      {"vectors_in_flight", &fields.vectorsInFlight},
      {"cluster", &fields.cluster},
      {"blocks_per_sm", &fields.blocksPerSM},
      {"stages", &fields.stages},
  };
  SmallVector<StringRef> items;
  text.split(items, ',');
  SmallVector<StringRef> given;
  for (StringRef item : items) {
    auto [key, value] = item.trim().split('=');
    key = key.trim();
    value = value.trim();
    if (llvm::is_contained(given, key))
      return emitError() << "expected each field of the schedule once, got '"
                         << key << "' twice";
    static constexpr StringLiteral modes[] = {
        "multi_wave_cached", "multi_wave_reload", "static_persistent"};
    if (llvm::is_contained(modes, key))
      for (StringRef other : given)
        if (llvm::is_contained(modes, other))
          return emitError() << "expected one mode, got '" << other << "' and '"
                             << key << "'";
    given.push_back(key);
    if (item.trim() == "multi_wave_cached") {
      fields.cache = Cache::registers;
      fields.blocksPerSM = fields.stages = 0;
      continue;
    }
    if (item.trim() == "multi_wave_reload") {
      fields.cache = Cache::reload;
      fields.blocksPerSM = fields.stages = 0;
      continue;
    }
    if (item.trim() == "static_persistent") {
      fields.blocksPerSM = std::max<int64_t>(fields.blocksPerSM, 1);
      continue;
    }
    if (key == "cache") {
      std::optional<Cache> cache = symbolizeCache(value);
      if (!cache)
        return emitError() << "expected cache to be registers, reload or "
                              "shared, got '"
                           << value << "'";
      fields.cache = *cache;
      // A ring that nobody asked for goes with the cache it was chosen for.
      if (*cache != Cache::shared && !text.contains("stages"))
        fields.stages = 0;
      continue;
    }
    if (key == "column_sums") {
      std::optional<ColumnSums> sums = symbolizeColumnSums(value);
      if (!sums)
        return emitError()
               << "expected column_sums to be registers or strips, got '"
               << value << "'";
      fields.columnSums = *sums;
      // Strips have no use for a ring that nobody asked for.
      if (*sums == ColumnSums::strips && fields.cache == Cache::shared &&
          !text.contains("cache")) {
        fields.cache = Cache::reload;
        fields.stages = 0;
        // Without a reduction the rows are nothing but sums, of persistent
        // blocks.
        if (!text.contains("blocks_per_sm") && facts.numReductions > 0)
          fields.blocksPerSM = 0;
      }
      continue;
    }
    if (key == "pdl") {
      if (value != "true" && value != "false")
        return emitError() << "expected pdl to be true or false, got '" << value
                           << "'";
      fields.pdl = value == "true";
      continue;
    }
    if (key == "copy") {
      std::optional<CopyCache> copy = symbolizeCopyCache(value);
      if (!copy)
        return emitError() << "expected copy to be ca or cg, got '" << value
                           << "'";
      fields.copy = *copy;
      continue;
    }
    const auto *field = llvm::find_if(
        integers, [&](const auto &integer) { return integer.first == key; });
    if (field == std::end(integers))
      return emitError()
             << "expected a mode (multi_wave_cached, multi_wave_reload, "
                "static_persistent) or a field of the schedule (cache, "
                "column_sums, copy, pdl, "
             << llvm::join(llvm::make_first_range(integers), ", ")
             << ") and its value, got '" << item.trim() << "'";
    if (value.getAsInteger(10, *field->second))
      return emitError() << "expected " << key << " to be an integer, got '"
                         << value << "'";
  }
  if (llvm::is_contained(given, "threads_per_row") &&
      !llvm::is_contained(given, "row_groups"))
    fields.rowGroups = getRowGroups(fields, blockThreads, facts, chip);
  // A row that several blocks share is not packed with others.
  if (fields.cluster > 1 && !llvm::is_contained(given, "row_groups"))
    fields.rowGroups = 1;
  if (fields.cluster > 1 && !llvm::is_contained(given, "rows_per_group"))
    fields.rowsPerGroup = 1;
  return success();
}

static LogicalResult
verifyCluster(ScheduleAttr schedule, const ProgramFacts &facts,
              const ChipInfo &chip,
              function_ref<InFlightDiagnostic()> emitError) {
  if (schedule.getCluster() == 1)
    return success();
  if (schedule.getCluster() > chip.maxClusterSize)
    return emitError() << "expected a cluster of at most "
                       << chip.maxClusterSize << " blocks on " << chip.name
                       << ", got " << schedule.getCluster();
  if (facts.hasDynamicColumns())
    return emitError() << "expected cluster = 1 for rows of dynamic size, got "
                       << schedule.getCluster();
  if (schedule.getTileRows() != 1)
    return emitError() << "expected row_groups = rows_per_group = 1 in a "
                          "cluster, got "
                       << schedule.getTileRows() << " rows";
  if (schedule.getColumnSums() == ColumnSums::strips &&
      facts.numReductions == 0)
    return emitError() << "expected cluster = 1 for strips of columns, got "
                       << schedule.getCluster();
  return success();
}

LogicalResult mlir::rmsnorm::verifyScheduleOnTarget(
    ScheduleAttr schedule, const ProgramFacts &facts, const ChipInfo &chip,
    function_ref<InFlightDiagnostic()> emitError) {
  const int64_t subgroup = chip.subgroupSize;
  const int64_t threadsPerRow = schedule.getThreadsPerRow();
  if (schedule.getBlockThreads() > chip.maxThreadsPerBlock)
    return emitError() << "expected at most " << chip.maxThreadsPerBlock
                       << " threads a block on " << chip.name << ", got "
                       << schedule.getBlockThreads();
  if (threadsPerRow < subgroup ? !llvm::isPowerOf2_64(threadsPerRow)
                               : threadsPerRow % subgroup != 0)
    return emitError() << "expected threads_per_row to be a power of two below "
                          "the subgroup size "
                       << subgroup << " of " << chip.name
                       << " or a multiple of it, got " << threadsPerRow;
  if (schedule.getBlockThreads() % subgroup != 0)
    return emitError() << "expected a block of whole subgroups of " << subgroup
                       << " threads on " << chip.name << ", got "
                       << schedule.getBlockThreads() << " threads";
  if (schedule.getPdl() && !chip.hasDependentLaunch)
    return emitError() << "expected pdl = false on " << chip.name
                       << ", which has no programmatic dependent launch";
  if (facts.singleRow && schedule.getTileRows() != 1)
    return emitError() << "expected row_groups = rows_per_group = 1 for a "
                          "single row, got "
                       << schedule.getTileRows() << " rows";
  const bool sumsInRegisters =
      facts.numColumnSums > 0 &&
      schedule.getColumnSums() == ColumnSums::registers;
  if (facts.numColumnSums == 0 &&
      schedule.getColumnSums() != ColumnSums::registers)
    return emitError() << "expected column_sums = registers where nothing is "
                          "summed over rows, got "
                       << stringifyColumnSums(schedule.getColumnSums());
  if (failed(verifyCluster(schedule, facts, chip, emitError)))
    return failure();
  if (schedule.getBlocksPerSm() == 0 && facts.numColumnSums > 0 &&
      (sumsInRegisters || facts.numReductions == 0))
    return emitError() << "expected blocks_per_sm >= 1, as a persistent block "
                          "adds up its rows, got 0";
  if (facts.hasDynamicColumns() && sumsInRegisters)
    return emitError() << "expected column_sums = strips for rows of dynamic "
                          "size, got registers";
  if (schedule.getCache() == Cache::reload && !sumsInRegisters)
    return success();
  if (facts.hasDynamicColumns())
    return emitError() << "expected cache = reload for rows of dynamic size, "
                          "got "
                       << stringifyCache(schedule.getCache());
  if (schedule.getCache() == Cache::shared &&
      failed(verifyRings(schedule, facts, chip, emitError)))
    return failure();
  const ScheduleFields fields(schedule);
  const int64_t sums = sumsInRegisters ? countSumRegisters(fields, facts) : 0;
  const int64_t registers = countRowRegisters(fields, facts) + sums;
  const int64_t budget = getRegisterBudget(fields, chip);
  if (registers > budget / 2)
    return emitError() << "expected rows "
                       << (sumsInRegisters ? "and sums over rows " : "")
                       << "in registers to take at most half of a thread's "
                       << budget << " registers on " << chip.name << ", got "
                       << registers;
  if (sums > budget / 4)
    return emitError() << "expected sums over rows in registers to take at "
                          "most a quarter of a thread's "
                       << budget << " registers on " << chip.name << ", got "
                       << sums;
  if (!sumsInRegisters)
    return success();
  const int64_t bytes = getColumnReduceBytes(schedule, facts);
  if (bytes > chip.maxWorkgroupMemory)
    return emitError() << "expected the sums of " << schedule.getRowGroups()
                       << " row groups to take at most "
                       << chip.maxWorkgroupMemory
                       << " bytes of workgroup memory on " << chip.name
                       << ", got " << bytes;
  return success();
}
