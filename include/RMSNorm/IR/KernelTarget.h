// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelTarget.h - what kernels are for ------------------------------===//

#ifndef RMSNORM_IR_KERNELTARGET_H
#define RMSNORM_IR_KERNELTARGET_H

#include "RMSNorm/IR/RMSNorm.h"

namespace mlir::rmsnorm {

/// Our target among those of `op`, a gpu.module of our kernels; null if it is
/// another gpu.module, or none.
TargetAttr getKernelTarget(Operation *op);

/// The target that `op` is compiled for, which `rmsnorm.target` of a module
/// around it says; emits an error naming the pass that sets it.
FailureOr<TargetAttr> getTarget(Operation *op);

} // namespace mlir::rmsnorm

#endif // RMSNORM_IR_KERNELTARGET_H
