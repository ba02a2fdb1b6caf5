// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Ours.h - which gpu.modules are ours -------------------------------===//

#ifndef RMSNORM_LIB_EMBED_OURS_H
#define RMSNORM_LIB_EMBED_OURS_H

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::rmsnorm {

/// Whether `op` is a gpu.module that our target compiles.
inline bool isOurModule(Operation *op) {
  auto module = dyn_cast<gpu::GPUModuleOp>(op);
  return module && module.getTargetsAttr() &&
         llvm::any_of(module.getTargetsAttr(), llvm::IsaPred<TargetAttr>);
}

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_EMBED_OURS_H
