// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileTypes.h - what the shape of a tile's value says ---------------===//

#ifndef RMSNORM_IR_TILETYPES_H
#define RMSNORM_IR_TILETYPES_H

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::rmsnorm {

/// Whether threads of a row hold different parts of `type`: RxN, 1xN, N > 1.
inline bool isPerColumn(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() == 2 && vector.getDimSize(1) != 1;
}

} // namespace mlir::rmsnorm

#endif // RMSNORM_IR_TILETYPES_H
