// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.td - passes from the op to placed tiles ---------------------===//
//
// In pipeline order: the passes on the source, the tensor half, the passes on
// rows.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_TRANSFORMS_PASSES_TD
#define RMSNORM_TRANSFORMS_PASSES_TD

include "RMSNorm/Transforms/SourcePasses.td"
include "RMSNorm/Transforms/TensorPasses.td"
include "RMSNorm/Transforms/RowsPasses.td"

#endif // RMSNORM_TRANSFORMS_PASSES_TD
