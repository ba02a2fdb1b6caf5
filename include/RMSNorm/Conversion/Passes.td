// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - from thread-level kernels to a target's LLVM dialect --===//

#ifndef RMSNORM_CONVERSION_PASSES_TD
#define RMSNORM_CONVERSION_PASSES_TD

include "mlir/Pass/PassBase.td"

#endif // RMSNORM_CONVERSION_PASSES_TD
