// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Decompose.h - our ops by definition
//----------------------------------===//

#ifndef RMSNORM_SOURCE_DECOMPOSE_H
#define RMSNORM_SOURCE_DECOMPOSE_H

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {

/// Creates the linalg ops that `norm`, rmsnorm.forward or rmsnorm.backward on
/// tensors, stands for, where the rewriter is. Returns a value for each result.
SmallVector<Value> decomposeNorm(RewriterBase &rewriter, Operation *norm);

/// Creates the loops that `op` stands for, where the rewriter is. What has an
/// index that is not that of an element is not stored, also a large one.
Value decomposeScatter(RewriterBase &rewriter, ScatterOp op);

} // namespace mlir::rmsnorm

#endif // RMSNORM_SOURCE_DECOMPOSE_H
