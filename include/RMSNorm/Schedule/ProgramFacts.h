// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramFacts.h - what a schedule depends on -----------------------===//

#ifndef RMSNORM_SCHEDULE_PROGRAMFACTS_H
#define RMSNORM_SCHEDULE_PROGRAMFACTS_H

#include "RMSNorm/IR/RMSNorm.h"

#include <string>

namespace mlir::rmsnorm {

/// The facts that selection knows of a program over rows, described in
/// ProgramFacts.def.
struct ProgramFacts {
#define RMSNORM_PROGRAM_FACT(Type, member, text, Default) Type member = Default;
#include "RMSNorm/Schedule/ProgramFacts.def"

  bool hasBound() const { return columns != kDynamicColumns; }
  /// The class of N, which only a call knows: see dynamicColumns.
  bool hasNarrowColumns() const { return dynamicColumns == 2; }
  void setNarrowColumns(bool narrow) { dynamicColumns = narrow ? 2 : 1; }
  /// Columns of the least vector: both of a pair, whose halves are accessed by
  /// themselves, too, and whole bytes.
  int64_t getLeastVector() const {
    return (hasPairs ? 2 : 1) * (accessesFloat4 ? 2 : 1);
  }
  /// So many columns are taken apart alike.
  int64_t getWhole() const { return whole == 0 ? columns : whole; }
  /// Where rows are taken apart: how often they are so alike, and columns of a
  /// part that threads share out, of all of these.
  int64_t getRepeats() const { return columns / getWhole(); }
  int64_t getSharedColumns() const { return part * getRepeats(); }
  int64_t getOperations() const { return operationsBefore + operationsAfter; }
  int64_t getFunctions() const { return functionsBefore + functionsAfter; }
  /// Bytes of `count` columns of so many bits each.
  static int64_t getBytes(int64_t bitsPerColumn, int64_t count);
  /// The facts of the loop that column_sums = strips splits off.
  ProgramFacts getSumsFacts() const;
};

/// The widest access that there is a lowering for, and the most elements of
/// a vector.
constexpr int64_t kMaxAccessBytes = 16, kMaxVectorWidth = 16;

/// Elements of the narrowest operand in the chip's widest access, the unit in
/// which rows are measured.
int64_t getWidestVector(const ProgramFacts &facts, const ChipInfo &chip);

/// All facts as text, "columns=4096,dynamic_columns=0,...": the key of a
/// program in tuning files. Programs of one key get one schedule. The class of
/// N without an upper bound has "columns=?". Classes are tuned apart, since the
/// best schedule of one is not that of another.
std::string getProgramKey(const ProgramFacts &facts);

} // namespace mlir::rmsnorm

#endif // RMSNORM_SCHEDULE_PROGRAMFACTS_H
