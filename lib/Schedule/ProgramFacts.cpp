// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ProgramFacts.cpp - what a schedule depends on ---------------------===//

#include "RMSNorm/Schedule/ProgramFacts.h"

#include "llvm/ADT/StringExtras.h"
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

int64_t mlir::rmsnorm::getWidestVector(const ProgramFacts &facts,
                                       const ChipInfo &chip) {
  return std::min(8 * std::min(chip.accessBytes, kMaxAccessBytes) /
                      facts.narrowestBits,
                  kMaxVectorWidth);
}

std::string mlir::rmsnorm::getProgramKey(const ProgramFacts &facts) {
  std::string key;
  llvm::raw_string_ostream os(key);
  llvm::ListSeparator comma(",");
#define RMSNORM_PROGRAM_FACT(Type, member, text, Default)                      \
  os << comma << #text "="                                                     \
     << (int64_t(facts.member) == kDynamicColumns                              \
             ? "?"                                                             \
             : std::to_string(facts.member));
#define RMSNORM_LATER_FACT(Type, member, text, Default)                        \
  if (facts.member != Type(Default))                                           \
    os << comma << #text "=" << facts.member;
#include "RMSNorm/Schedule/ProgramFacts.def"
  return key;
}
