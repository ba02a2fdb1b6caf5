// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CostModel.cpp - how long a schedule takes ------------------------===//

#include "RMSNorm/Schedule/CostModel.h"
#include "Resources.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <numeric>

using namespace mlir;
using namespace mlir::rmsnorm;

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

namespace {
constexpr size_t kWorkKnots = 5, kMaxKnots = 9;

/// The function of a term: its values at knots of the term and of work. A term
/// that was the same in all measurements has no knots.
struct TermModel {
  size_t count;
  double knots[kMaxKnots];
  double weights[kMaxKnots][kWorkKnots];
};
} // namespace

namespace mlir::rmsnorm {
struct CostModel {
  StringLiteral chip;
  /// Whether it is for programs that sum over rows, and for what accesses.
  bool sums;
  RowAccess access;
  double work[kWorkKnots];
  TermModel terms[kNumCostTerms];
};
} // namespace mlir::rmsnorm

static constexpr CostModel kModels[] = {
#include "Models/sm_90.inc"
};

namespace {
struct ThreadCosts {
#define RMSNORM_THREAD_COST(name, number) double name = number;
#include "Models/threads.def"
};
} // namespace

static constexpr ThreadCosts kThread;

bool mlir::rmsnorm::hasNarrowAccesses(const ProgramFacts &facts,
                                      const ChipInfo &chip) {
  return getAccessWidth(facts, chip) < getWidestVector(facts, chip);
}

StringRef mlir::rmsnorm::stringifyRowAccess(RowAccess access) {
  static constexpr StringLiteral names[] = {"whole", "narrow", "parts"};
  return names[size_t(access)];
}

RowAccess mlir::rmsnorm::getRowAccess(const ProgramFacts &facts,
                                      const ChipInfo &chip) {
  if (facts.part > 0 && facts.numColumnSums == 0)
    return RowAccess::parts;
  return hasNarrowAccesses(facts, chip) ? RowAccess::narrow : RowAccess::whole;
}

/// The model of a chip; the first one for a chip that nobody has measured.
static const CostModel &getModel(const ChipInfo &chip,
                                 const ProgramFacts &facts) {
  const CostModel *first = nullptr;
  for (const CostModel &model : kModels) {
    if (model.sums != (facts.numColumnSums > 0) ||
        model.access != getRowAccess(facts, chip))
      continue;
    if (chip.name == model.chip)
      return model;
    first = first ? first : &model;
  }
  return *first;
}

namespace {
/// A place between two knots: the first, and the share of the second.
struct Place {
  size_t knot;
  double share;
};
} // namespace

static Place locate(double value, ArrayRef<double> knots) {
  if (value <= knots.front())
    return {0, 0};
  for (size_t i = 1; i < knots.size(); ++i)
    if (value < knots[i])
      return {i - 1, (value - knots[i - 1]) / (knots[i] - knots[i - 1])};
  return {knots.size() - 2, 1};
}

/// The function of a term at one knot of work.
static double evaluate(const TermModel &term, Place place, size_t work) {
  return (1 - place.share) * term.weights[place.knot][work] +
         place.share * term.weights[place.knot + 1][work];
}

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

StringRef mlir::rmsnorm::stringifyCostTerm(CostTerm term) {
  static constexpr StringLiteral names[kNumCostTerms] = {
      "vectors",     "narrowed",  "split",        "bytes",   "used",
      "padded",      "cache",     "awaited",      "cluster", "occupancy",
      "waves",       "blocks",    "instructions", "groups",  "in_flight",
      "stages",      "idle",      "sums",         "strip",   "sum_blocks",
      "sum_threads", "sum_turns", "sum_idle",     "partials"};
  return names[size_t(term)];
}

/// Bits of a row that are read and written.
static double getRowBits(const ProgramFacts &facts, int64_t columns) {
  const double bits = facts.loadedBitsPerColumn + facts.storedBitsPerColumn;
  return std::max(8., bits * columns);
}

static double getWork(double rowBits, int64_t rows, double multiprocessors) {
  return std::log2(rowBits / 8 * rows / multiprocessors);
}

double mlir::rmsnorm::getCallWork(const ProgramFacts &facts,
                                  const ChipInfo &chip, int64_t rows,
                                  int64_t columns) {
  return getWork(getRowBits(facts, columns), rows, chip.multiprocessors);
}

static int64_t getColumnBits(const ProgramFacts &facts) {
  return facts.columnOperandBits + facts.sharedBitsPerColumn;
}

namespace {
/// See CostTerm::Narrowed and CostTerm::Split.
struct AccessShares {
  double narrowed = 0, split = 0;
};
} // namespace

static AccessShares getAccessShares(const ScheduleFields &schedule,
                                    const ProgramFacts &facts,
                                    const ChipInfo &chip) {
  AccessShares shares;
  const double bits = std::max<double>(1, facts.loadedBitsPerColumn +
                                              facts.storedBitsPerColumn +
                                              facts.columnOperandBits);
  const int64_t width = getAccessWidth(facts, chip);
  auto add = [&](double share, int64_t elements) {
    const double pieces = std::log2(double(schedule.vectorWidth) / elements);
    shares.narrowed += share * std::max(0., -pieces);
    shares.split += share * std::max(0., pieces);
  };
  const double wide = facts.wideBitsPerColumn / bits;
  add(1 - wide, width);
  add(wide, std::min(width, std::min(chip.accessBytes, kMaxAccessBytes) / 4));
  return shares;
}

/// Instructions of a thread, from the operations that the program counts:
/// roughly what compilers make of them.
static double estimateInstructions(const ScheduleFields &schedule,
                                   const ProgramFacts &facts,
                                   const ChipInfo &chip) {
  const double vectors = countVectors(schedule, facts);
  const double rows = schedule.rowsPerGroup;
  const double width = schedule.vectorWidth;
  const double accessBits = 8 * chip.accessBytes;
  const double again = schedule.cache != Cache::registers;
  const double perColumn =
      facts.getOperations() + again * facts.conversionsBefore +
      kThread.float4Instructions * facts.numFloat4Conversions +
      kThread.integerInstructions * facts.numIntegerConversions +
      kThread.functionInstructions *
          (facts.getFunctions() + again * facts.numRepeatedFunctions);
  const double accesses =
      (1 + again) * std::ceil(facts.loadedBitsPerColumn * width / accessBits) +
      std::max(1., facts.storedBitsPerColumn * width / accessBits);
  const bool exchanges = schedule.threadsPerRow > chip.subgroupSize;
  const double reduction =
      kThread.reductionInstructions + exchanges * kThread.exchangeInstructions;
  return kThread.kernelInstructions + reduction * facts.numReductions * rows +
         rows * vectors *
             (accesses + width * perColumn +
              kThread.guardInstructions * facts.hasNarrowColumns() +
              kThread.groupInstructions * (facts.groupColumns > 0)) +
         vectors * std::ceil(getColumnBits(facts) * width / accessBits);
}

double mlir::rmsnorm::estimateRegisters(const ScheduleFields &schedule,
                                        const ProgramFacts &facts,
                                        const ChipInfo &chip) {
  const double vectors = countVectors(schedule, facts);
  const double values = vectors * schedule.vectorWidth;
  const double rows = schedule.rowsPerGroup;
  double registers = kThread.kernelRegisters +
                     kThread.reductionRegisters * facts.numReductions +
                     kThread.groupRegisters * (facts.groupColumns > 0);
  if (facts.hasNarrowColumns())
    registers += kThread.guardRegisters * vectors;
  if (facts.numReductions > 0 &&
      (schedule.columnOperands == ColumnOperands::awaited ||
       schedule.columnOperands == ColumnOperands::tile))
    registers += kThread.operandRegisters * values * getColumnBits(facts) / 32;
  if (schedule.cache == Cache::registers)
    // Words of the row, and values that are worked on. An element that has an
    // access of its own has a word of its own.
    return registers + rows * values *
                           (kThread.rowRegisters *
                                std::max<double>(facts.liveBitsPerColumn, 8) /
                                std::min<double>(32, schedule.vectorWidth *
                                                         facts.narrowestBits) +
                            kThread.valueRegisters);
  return registers + std::min<double>(vectors, schedule.vectorsInFlight) *
                         rows * schedule.vectorWidth *
                         facts.loadedBitsPerColumn / 32;
}

/// Registers of a thread that owns columns: words that are on their way, and
/// what adds them up.
static double estimateSumRegisters(const ScheduleFields &sums,
                                   const ProgramFacts &facts) {
  return kThread.sumRegisters + kThread.sumWordRegisters * sums.rowsPerGroup *
                                    sums.vectorWidth *
                                    facts.loadedBitsPerColumn / 32;
}

/// Blocks that a multiprocessor holds at once.
static double getOccupancy(const ScheduleFields &schedule,
                           const ProgramFacts &facts, const ChipInfo &chip) {
  if (schedule.blocksPerSM > 0)
    return schedule.blocksPerSM;
  const double threads = schedule.getBlockThreads();
  const double most =
      std::min(255., double(chip.registersPerMultiprocessor) / threads);
  double needed = estimateRegisters(schedule, facts, chip);
  if (schedule.sums)
    needed = std::max(needed, estimateSumRegisters(*schedule.sums, facts));
  // Registers are handed out by eight.
  const double registers = std::min(most, 8 * std::ceil(needed / 8));
  double blocks = std::min(
      std::floor(chip.threadsPerMultiprocessor / threads),
      std::floor(chip.registersPerMultiprocessor / (registers * threads)));
  if (schedule.cache == Cache::shared)
    blocks = std::min(
        blocks, std::floor(chip.maxWorkgroupMemory /
                           std::max<double>(getRingBytes(schedule, facts), 1)));
  return std::clamp(blocks, 1., 32.);
}

/// `facts` of what the threads of a call do. Those that walk over a row in
/// a loop walk over the columns that there are; others do what the widest row
/// of its class needs.
static ProgramFacts getFactsOfThreads(const ScheduleFields &schedule,
                                      ProgramFacts facts, int64_t columns) {
  if (schedule.cache == Cache::reload && facts.dynamicColumns)
    facts.columns = columns;
  return facts;
}

ScheduleCost::ScheduleCost(const ScheduleFields &schedule,
                           const ProgramFacts &program, const ChipInfo &chip,
                           int64_t columns)
    : tileRows(schedule.getTileRows()), sumTileRows(0),
      cluster(schedule.cluster), isPersistent(schedule.blocksPerSM > 0),
      multiprocessors(chip.multiprocessors),
      rowBits(getRowBits(program, columns)), partials(0),
      model(&getModel(chip, program)) {
  const ProgramFacts facts = getFactsOfThreads(schedule, program, columns);
  const double part =
      llvm::divideCeil(schedule.getPartColumns(columns), schedule.vectorWidth);
  const double vectors = countVectors(schedule, facts);
  auto set = [&](CostTerm term, double value) { terms[size_t(term)] = value; };
  // Rows of narrow accesses have as many vectors as others.
  set(CostTerm::Vectors,
      std::log2(vectors * schedule.vectorWidth /
                std::max<double>(schedule.vectorWidth,
                                 getWidestVector(facts, chip))));
  const AccessShares accesses = getAccessShares(schedule, facts, chip);
  set(CostTerm::Narrowed, accesses.narrowed);
  set(CostTerm::Split, accesses.split);
  set(CostTerm::Bytes,
      std::log2(std::max(
          1., vectors * schedule.vectorWidth *
                  (facts.loadedBitsPerColumn + facts.columnOperandBits) / 8)));
  const double used = part / (vectors * schedule.threadsPerRow);
  set(CostTerm::Used, facts.part == 0 ? used : 1);
  set(CostTerm::Padded, facts.part == 0 ? 0 : -std::log2(used));
  set(CostTerm::Cache, schedule.cache == Cache::registers ? 0
                       : schedule.cache == Cache::reload  ? 1
                                                          : 2);
  set(CostTerm::Awaited, schedule.columnOperands == ColumnOperands::awaited);
  set(CostTerm::Cluster, std::log2(cluster));
  set(CostTerm::Occupancy, std::log2(getOccupancy(schedule, facts, chip)));
  set(CostTerm::Instructions,
      std::log2(estimateInstructions(schedule, facts, chip)));
  set(CostTerm::Groups, std::log2(schedule.rowGroups));
  set(CostTerm::InFlight, std::log2(schedule.rowsPerGroup));
  set(CostTerm::Stages, schedule.stages);
  if (schedule.columnSums == ColumnSums::registers)
    partials = 32. * facts.numColumnSums * columns / rowBits;
  if (facts.numColumnSums == 0 || schedule.columnSums == ColumnSums::registers)
    return;
  const ScheduleFields &sums = schedule.sums ? *schedule.sums : schedule;
  if (sums.columnSums == ColumnSums::strips) {
    set(CostTerm::Sums, 2);
    return;
  }
  sumTileRows = sums.getTileRows();
  set(CostTerm::Sums, 1);
  set(CostTerm::Strip,
      std::log2(sums.getStripColumns() * facts.sumsNarrowestBits / 8.));
  const double sumBlocks =
      double(llvm::divideCeil(columns, sums.getStripColumns())) /
      multiprocessors;
  set(CostTerm::SumBlocks, std::log2(sumBlocks));
  set(CostTerm::SumThreads, std::log2(sumBlocks * sums.getBlockThreads()));
}

CostTerms ScheduleCost::getTerms(int64_t rows) const {
  CostTerms all = terms;
  auto set = [&](CostTerm term, double value) { all[size_t(term)] = value; };
  const double tiles = llvm::divideCeil(rows, tileRows);
  const double occupancy = terms[size_t(CostTerm::Occupancy)];
  double blocks = std::log2(tiles * cluster / multiprocessors);
  set(CostTerm::Waves, blocks - occupancy);
  if (isPersistent) {
    const double turns = std::max(1., std::exp2(blocks - occupancy));
    set(CostTerm::Idle, std::log2(std::ceil(turns - 1e-9) / turns));
    blocks = std::min(blocks, occupancy);
  }
  set(CostTerm::Blocks, blocks);
  // A row of them for each cluster, of blocks that are persistent.
  const double partialRows = multiprocessors * std::exp2(blocks) / cluster;
  set(CostTerm::Partials, std::log2(1. / 64 + partials * partialRows / rows));
  if (sumTileRows > 0) {
    const double turns = llvm::divideCeil(rows, sumTileRows);
    set(CostTerm::SumTurns, std::log2(turns));
    set(CostTerm::SumIdle, std::log2(turns * sumTileRows / rows));
  }
  return all;
}

double ScheduleCost::predict(int64_t rows) const {
  const CostTerms costs = predictTerms(rows);
  return std::accumulate(costs.begin(), costs.end(), 0.);
}

CostTerms ScheduleCost::predictTerms(int64_t rows) const {
  CostTerms costs = getTerms(rows);
  const Place at = locate(getWork(rowBits, rows, multiprocessors), model->work);
  for (auto [value, term] : llvm::zip(costs, model->terms)) {
    if (term.count == 0) {
      value = 0;
      continue;
    }
    const Place place = locate(value, ArrayRef(term.knots, term.count));
    value = (1 - at.share) * evaluate(term, place, at.knot) +
            at.share * evaluate(term, place, at.knot + 1);
  }
  return costs;
}
