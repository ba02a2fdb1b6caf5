// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramFacts.h - what a schedule depends on -----------------------===//

#ifndef RMSNORM_SCHEDULE_PROGRAMFACTS_H
#define RMSNORM_SCHEDULE_PROGRAMFACTS_H

#include "RMSNorm/IR/RMSNorm.h"

#include <string>

namespace mlir::rmsnorm {

/// What selection knows of a program over rows, described in ProgramFacts.def.
/// Whoever has the program collects it.
struct ProgramFacts {
#define RMSNORM_PROGRAM_FACT(Type, member, text, Default) Type member = Default;
#include "RMSNorm/Schedule/ProgramFacts.def"

  bool hasBound() const { return columns != kDynamicColumns; }
  int64_t getOperations() const { return operationsBefore + operationsAfter; }
  int64_t getFunctions() const { return functionsBefore + functionsAfter; }
  /// Bytes that `count` columns take of what has so many bits a column.
  static int64_t getBytes(int64_t bitsPerColumn, int64_t count);
  /// The facts of the loop that column_sums = strips splits off.
  ProgramFacts getSumsFacts() const;
};

/// All facts as text, "columns=4096,dynamic_columns=0,...": what a tuning file
/// knows a program by. Programs of one key get one schedule. The class of N
/// without end has "columns=?": classes are tuned apart, as what is best for
/// one is not for another.
std::string getProgramKey(const ProgramFacts &facts);

} // namespace mlir::rmsnorm

#endif // RMSNORM_SCHEDULE_PROGRAMFACTS_H
