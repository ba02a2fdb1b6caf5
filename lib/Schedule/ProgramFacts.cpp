// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramFacts.cpp - what a schedule depends on ---------------------===//

#include "RMSNorm/Schedule/ProgramFacts.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

int64_t ProgramFacts::getBytes(int64_t bitsPerColumn, int64_t count) {
  return llvm::divideCeil(bitsPerColumn * count, 8);
}

ProgramFacts ProgramFacts::getSumsFacts() const {
  ProgramFacts sums;
  sums.columns = columns;
  sums.dynamicColumns = dynamicColumns;
  sums.narrowestBits = sums.sumsNarrowestBits = sumsNarrowestBits;
  sums.numColumnSums = numColumnSums;
  sums.singleRow = singleRow;
  return sums;
}

/// "2", or "0.5" for half a byte.
static std::string toBytes(int64_t bits) {
  static constexpr StringLiteral eighths[] = {"",   ".125", ".25", ".375",
                                              ".5", ".625", ".75", ".875"};
  return (Twine(bits / 8) + eighths[bits % 8]).str();
}

std::string mlir::rmsnorm::getProgramKey(const ProgramFacts &facts) {
  static_assert(sizeof(ProgramFacts) == 136, "a new fact belongs in the key");
  std::string key;
  llvm::raw_string_ostream os(key);
  os << "columns=";
  if (facts.dynamicColumns)
    os << (facts.hasBound() ? "?<=" : "?");
  if (facts.hasBound())
    os << facts.columns;
  os << ",narrowest_bytes=" << toBytes(facts.narrowestBits)
     << ",live_bytes_per_column=" << toBytes(facts.liveBitsPerColumn)
     << ",loaded_bytes_per_column=" << toBytes(facts.loadedBitsPerColumn)
     << ",reductions=" << facts.numReductions
     << ",column_sums=" << facts.numColumnSums
     << ",single_row=" << facts.singleRow;
  if (facts.numFunctions > 0)
    os << ",functions=" << facts.numFunctions
       << ",repeated_functions=" << facts.numRepeatedFunctions;
  if (facts.manyOperations)
    os << ",many_operations=" << facts.manyOperations;
  if (facts.sharedBitsPerColumn > 0)
    os << ",shared_bytes_per_column=" << toBytes(facts.sharedBitsPerColumn);
  if (facts.groupColumns != 0)
    os << ",group_columns=" << facts.groupColumns;
  if (facts.part != 0)
    os << ",part=" << facts.part;
  return key;
}
