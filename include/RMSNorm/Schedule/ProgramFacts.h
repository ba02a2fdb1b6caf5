// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramFacts.h - what a schedule depends on -----------------------===//

#ifndef RMSNORM_SCHEDULE_PROGRAMFACTS_H
#define RMSNORM_SCHEDULE_PROGRAMFACTS_H

#include "RMSNorm/IR/RMSNorm.h"

#include <string>

namespace mlir::rmsnorm {

/// What selection knows of a program over rows. Whoever has the program
/// collects it.
struct ProgramFacts {
  /// Columns N; where only a call knows it, the most that it has, the bound of
  /// a class of N, or kDynamicColumns for the class without end. 1 if the
  /// program touches only per-row values.
  int64_t columns = 1;
  /// Whether N is known only at a call.
  bool dynamicColumns = false;
  /// Bits of the narrowest element among the tiles and per-column operands
  /// that are loaded or stored; of bytes beside wider tiles 16.
  int64_t narrowestBits = 32;
  /// Tiles read from memory whose values are needed on both sides of a
  /// row_reduce, in bits per column: what caching a row costs.
  int64_t liveBitsPerColumn = 0;
  /// All tiles read from memory, in bits per column.
  int64_t loadedBitsPerColumn = 0;
  /// row_reduce ops.
  int64_t numReductions = 0;
  /// accumulate ops: sums over rows, an f32 per column each.
  int64_t numColumnSums = 0;
  /// Whether there is one row for certain.
  bool singleRow = false;
  /// 1: a column takes more than five operations for every two bytes of it that
  /// are read or written, so that memory alone does not set the pace; 2: and
  /// more than nine instructions.
  int64_t manyOperations = 0;
  /// Operations on every column that take many instructions: exp and the like,
  /// divisions.
  int64_t numFunctions = 0;
  /// Those of them before a row_reduce whose values are needed behind it, and
  /// computed again with a row that is read again.
  int64_t numRepeatedFunctions = 0;
  /// Tiles read from memory that several rows share, as those of one position
  /// do the sines of RoPE, in bits per column.
  int64_t sharedBitsPerColumn = 0;
  /// Columns of a group of those that are reduced by groups; 0: none are. Of
  /// several sizes the largest, which all others divide.
  int64_t groupColumns = 0;
  /// Columns of which all parts that rows are taken apart into begin and end at
  /// multiples; 0: rows are whole.
  int64_t part = 0;

  // Not in the key: a tuning record says what they decide.
  /// Per-column operands, in bits per column.
  int64_t columnOperandBits = 0;
  /// Tiles written to memory, in bits per column.
  int64_t storedBitsPerColumn = 0;
  /// `narrowestBits` of what the sums over rows alone load: those of the loop
  /// that column_sums = strips splits off.
  int64_t sumsNarrowestBits = 32;

  bool hasBound() const { return columns != kDynamicColumns; }
  /// Bytes that `count` columns take of what has so many bits a column.
  static int64_t getBytes(int64_t bitsPerColumn, int64_t count);
  /// The facts of the loop that column_sums = strips splits off.
  ProgramFacts getSumsFacts() const;
};

/// The facts as text, "columns=4096,narrowest_bytes=2,...": what a tuning file
/// knows a program by. Programs of one key get one schedule. Where N is known
/// only at a call, "columns=?" is the class without end and "columns=?<=512"
/// one with: classes are tuned apart, as what is best for one is not for
/// another.
std::string getProgramKey(const ProgramFacts &facts);

} // namespace mlir::rmsnorm

#endif // RMSNORM_SCHEDULE_PROGRAMFACTS_H
