// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SelectDynamicRows.cpp - rows as wide as a call says ---------------===//

#include "Selectors.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// Rows whose size is known only at a call, by class of N: what is best at one
/// size is far off at another (us, forward of 32768 rows of bf16 on an H200 by
/// 1, 2, 4, 8 and 16 subgroups: x1024 34.5, 40.9, 46.0, 82.9, 163; x4096 182,
/// 142, 134, 159, 204; 16384x12288 -, 285, 234, 193, 241).
struct DynamicClass {
  /// 16-byte vectors of the largest row.
  int64_t vectors;
  int64_t subgroups;
  /// Whether a thread holds its part of the row: six vectors, most of which
  /// exist (us, held and read again: x1536 49.7 and 53.0, x3072 96.3 and 99.8,
  /// x6144 193 and 197; but x768 29.2 and 27.1, x8192 271 and 251).
  bool held;
};
} // namespace

static constexpr int64_t kAnyVectors = std::numeric_limits<int64_t>::max();
static constexpr DynamicClass kDynamicClasses[] = {
    {3 * 32, 1, false},    {6 * 32, 1, true},      {6 * 2 * 32, 2, true},
    {6 * 4 * 32, 4, true}, {6 * 8 * 32, 8, false}, {kAnyVectors, 16, false}};
/// Of programs that sum over rows in strips, two loops with as many kernels
/// each: fewer.
static constexpr DynamicClass kDynamicStrips[] = {
    {6 * 32, 1, false}, {6 * 4 * 32, 4, false}, {kAnyVectors, 8, false}};

/// Rows up to which a block holds what it sums over them, in 16-byte vectors
/// (us, backward of 32768 rows, class of N up to 1536 or 6144 and in strips:
/// x1536 77 and 135, x1024 63 and 97, x768 60 and 72, x6144 288 and 497, x4096
/// 252 and 342, x3072 248 and 251): what does not exist of a row costs
/// instructions, so that classes are narrow.
static constexpr int64_t kDynamicSums[] = {16,  32,  64,  128, 192,  256,
                                           384, 512, 640, 768, 1024, 1280};

static ArrayRef<DynamicClass> getDynamicClasses(const ProgramFacts &facts) {
  if (facts.numColumnSums > 0)
    return kDynamicStrips;
  return kDynamicClasses;
}

SmallVector<int64_t, 3>
mlir::rmsnorm::getColumnBounds(const ProgramFacts &facts,
                               const ChipInfo &chip) {
  if (!facts.dynamicColumns)
    return {kAnyColumns};
  const int64_t width = getWidestVector(facts, chip);
  SmallVector<int64_t, 3> bounds;
  for (const DynamicClass &one : getDynamicClasses(facts).drop_back())
    bounds.push_back(one.vectors * width * chip.subgroupSize / 32);
  if (facts.numColumnSums > 0)
    for (int64_t vectors : kDynamicSums)
      bounds.push_back(vectors * width);
  llvm::sort(bounds);
  bounds.erase(llvm::unique(bounds), bounds.end());
  bounds.push_back(kAnyColumns);
  return bounds;
}

ScheduleFields mlir::rmsnorm::selectDynamicRow(const ProgramFacts &facts,
                                               const ChipInfo &chip) {
  ScheduleFields fields;
  fields.vectorWidth = getWidestVector(facts, chip);
  const int64_t vectors = llvm::divideCeil(facts.columns, fields.vectorWidth) *
                          32 / chip.subgroupSize;
  const DynamicClass *one =
      llvm::find_if(getDynamicClasses(facts), [&](const DynamicClass &other) {
        return vectors <= other.vectors;
      });
  // What may not fit anywhere, or comes from L1 as fast, is read again.
  fields.cache =
      one->held && rereadsFromL1(chip) ? Cache::registers : Cache::reload;
  fields.threadsPerRow =
      std::min(one->subgroups * chip.subgroupSize, chip.maxThreadsPerBlock);
  if (one->subgroups == 1 && !facts.singleRow)
    fields.rowGroups = 4;
  if (facts.numColumnSums > 0) {
    if (facts.numReductions == 0)
      return selectStrips(facts, chip);
    fields.columnSums = ColumnSums::strips;
  }
  followRules(fields, facts, chip);
  if (verifyOnTarget(fields, facts, chip)) {
    fields.cache = Cache::reload;
    followRules(fields, facts, chip);
  }
  return fields;
}
