// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimPatterns.h - thread-level ops in a simulated kernel ------------===//

#ifndef RMSNORM_LIB_CONVERSION_SIMPATTERNS_H
#define RMSNORM_LIB_CONVERSION_SIMPATTERNS_H

#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::rmsnorm {

/// A kernel's coroutine. The blocks and values that its ops refer to.
struct SimKernel {
  Value launch;
  Value thread;
  /// The functions of the scheduler.
  Value table;
  /// Leaves the coroutine: to the scheduler, for now or for good.
  Block *exit = nullptr;
  /// The number of the next waiting op.
  int32_t nextSite = 0;
};

using SimKernels = llvm::DenseMap<Operation *, SimKernel>;

/// On global_load, global_store and async_copy: the number of the kernel
/// argument that the base pointer comes from (i32). The conversion needs it
/// after the argument has become a load.
constexpr llvm::StringLiteral kSimArgumentAttrName = "rmsnorm.sim_argument";

/// `pointer` + `offset` bytes.
Value createByteOffset(OpBuilder &builder, Location loc, Value pointer,
                       int64_t offset);

/// The thread-level ops, gpu ids, math functions and bf16 constants, in the
/// bodies of the functions in `kernels`.
void populateSimPatterns(const LLVMTypeConverter &converter,
                         SimKernels &kernels, RewritePatternSet &patterns);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_CONVERSION_SIMPATTERNS_H
