// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ManyOperations.h - facts of programs with many operations ----------===//

#ifndef RMSNORM_TEST_UNIT_MANYOPERATIONS_H
#define RMSNORM_TEST_UNIT_MANYOPERATIONS_H

#include "RMSNorm/Schedule/ProgramFacts.h"

namespace mlir::rmsnorm {

/// Operations of a column: 1: more than five for every two bytes of it; 2: of
/// more than nine instructions. Depends on the bytes, so they are set first.
inline void setManyOperations(ProgramFacts &facts, int64_t many) {
  const int64_t bits = facts.loadedBitsPerColumn + facts.storedBitsPerColumn;
  facts.operationsAfter = many > 0 ? 5 * bits / 16 + 1 : 0;
  facts.numFloat4Conversions = many > 1 ? bits : 0;
}

} // namespace mlir::rmsnorm

#endif // RMSNORM_TEST_UNIT_MANYOPERATIONS_H
