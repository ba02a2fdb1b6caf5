// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NVVM.h - what finalize-nvvm consists of ----------------------------===//

#ifndef RMSNORM_LIB_CONVERSION_NVVM_H
#define RMSNORM_LIB_CONVERSION_NVVM_H

#include "RMSNorm/Target/Targets.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::rmsnorm {

/// Replaces global loads and stores and asynchronous copies by instructions of
/// `chip`.
void lowerGlobalMemoryToPTX(gpu::GPUModuleOp module, const ChipInfo &chip);

/// Replaces the ops of exchanges by mbarriers and st.async.
void lowerExchangesToMBarriers(gpu::GPUModuleOp module);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_CONVERSION_NVVM_H
