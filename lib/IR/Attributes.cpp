// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Attributes.cpp - targets and schedules ----------------------------===//

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

#include "RMSNorm/IR/RMSNormEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "RMSNorm/IR/RMSNormAttrs.cpp.inc"

void RMSNormDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "RMSNorm/IR/RMSNormAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// TargetAttr
//===----------------------------------------------------------------------===//

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 Backend backend, StringRef chip) {
  const ChipInfo *info = lookupChip(chip);
  if (!info)
    return emitError() << "expected a chip (" << getChipNames() << "), got '"
                       << chip << "'";
  if ((backend == Backend::nvvm && info->vendor != Vendor::Nvidia) ||
      (backend == Backend::rocdl && info->vendor != Vendor::Amd))
    return emitError() << "expected a chip that " << stringifyBackend(backend)
                       << " compiles for, got '" << chip << "'";
  return success();
}

TargetAttr TargetAttr::parseSpelling(Location loc, StringRef spelling) {
  StringRef chip = spelling;
  bool sim = chip.consume_front("sim:");
  if (spelling == "sim") {
    sim = true;
    chip = "sim32";
  }
  const ChipInfo *info = lookupChip(chip);
  if (info && !sim && info->vendor == Vendor::Generic) {
    emitError(loc) << "expected target 'sim:" << chip << "', got '" << spelling
                   << "': only the simulator has that chip";
    return {};
  }
  if (!info) {
    emitError(loc) << "expected a target: a chip (" << getChipNames()
                   << "), 'sim', or 'sim:' and a chip, got '" << spelling
                   << "'";
    return {};
  }
  Backend backend = sim                              ? Backend::sim
                    : info->vendor == Vendor::Nvidia ? Backend::nvvm
                                                     : Backend::rocdl;
  return TargetAttr::get(loc.getContext(), backend, chip);
}

std::string TargetAttr::getSpelling() const {
  return (getBackend() == Backend::sim ? "sim:" : "") + getChip().str();
}

const ChipInfo &TargetAttr::getChipInfo() const {
  return *lookupChip(getChip());
}

TargetAttr TargetAttr::lookup(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto target =
            op->getAttrOfType<TargetAttr>(RMSNormDialect::kTargetAttrName))
      return target;
  return {};
}

//===----------------------------------------------------------------------===//
// ScheduleAttr
//===----------------------------------------------------------------------===//

/// Slots of a ring. Three or four hide memory; this only catches mistakes.
static constexpr int64_t kMaxStages = 8;

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t rowGroups, int64_t rowsPerGroup,
                                   int64_t threadsPerRow, int64_t vectorWidth,
                                   int64_t vectorsInFlight, Cache cache,
                                   int64_t alignment, int64_t cluster,
                                   int64_t blocksPerSM, ColumnSums columnSums,
                                   bool, int64_t stages, CopyCache copy) {
  // Both ends: what a thread does at once is unrolled, and products of fields
  // must not overflow before the target's own limits are looked at.
  auto within = [&](StringRef field, int64_t value, int64_t minimum,
                    int64_t maximum) -> LogicalResult {
    if (value >= minimum && value <= maximum)
      return success();
    InFlightDiagnostic error = emitError() << "expected " << field;
    if (value < minimum)
      return error << " >= " << minimum << ", got " << value;
    return error << " <= " << maximum << ", got " << value;
  };
  auto powerOfTwo = [&](StringRef field, int64_t value,
                        int64_t maximum) -> LogicalResult {
    if (value >= 1 && value <= maximum && llvm::isPowerOf2_64(value))
      return success();
    return emitError() << "expected " << field << " to be a power of two up to "
                       << maximum << ", got " << value;
  };
  // A ring exists to be filled while another tile is worked on.
  if (stages >= 2 && (cache != Cache::shared || blocksPerSM < 1))
    return emitError()
           << "expected cache = shared and blocks_per_sm >= 1 where "
              "stages >= 2, got cache = "
           << stringifyCache(cache) << ", blocks_per_sm = " << blocksPerSM
           << " and stages = " << stages;
  return success(
      succeeded(within("row_groups", rowGroups, 1, 1024)) &&
      succeeded(within("rows_per_group", rowsPerGroup, 1, 16)) &&
      succeeded(within("threads_per_row", threadsPerRow, 1, 1 << 16)) &&
      succeeded(powerOfTwo("vector_width", vectorWidth, 16)) &&
      succeeded(within("vectors_in_flight", vectorsInFlight, 1, 16)) &&
      succeeded(powerOfTwo("alignment", alignment, 16)) &&
      succeeded(powerOfTwo("cluster", cluster, 16)) &&
      succeeded(within("blocks_per_sm", blocksPerSM, 0, 64)) &&
      succeeded(within("stages", stages, 0, kMaxStages)));
}

int64_t ScheduleAttr::getPartColumns(int64_t columns, int64_t cluster,
                                     int64_t vectorWidth) {
  if (cluster == 1)
    return columns;
  return llvm::divideCeil(columns, cluster * vectorWidth) * vectorWidth;
}

StringRef ScheduleAttr::getMode() const {
  if (getColumnSums() == ColumnSums::strips)
    return "column_strips";
  if (getBlocksPerSm())
    return "static_persistent";
  return getCache() == Cache::reload ? "multi_wave_reload"
                                     : "multi_wave_cached";
}

//===----------------------------------------------------------------------===//
// ExchangeAttr
//===----------------------------------------------------------------------===//

LogicalResult ExchangeAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t slots, int64_t values,
                                   int64_t subgroups, int64_t cluster,
                                   int64_t offset) {
  auto powerOfTwo = [&](StringRef field, int64_t value, int64_t minimum,
                        int64_t maximum) -> LogicalResult {
    if (value >= minimum && value <= maximum && llvm::isPowerOf2_64(value))
      return success();
    return emitError() << "expected " << field << " to be a power of two from "
                       << minimum << " to " << maximum << ", got " << value;
  };
  auto inRange = [&](StringRef field, int64_t value,
                     int64_t maximum) -> LogicalResult {
    if (value >= 1 && value <= maximum)
      return success();
    return emitError() << "expected " << field << " from 1 to " << maximum
                       << ", got " << value;
  };
  if (offset < 0 || offset % 16 != 0)
    return emitError() << "expected offset to be a multiple of 16, got "
                       << offset;
  return success(succeeded(powerOfTwo("slots", slots, 4, 32)) &&
                 succeeded(inRange("values", values, 64)) &&
                 succeeded(inRange("subgroups", subgroups, 32)) &&
                 succeeded(powerOfTwo("cluster", cluster, 2, 16)));
}
