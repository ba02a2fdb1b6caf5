// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceModules.h - the device code of a module ----------------------===//

#ifndef RMSNORM_LIB_CONVERSION_DEVICEMODULES_H
#define RMSNORM_LIB_CONVERSION_DEVICEMODULES_H

#include "RMSNorm/IR/KernelTarget.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir {
class LLVMTypeConverter;
} // namespace mlir

namespace mlir::rmsnorm {

/// Calls `finalize` with the chip and each of our gpu.modules below `root`. All
/// of them are checked as device code before. Emits an error if `root` has no
/// target, or one of another backend.
LogicalResult finalizeModules(
    ModuleOp root, Backend backend, StringRef passName,
    function_ref<LogicalResult(gpu::GPUModuleOp, const ChipInfo &)> finalize);

/// Refuses operations that no target has code for: unregistered ones, those
/// that are not in ElementOps.def, and vectors too wide for a thread, which
/// code generators would unroll. Drops the rounding to nearest even that is
/// spelled out: some back ends know no conversion with a mode.
LogicalResult prepareDeviceCode(gpu::GPUModuleOp module);

/// Refuses exchanges between more blocks than a cluster of the chip has.
LogicalResult checkExchanges(gpu::GPUModuleOp module, const ChipInfo &chip);

/// Has arithmetic on floats of `types` done in f32, each operation rounded to
/// its type: upstream's patterns, but that no conversion may be folded away.
LogicalResult computeInF32(gpu::GPUModuleOp module, ArrayRef<Type> types);

/// Lowers everything left (arith, math, vector, scf, gpu) with upstream's
/// patterns; `populate` adds the target's. Fails, naming the operation, if
/// something has no lowering, or calls or declares a function that the
/// module does not define.
LogicalResult lowerToLLVM(
    gpu::GPUModuleOp module,
    function_ref<void(LLVMTypeConverter &, RewritePatternSet &)> populate);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_CONVERSION_DEVICEMODULES_H
