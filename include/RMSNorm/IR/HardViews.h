// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HardViews.h - views that MLIR takes for others --------------------===//

#ifndef RMSNORM_IR_HARDVIEWS_H
#define RMSNORM_IR_HARDVIEWS_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::rmsnorm {

/// The dimensions of the source that are none of the result. MLIR 22 tells them
/// by their strides, and takes the first of size 1 if those are not known:
/// memref.dim of the result then has the size of another dimension, or crashes.
llvm::SmallBitVector getDroppedDims(memref::SubViewOp op);

/// Makes memref.reinterpret_cast of the views in `function` that MLIR takes for
/// others: a memref.subview for which `getDroppedDims` has other dimensions,
/// and a memref.expand_shape that divides a dimension into several of unknown
/// size. MLIR's own pattern knows one of them at most and crashes
/// (ExpandStridedMetadata.cpp, getExpandedStrides). Needs the affine dialect.
void replaceHardViews(FunctionOpInterface function);

} // namespace mlir::rmsnorm

#endif // RMSNORM_IR_HARDVIEWS_H
