// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostWaits.h - where host code waits for launches ------------------===//

#ifndef RMSNORM_LIB_EMBED_HOSTWAITS_H
#define RMSNORM_LIB_EMBED_HOSTWAITS_H

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

namespace mlir::rmsnorm {

/// The ops after which the host has to wait: the last ones of runs of
/// `launches`, between which nothing looks at memory.
SmallVector<Operation *> getLastLaunches(ModuleOp module,
                                         ArrayRef<gpu::LaunchFuncOp> launches);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_EMBED_HOSTWAITS_H
