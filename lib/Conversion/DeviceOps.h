// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceOps.h - operations that several targets make -----------------===//

#ifndef RMSNORM_LIB_CONVERSION_DEVICEOPS_H
#define RMSNORM_LIB_CONVERSION_DEVICEOPS_H

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::rmsnorm {

/// `lhs` and `rhs` combined.
Value createCombine(ImplicitLocOpBuilder &b, ReduceKind kind, Value lhs,
                    Value rhs);

/// A call of LLVM's intrinsic of that name.
Value createIntrinsic(ImplicitLocOpBuilder &b, Type result, const Twine &name,
                      ValueRange operands);

/// Inline assembly with no memory clobber. `results` may be empty.
LLVM::InlineAsmOp createAsm(ImplicitLocOpBuilder &b, Type result,
                            ValueRange operands, StringRef text,
                            StringRef constraints, bool sideEffects);

/// Has the kernels of `module` make two f32 of a word of two bf16 by a shift
/// and a mask, not by conversions, which are three instructions.
void widenPairs(gpu::GPUModuleOp module);

/// Whether a rmsnorm.keep after `type` waits for loads whose bits these are.
inline bool isLoadedBits(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getElementType().isInteger(32) &&
         vector.getNumElements() == 1;
}

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_CONVERSION_DEVICEOPS_H
