// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CostModel.h - how long a schedule takes ----------------------------===//
//
// A schedule's time is predicted from a few terms: how much each thread has to
// do, and how its blocks fill the machine. The logarithm of the time is a sum
// over the terms, of a piecewise linear function of each. How much a term
// matters depends on the work of the call, so that each function is one of
// two variables. scripts/fit_schedules.py fits the functions to measurements of
// one chip; others are taken for that chip with their own numbers. Only
// differences between schedules of one program and one number of rows mean
// anything.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_SCHEDULE_COSTMODEL_H
#define RMSNORM_SCHEDULE_COSTMODEL_H

#include "RMSNorm/Schedule/ProgramFacts.h"
#include "RMSNorm/Target/Targets.h"

#include <array>

namespace mlir::rmsnorm {

/// Logarithms are of base 2.
enum class CostTerm {
  /// Of a thread's vectors of a row.
  Vectors,
  /// Logarithm of the elements that the widest access takes over those of
  /// a vector, and of those of a vector over those of the widest access, 0
  /// where
  /// that is less: the mean over all that is accessed, by its bits. Elements of
  /// several widths have accesses of several widths.
  Narrowed,
  Split,
  /// Logarithm of the bytes that a thread reads of a row and of per-column
  /// operands.
  Bytes,
  /// Share of the vectors of all threads that exist, of rows of one digit: the
  /// last ones may not.
  Used,
  /// Logarithm of the vectors of all threads over those that exist, of rows of
  /// several digits (Layout.h), where those of some threads never do.
  Padded,
  /// 0 if rows wait in registers, 1 if they are read again, 2 if they wait in
  /// workgroup memory.
  Cache,
  /// 1 if threads wait for per-column operands before the reduction.
  Awaited,
  /// Logarithm of the blocks of a row.
  Cluster,
  /// Logarithm of the blocks that a multiprocessor holds at once.
  Occupancy,
  /// Logarithm of the blocks of the call over those that the machine holds.
  Waves,
  /// Logarithm of the blocks of the call over the multiprocessors.
  Blocks,
  /// Logarithm of a thread's instructions.
  Instructions,
  /// Logarithm of the rows of a block that are worked on side by side.
  Groups,
  /// Logarithm of the rows that a thread works on at once.
  InFlight,
  /// Slots of the rings, 0 without.
  Stages,
  /// Logarithm of the turns of a persistent block, rounded up, over its share
  /// of the tiles.
  Idle,
  /// How rows are summed over: 0 not at all or by blocks that keep the sums of
  /// their rows, 1 by blocks that own columns of all rows, 2 by strips.
  Sums,
  /// Logarithm of the bytes of each row that a block owns, if it owns columns.
  Strip,
  /// Logarithm of such blocks over the multiprocessors, and of their threads.
  SumBlocks,
  SumThreads,
  /// Logarithm of the turns of such a block.
  SumTurns,
  /// Logarithm of the rows that it takes in these turns over those that there
  /// are.
  SumIdle,
  /// Logarithm of 1/64 more than the bytes of partial sums over those that the
  /// call reads and writes.
  Partials,
};
constexpr size_t kNumCostTerms = size_t(CostTerm::Partials) + 1;
using CostTerms = std::array<double, kNumCostTerms>;

/// "occupancy".
llvm::StringRef stringifyCostTerm(CostTerm term);

/// The work of a call with `rows` rows of `columns` columns: the logarithm of
/// the bytes that a multiprocessor reads and writes.
double getCallWork(const ProgramFacts &facts, const ChipInfo &chip,
                   int64_t rows, int64_t columns);

/// Whether rows are accessed in less than the chip's widest accesses, because N
/// is no multiple of their elements. Such rows have a model of their own: as
/// many bytes are many more accesses, so that more of a row's time is not the
/// memory's.
bool hasNarrowAccesses(const ProgramFacts &facts, const ChipInfo &chip);

/// How rows are accessed, for which there are models of their own: in whole
/// vectors, in narrow accesses, or, where nothing is summed over rows, taken
/// apart.
enum class RowAccess { whole, narrow, parts };
llvm::StringRef stringifyRowAccess(RowAccess access);
RowAccess getRowAccess(const ProgramFacts &facts, const ChipInfo &chip);

/// Registers that a thread is expected to need.
double estimateRegisters(const ScheduleFields &schedule,
                         const ProgramFacts &facts, const ChipInfo &chip);

/// The cost of a schedule for one program and rows of `columns` columns: those
/// of the facts or, where only a call knows N, no more than these.
class ScheduleCost {
public:
  ScheduleCost(const ScheduleFields &schedule, const ProgramFacts &facts,
               const ChipInfo &chip, int64_t columns);

  CostTerms getTerms(int64_t rows) const;
  /// The natural logarithm of the time, up to what all schedules have in
  /// common.
  double predict(int64_t rows) const;
  /// The same by term.
  CostTerms predictTerms(int64_t rows) const;

private:
  CostTerms terms = {};
  /// Rows of a tile, of the rows' blocks and of those that own columns, 0
  /// without these.
  int64_t tileRows, sumTileRows;
  int64_t cluster;
  bool isPersistent;
  double multiprocessors, rowBits;
  /// Bits of a row of partial sums by those that the program reads and writes
  /// of a row.
  double partials;
  const struct CostModel *model;
};

/// The numbers of rows that classes are chosen for: powers of two, which many
/// calls have, and the multiprocessors times such powers and their roots, so
/// that waves of blocks begin after one, up to so many bytes that the best
/// schedule depends on them no more. Of rows whose size only a call knows,
/// powers of four.
SmallVector<int64_t> getRowSamples(const ProgramFacts &facts,
                                   const ChipInfo &chip, int64_t columns);

/// Kernels of a program, one for each class of rows, at most.
constexpr size_t kMaxClasses = 5;

/// Classes of neighbouring samples, each a number of rows: the first sample
/// after each class, and the schedule for it.
struct CostPartition {
  double cost;
  SmallVector<std::pair<size_t, size_t>> classes;
};

/// What a class costs in a partition, and what a loss costs: a logarithm of a
/// time over the best one, of which twice as much costs more than twice as
/// much.
double getClassCost(const ProgramFacts &facts);
double getLossCost(double loss);

/// The classes, kMaxClasses at most, with the least sum of both costs. `losses`
/// are by sample and schedule.
CostPartition partitionCosts(ArrayRef<std::vector<double>> losses,
                             const ProgramFacts &facts);

} // namespace mlir::rmsnorm

#endif // RMSNORM_SCHEDULE_COSTMODEL_H
