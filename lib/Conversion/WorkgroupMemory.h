// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WorkgroupMemory.h - a block's dynamic workgroup memory -------------===//

#ifndef RMSNORM_LIB_CONVERSION_WORKGROUPMEMORY_H
#define RMSNORM_LIB_CONVERSION_WORKGROUPMEMORY_H

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::rmsnorm {

/// The symbol of a kernel's dynamic workgroup memory, made on first use.
LLVM::GlobalOp getWorkgroupBuffer(gpu::GPUModuleOp module);

/// Replaces the module's workgroup loads and stores. `registerClass` is the
/// constraint of an i32 in the target's assembly.
void lowerWorkgroupAccesses(gpu::GPUModuleOp module, StringRef registerClass);

/// The address of byte `offset` of workgroup memory.
Value createWorkgroupAddress(ImplicitLocOpBuilder &b, gpu::GPUModuleOp module,
                             Value offset);

/// Replaces the asynchronous copies for which `isPlain` holds by loads and
/// stores.
void expandCopies(gpu::GPUModuleOp module,
                  function_ref<bool(AsyncCopyOp)> isPlain);

/// The same for all of them, where a chip has no copies in the background:
/// waits go, too.
void expandAllCopies(gpu::GPUModuleOp module);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_CONVERSION_WORKGROUPMEMORY_H
