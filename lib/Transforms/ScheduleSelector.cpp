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

ScheduleFields mlir::rmsnorm::selectSchedule(const ProgramFacts &facts,
                                             const ChipInfo &chip) {
  ScheduleFields fields;
  const int64_t subgroup = chip.subgroupSize;
  // 16 bytes of the narrowest operand: its accesses are as wide as the machine
  // has, those of wider operands are several of that width.
  fields.vectorWidth = 16 / facts.narrowestBytes;

  if (facts.hasDynamicColumns()) {
    // One kernel for every N: read the row again, as none may fit.
    fields.cache = Cache::reload;
    fields.threadsPerRow = 256;
    return fields;
  }

  // A row shorter than a vector: no wider than it needs to be.
  while (fields.vectorWidth / 2 >= facts.columns)
    fields.vectorWidth /= 2;
  const int64_t vectors = llvm::divideCeil(facts.columns, fields.vectorWidth);

  if (vectors <= 4 * subgroup) {
    // A subgroup or less a row: no barrier, several rows a block. One to four
    // vectors a thread (32768x128 and x512 bf16 on an H200: 0.97 and 0.94 of a
    // copy; one row a block is 0.24). Four subgroups a block measured best.
    fields.threadsPerRow =
        std::min<int64_t>(subgroup, llvm::PowerOf2Ceil(vectors));
    fields.rowGroups = 4 * subgroup / fields.threadsPerRow;
    // Two rows a group hide the wait for one another's loads, as long as they
    // stay within a few registers.
    fields.rowsPerGroup = vectors <= 2 * subgroup ? 2 : 1;
    if (facts.singleRow) {
      fields.threadsPerRow = subgroup;
      fields.rowGroups = fields.rowsPerGroup = 1;
    }
    return fields;
  }

  // Two vectors a thread, as many threads as that takes, up to a block: 256
  // threads at N = 4096, 512 at 8192, 1024 above (H200: a copy's speed, where
  // fewer threads with more vectors each lose 3 to 6%).
  fields.threadsPerRow =
      std::min<int64_t>(chip.maxThreadsPerBlock,
                        llvm::alignTo(llvm::divideCeil(vectors, 2), subgroup));
  const int64_t valuesPerThread =
      fields.vectorWidth * getVectorsPerThread(facts.columns,
                                               fields.threadsPerRow,
                                               fields.vectorWidth);
  // From N = 4096 on the second read of the row hits L1 on NVIDIA chips and
  // beats keeping it (0.94..0.98 of a copy in registers, 1.00 read again). On
  // AMD chips, whose L1 is smaller than the rows in flight, and in narrower
  // rows, registers hold it as long as 32 values a thread suffice.
  const bool readAgainHitsL1 = chip.vendor == Vendor::Nvidia &&
                               facts.columns * facts.narrowestBytes >= 8192;
  if (readAgainHitsL1 || valuesPerThread > 32)
    fields.cache = Cache::reload;
  return fields;
}

ScheduleAttr
ScheduleFields::getChecked(function_ref<InFlightDiagnostic()> emitError,
                           MLIRContext *context) const {
  return ScheduleAttr::getChecked(emitError, context, rowGroups, rowsPerGroup,
                                  threadsPerRow, vectorWidth, vectorsInFlight,
                                  cache, alignment, blocksPerSM);
}

LogicalResult mlir::rmsnorm::applyScheduleOverrides(
    StringRef text, ScheduleFields &fields,
    function_ref<InFlightDiagnostic()> emitError) {
  const std::pair<StringRef, int64_t *> integers[] = {
      {"row_groups", &fields.rowGroups},
      {"rows_per_group", &fields.rowsPerGroup},
      {"threads_per_row", &fields.threadsPerRow},
      {"vector_width", &fields.vectorWidth},
      {"vectors_in_flight", &fields.vectorsInFlight},
      {"blocks_per_sm", &fields.blocksPerSM},
  };
  SmallVector<StringRef> items;
  text.split(items, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef item : items) {
    auto [key, value] = item.trim().split('=');
    key = key.trim();
    value = value.trim();
    if (item.trim() == "multi_wave_cached") {
      fields.cache = Cache::registers;
      fields.blocksPerSM = 0;
      continue;
    }
    if (item.trim() == "multi_wave_reload") {
      fields.cache = Cache::reload;
      fields.blocksPerSM = 0;
      continue;
    }
    if (item.trim() == "static_persistent") {
      fields.blocksPerSM = std::max<int64_t>(fields.blocksPerSM, 1);
      continue;
    }
    if (key == "cache") {
      std::optional<Cache> cache = symbolizeCache(value);
      if (!cache)
        return emitError() << "expected cache to be registers or reload, got '"
                           << value << "'";
      fields.cache = *cache;
      continue;
    }
    const auto *field = llvm::find_if(
        integers, [&](const auto &integer) { return integer.first == key; });
    if (field == std::end(integers))
      return emitError()
             << "expected a mode (multi_wave_cached, multi_wave_reload, "
                "static_persistent) or a field of the schedule (cache, "
             << llvm::join(llvm::make_first_range(integers), ", ")
             << ") and its value, got '" << item.trim() << "'";
    if (value.getAsInteger(10, *field->second))
      return emitError() << "expected " << key << " to be an integer, got '"
                         << value << "'";
  }
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
  if (facts.singleRow && schedule.getTileRows() != 1)
    return emitError() << "expected row_groups = rows_per_group = 1 for a "
                          "single row, got "
                       << schedule.getTileRows() << " rows";
  if (schedule.getCache() == Cache::reload)
    return success();
  if (facts.hasDynamicColumns())
    return emitError() << "expected cache = reload for rows of dynamic size, "
                          "got "
                       << stringifyCache(schedule.getCache());
  // Registers a thread needs for its part of the rows alone. The bound leaves
  // the rest of the budget to addresses, weights and arithmetic.
  const int64_t values = schedule.getRowsPerGroup() *
                         schedule.getVectorWidth() *
                         getVectorsPerThread(facts.columns, threadsPerRow,
                                             schedule.getVectorWidth());
  const int64_t registers = llvm::divideCeil(
      values * std::max<int64_t>(facts.liveBytesPerColumn, 1), 4);
  const int64_t budget = std::min<int64_t>(
      256, chip.registersPerMultiprocessor / schedule.getBlockThreads());
  if (registers > budget / 2)
    return emitError() << "expected rows in registers to take at most half of "
                          "a thread's "
                       << budget << " registers on " << chip.name << ", got "
                       << registers << " (" << values << " values a thread)";
  return success();
}
