// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rules.cpp - fields that follow others and the program -------------===//

#include "RMSNorm/Schedule/Layout.h"
#include "Resources.h"
#include "Selectors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// Whether a thread has registers for per-column operands beside rows that it
/// reads again from L1 (us on an H200, held and loaded where they are used:
/// 4096x7168 30.1 and 30.9, 32768x7168 219.4 and 222.8, 2048x8192 18.7 and
/// 19.3; but of f32 4096x4096 34.3 and 33.6). Not where functions take them
/// (silu of it 4096x4096 19.4 and 18.9), or several tiles (x + residual by 512
/// threads 32768x4096 257.8 and 248.5, with f8 of it x7168 390 and 380), unless
/// what is reduced needs them, too (for a scale of each row 32768x4096 217.2
/// and 220.0, x7168 402.6 and 407.2, of 128 columns 4096x4096 30.1 and 30.6).
/// Of larger blocks fewer are left (a scale and a shift for each batch, by 128
/// threads 32768x4096 127.1 and 132.8, a weight beside them 129.8 and 134.6,
/// without it by 224 4096x7168 31.6 and 30.8; a weight of f32, by 224 threads
/// 32768x7168 219 and 225, by 448 250 and 225), and narrow accesses are many
/// (32768x4098 131.8 and 130.6).
static bool holdsColumnsBesideL1(const ScheduleFields &fields,
                                 const ProgramFacts &facts,
                                 const ChipInfo &chip, int64_t bytes) {
  const int64_t subgroups = fields.threadsPerRow / chip.subgroupSize;
  const int64_t maxBytes = facts.manyOperations > 0
                               ? (subgroups <= 4 ? 192 : 64)
                               : (subgroups <= 8 ? 128 : 64);
  const bool oneTile = facts.loadedBitsPerColumn == 16;
  return fields.cache == Cache::reload && rereadsFromL1(chip) &&
         facts.columnOperandBits > 0 && facts.numColumnSums == 0 &&
         (facts.liveBitsPerColumn > facts.loadedBitsPerColumn ||
          facts.groupColumns > 0 ||
          (facts.numFunctions == 0 && (facts.manyOperations > 0 || oneTile))) &&
         fields.vectorWidth * facts.narrowestBits >= 64 && bytes <= maxBytes &&
         !isWalkedInLoop(fields, facts.columns, facts.dynamicColumns);
}

/// Beside tiles in workgroup memory per-column operands are held in registers,
/// so that they are there when the reduction is: up to a quarter of what
/// a thread has. With a ring they stay for all rows.
static ColumnOperands getColumnOperandsRule(const ScheduleFields &fields,
                                            const ProgramFacts &facts,
                                            const ChipInfo &chip) {
  constexpr int64_t maxBytes = 128;
  const int64_t bytes = ProgramFacts::getBytes(
      facts.columnOperandBits,
      llvm::divideCeil(facts.columns, fields.cluster * fields.threadsPerRow));
  if (holdsColumnsBesideL1(fields, facts, chip, bytes))
    return ColumnOperands::tile;
  if (fields.cache != Cache::shared || fields.stages >= 2)
    return fields.getDefaultColumnOperands();
  return bytes <= maxBytes ? ColumnOperands::tile : ColumnOperands::use;
}

/// The first reduction of rows that a cluster shares is split where two tiles
/// fit beside the one that is on its way. The subgroups of one block wait for
/// each other so briefly that a slot more of rows on their way gains more
/// (us, backward on an H200, whole and split: 32768x7168 338 and 357, x8192
/// 376 and 386, x2048 99.7 and 101.7). What the blocks exchange is numbered in
/// one order, which a second reduction between the halves would break.
static bool getSplitRule(const ScheduleFields &fields,
                         const ProgramFacts &facts) {
  return fields.getDefaultSplit() && facts.numReductions <= 1;
}

static NestedSchedule getSumsRule(const ScheduleFields &fields,
                                  const ProgramFacts &facts,
                                  const ChipInfo &chip) {
  if (fields.columnSums != ColumnSums::strips || facts.numReductions == 0)
    return {};
  ScheduleFields strips = selectStrips(facts.getSumsFacts(), chip);
  strips.pdl = fields.pdl;
  strips.alignment = fields.alignment;
  strips.smMargin = fields.smMargin;
  return strips;
}

/// Small blocks spread narrow rows over the machine; wide rows have blocks
/// enough, and profit from longer lines.
static bool hasWideSums(const ProgramFacts &facts) {
  return facts.numColumnSums > 0 && !facts.dynamicColumns &&
         facts.columns >= 16384;
}

/// All rows that there are, if 16 at a time suffice, as many as in the other
/// turns, if not: those that do not exist read another (us, backward of
/// 4096x128 on an H200 with 128 rows over 32 walkers: 9 in flight 4.0, 16 4.1).
static int64_t getSumInFlightRule(const ScheduleFields &fields,
                                  const ProgramFacts &facts,
                                  const ChipInfo &chip) {
  if (fields.columnSums != ColumnSums::registers || fields.blocksPerSM == 0)
    return fields.getDefaultSumInFlight();
  const int64_t blocks = std::max<int64_t>(
      1, chip.multiprocessors * fields.blocksPerSM / fields.cluster);
  const int64_t rows = llvm::divideCeil(blocks, fields.sumWalkers);
  return llvm::divideCeil(
      rows, llvm::divideCeil(rows, fields.getDefaultSumInFlight()));
}

ScheduleFields mlir::rmsnorm::getRuled(const ScheduleFields &fields,
                                       const ProgramFacts &facts,
                                       const ChipInfo &chip) {
  ScheduleFields ruled = fields;
  ruled.columnOperands = getColumnOperandsRule(fields, facts, chip);
  ruled.constants = fields.getDefaultConstants();
  ruled.split = getSplitRule(fields, facts);
  ruled.sums = getSumsRule(fields, facts, chip);
  ruled.sumLanes = hasWideSums(facts) ? 32 : fields.getDefaultSumLanes();
  ruled.sumWalkers = hasWideSums(facts) ? 16 : fields.getDefaultSumWalkers();
  ruled.sumInFlight = getSumInFlightRule(ruled, facts, chip);
  return ruled;
}

void mlir::rmsnorm::followRules(ScheduleFields &fields,
                                const ProgramFacts &facts,
                                const ChipInfo &chip) {
  // One after another: rules look at the fields before.
#define RMSNORM_SCHEDULE_FIELD(Type, member, Getter, text, Default, Letter)    \
  fields.member = getRuled(fields, facts, chip).member;
#include "RMSNorm/IR/ScheduleFields.def"
}

void mlir::rmsnorm::setForRequest(ScheduleFields &fields,
                                  const ScheduleRequest &request) {
  fields.alignment = request.alignment;
  if (request.smMargin > 0)
    fields.smMargin = request.smMargin;
  if (!fields.sums)
    return;
  ScheduleFields sums = *fields.sums;
  setForRequest(sums, request);
  fields.sums = sums;
}
