// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileProgram.h - what a kernel can hold ----------------------------===//

#ifndef RMSNORM_LIB_TILING_TILEPROGRAM_H
#define RMSNORM_LIB_TILING_TILEPROGRAM_H

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::rmsnorm {

/// How `combiner` reduces; none if a row_reduce does not.
std::optional<ReduceKind> getReduceKind(Operation *combiner);

/// The op that combines what `init`, of an op that reduces, accumulates.
Operation *getCombiner(linalg::LinalgOp op, OpOperand &init);

/// The first op in the body of `op` that no tile program holds
/// (`whyNotComputable`), of those that compute elements; null if there is none.
Operation *findNotComputable(linalg::LinalgOp op);

/// Why no kernel can hold `op`, which works row by row, to follow "it ": it has
/// no tile program or, `everywhere`, some back end lacks its types; empty if
/// one can. What it loads and stores is another matter
/// (`whyNotStorable`).
std::string whyNoKernel(linalg::LinalgOp op, bool everywhere);

/// Whether `op` stands in a kernel, or in what is to be one.
bool isDeviceCode(Operation *op);

/// Why no kernel loads, or stores, elements of `type` as `kind`; empty if one
/// does.
std::string whyNotStorable(TileKind kind, ShapedType type, bool isLoad);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TILING_TILEPROGRAM_H
