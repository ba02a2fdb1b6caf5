// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandFunctions.h - functions by arithmetic ------------------------===//

#ifndef RMSNORM_LIB_CONVERSION_EXPANDFUNCTIONS_H
#define RMSNORM_LIB_CONVERSION_EXPANDFUNCTIONS_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::rmsnorm {

/// Whether all targets select `op`, of math, as one instruction or a short
/// sequence.
bool isNative(Operation *op);

/// Rewrites ops of arith and math that have no instruction into those that
/// have, the same on all targets: what is left of math is native, or rsqrt and
/// exp2 of f32. Functions of f16 and bf16 are computed in f32. The errors are
/// in runtime/lib/Oracle/Interval.cpp.
LogicalResult expandFunctions(gpu::GPUModuleOp module);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_CONVERSION_EXPANDFUNCTIONS_H
