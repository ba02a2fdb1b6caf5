// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandMath.h - math without a library ------------------------------===//

#ifndef RMSNORM_LIB_CONVERSION_EXPANDMATH_H
#define RMSNORM_LIB_CONVERSION_EXPANDMATH_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::rmsnorm {

/// Makes an f32 operation of one scalar.
using ScalarF32Lowering = function_ref<Value(ImplicitLocOpBuilder &, Value)>;

/// Rewrites math ops into arith and what the back end selects without a
/// library: approximations for the transcendental ones, `rsqrt` and `exp2` on
/// f32 scalars through the callbacks. 16-bit ones are computed in f32.
LogicalResult expandMath(gpu::GPUModuleOp module, ScalarF32Lowering rsqrt,
                         ScalarF32Lowering exp2);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_CONVERSION_EXPANDMATH_H
