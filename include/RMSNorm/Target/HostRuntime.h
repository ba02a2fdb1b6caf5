// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostRuntime.h - what code for the CPU needs -----------------------===//

#ifndef RMSNORM_TARGET_HOSTRUNTIME_H
#define RMSNORM_TARGET_HOSTRUNTIME_H

namespace llvm {
class Module;
} // namespace llvm

namespace mlir::rmsnorm {

/// Defines in `module`, with hidden visibility, the functions that LLVM's code
/// generators call to convert f16 and bf16 (__truncsfbf2, __truncdfbf2,
/// __truncsfhf2, __truncdfhf2, __extendhfsf2) and to divide in 128 bits
/// (__udivti3). Those that the module defines already are left alone, and so is
/// a module without such types or divisions. Debian 12's libgcc lacks half of
/// them, and a module with all of them needs no library at all. Rounding is to
/// nearest even, once (from f64 too); NaNs become quiet.
/// Call it after the module's triple and data layout are set and before
/// optimising or code generation.
void addHostRuntimeFunctions(llvm::Module &module);

/// Makes stores of constants less wide than a byte ones of a byte. LLVM's fast
/// instruction selection knows no i3, the type of a coroutine's next wait, and
/// leaves the rest of a block where it is stored to the slow one.
void widenStores(llvm::Module &module);

} // namespace mlir::rmsnorm

#endif // RMSNORM_TARGET_HOSTRUNTIME_H
