// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileProgram.h - what a loop over rows can hold --------------------===//

#ifndef RMSNORM_TRANSFORMS_TILEPROGRAM_H
#define RMSNORM_TRANSFORMS_TILEPROGRAM_H

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::rmsnorm {

/// How `combiner` reduces; none if a row_reduce does not.
std::optional<ReduceKind> getReduceKind(Operation *combiner);

/// The op that combines what `init`, of an op that reduces, accumulates.
Operation *getCombiner(linalg::LinalgOp op, OpOperand &init);

/// Why `op`, which works row by row, has no tile program (rmsnorm-vectorize),
/// to follow "'op' "; empty if it has.
std::string whyNoTileProgram(linalg::LinalgOp op);

/// The same but for how `op` reads its operands.
std::string whyNotVectorizable(linalg::LinalgOp op);

/// Why no kernel can hold `op`, a norm or a linalg op that works row by row:
/// it has no tile program, or some back end lacks its types or its math.
/// What it loads and stores is another matter (`isStorable`).
std::string whyNoKernel(Operation *op);

/// Whether tensors of `type` can be loaded and stored by a kernel.
bool isStorable(Type type);

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_TILEPROGRAM_H
