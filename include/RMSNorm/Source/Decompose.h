// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Decompose.h - norms as linalg ops ----------------------------------===//

#ifndef RMSNORM_SOURCE_DECOMPOSE_H
#define RMSNORM_SOURCE_DECOMPOSE_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {

/// Creates the linalg ops that `norm`, rmsnorm.forward or rmsnorm.backward on
/// tensors, stands for, where the rewriter is. Returns a value for each result.
SmallVector<Value> decomposeNorm(RewriterBase &rewriter, Operation *norm);

} // namespace mlir::rmsnorm

#endif // RMSNORM_SOURCE_DECOMPOSE_H
