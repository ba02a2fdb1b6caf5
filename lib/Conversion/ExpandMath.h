// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandMath.h - math without a library ------------------------------===//

#ifndef RMSNORM_LIB_CONVERSION_EXPANDMATH_H
#define RMSNORM_LIB_CONVERSION_EXPANDMATH_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {

/// LLVM's names of a GPU's instructions on f32 scalars. Errors are in units of
/// the last place of a normal result; a smaller one may be zero.
struct F32Intrinsics {
  /// 2 ulp.
  llvm::StringLiteral rsqrt, exp2;
  /// 1 ulp, of divisors from 1 on; above 2^126 zero.
  llvm::StringLiteral reciprocal;
  /// 2.5 ulp, of all divisors.
  llvm::StringLiteral divide;
};

/// Rewrites math ops and divisions into arith and ops that the back end selects
/// without a library: as `expandFunctions`, rsqrt, exp2 and divisions of
/// vectors by the instructions. Errors in ulp of f32: division 2.5.
LogicalResult expandMath(gpu::GPUModuleOp module,
                         const F32Intrinsics &intrinsics);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_CONVERSION_EXPANDMATH_H
