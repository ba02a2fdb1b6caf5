// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rules.cpp - fields that follow others and the program -------------===//

#include "Resources.h"
#include "Selectors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// The first reduction of rows that a cluster shares is split where two tiles
/// fit beside the one that is on its way. The subgroups of one block wait for
/// each other so briefly that a slot more of rows on their way gains more. What
/// the blocks exchange is numbered in one order, which a second reduction
/// between the halves would break.
static bool getSplitRule(const ScheduleFields &fields,
                         const ProgramFacts &facts) {
  return fields.getDefaultSplit() && facts.numReductions <= 1;
}

/// Beside tiles in workgroup memory per-column operands are held in registers,
/// so that they are there when the reduction is: up to a quarter of the ones a
/// thread has. With a ring they stay for all rows.
static ColumnOperands getColumnOperandsRule(const ScheduleFields &fields,
                                            const ProgramFacts &facts) {
  if (fields.cache != Cache::shared || fields.stages >= 2)
    return fields.getDefaultColumnOperands();
  constexpr int64_t maxBytes = 128;
  const int64_t bytes = ProgramFacts::getBytes(
      facts.columnOperandBits,
      llvm::divideCeil(facts.columns, fields.cluster * fields.threadsPerRow));
  return bytes <= maxBytes ? ColumnOperands::tile : ColumnOperands::use;
}

static NestedSchedule getSumsRule(const ScheduleFields &fields,
                                  const ProgramFacts &facts,
                                  const ChipInfo &chip) {
  if (fields.columnSums != ColumnSums::strips || facts.numReductions == 0)
    return {};
  ScheduleFields strips = selectStrips(facts.getSumsFacts(), chip);
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
/// turns, if not: those that do not exist read another.
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
  ruled.columnOperands = getColumnOperandsRule(fields, facts);
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

ScheduleFields mlir::rmsnorm::selectStrips(const ProgramFacts &facts,
                                           const ChipInfo &chip) {
  ScheduleFields fields;
  fields.columnSums = ColumnSums::strips;
  fields.cache = Cache::reload;
  fields.vectorWidth = getWidestVector(facts, chip);
  // One vector a thread, so that narrow rows keep threads busy; blocks of
  // eight subgroups, four of them and four rows a thread in flight.
  fields.threadsPerRow = 2 * chip.subgroupSize;
  fields.rowGroups = facts.singleRow ? 1 : 4;
  fields.rowsPerGroup = facts.singleRow ? 1 : 4;
  fields.blocksPerSM = 4;
  followRules(fields, facts, chip);
  return fields;
}
