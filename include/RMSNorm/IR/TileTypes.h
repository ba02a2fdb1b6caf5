// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileTypes.h - what the shape of a tile's value says ---------------===//

#ifndef RMSNORM_IR_TILETYPES_H
#define RMSNORM_IR_TILETYPES_H

#include "RMSNorm/IR/RMSNorm.h"

namespace mlir::rmsnorm {

/// The value that changes nothing in a reduction.
APFloat getIdentity(ReduceKind kind, const llvm::fltSemantics &semantics);
/// Whether `value` is that: any NaN, a zero of either sign.
bool isIdentity(ReduceKind kind, const APFloat &value);

/// Whether threads of a row hold different parts of `type`: RxN, 1xN, N > 1.
inline bool isPerColumn(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() == 2 && vector.getDimSize(1) != 1;
}

} // namespace mlir::rmsnorm

#endif // RMSNORM_IR_TILETYPES_H
