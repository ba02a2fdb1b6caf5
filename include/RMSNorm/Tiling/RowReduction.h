// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowReduction.h - reductions of rows --------------------------------===//

#ifndef RMSNORM_TILING_ROWREDUCTION_H
#define RMSNORM_TILING_ROWREDUCTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::rmsnorm {

/// Whether `op` reduces rows to a value each, in a way that kernels have, and
/// is no contraction: rmsnorm-tile-clusters may begin with it.
bool isRowReduction(linalg::LinalgOp op);

} // namespace mlir::rmsnorm

#endif // RMSNORM_TILING_ROWREDUCTION_H
