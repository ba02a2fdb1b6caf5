// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostCalls.h - calls of runtime/include/rmsnorm/embed.h ------------===//

#ifndef RMSNORM_LIB_EMBED_HOSTCALLS_H
#define RMSNORM_LIB_EMBED_HOSTCALLS_H

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/SymbolTable.h"

namespace mlir::rmsnorm {

/// Emits the arguments of calls of the runtime into the host code of a module.
class HostCalls {
public:
  HostCalls(ModuleOp module, ArrayRef<gpu::GPUModuleOp> kernels)
      : module(module), symbols(module), builder(module.getContext()),
        kernels(kernels.begin(), kernels.end()),
        pointer(LLVM::LLVMPointerType::get(module.getContext())) {}

  /// Whether a launch is of one of our kernels.
  bool isOurs(gpu::LaunchFuncOp launch) {
    return llvm::any_of(kernels, [&](gpu::GPUModuleOp kernel) {
      return kernel.getName() == launch.getKernelModuleName();
    });
  }

  /// The machine code of our gpu.modules as constants of the program.
  LogicalResult emitObjects(gpu::CompilationTarget format);

  /// The table of a kernel's values that are the same at each launch.
  FailureOr<LLVM::GlobalOp> getKernel(gpu::LaunchFuncOp launch);
  /// Replaces a launch by a call.
  LogicalResult emitLaunch(gpu::LaunchFuncOp launch);
  void emitSynchronize(Operation *after);
  /// Replace the op by a call. `launch`: the one whose grid it is for.
  LogicalResult emitMultiprocessorCount(MultiprocessorCountOp op);
  LogicalResult emitResidentClusters(ResidentClustersOp op,
                                     gpu::LaunchFuncOp launch);

  /// Memory of the runtime's, given back after `last`: a pointer.
  FailureOr<Value> emitWorkspace(WorkspaceOp workspace, Value bytes,
                                 Operation *last);

private:
  /// An integer of `bits`, or the address of a global.
  struct Field {
    Field() = default;
    Field(LLVM::GlobalOp global) : global(global) {}
    Field(unsigned bits, int64_t value) : bits(bits), value(value) {}
    LLVM::GlobalOp global;
    unsigned bits = 0;
    int64_t value = 0;
  };

  Value emitCall(Location loc, StringRef callee, Type result,
                 ValueRange arguments);
  Value emitAddress(Location loc, LLVM::GlobalOp global);
  Value emitI64(Location loc, int64_t value);
  Value emitCast(Location loc, Value value);
  LLVM::GlobalOp createGlobal(Location loc, const Twine &name, Type type,
                              bool isConstant, Attribute value = {});
  LLVM::GlobalOp createString(Location loc, const Twine &name, StringRef text);
  LLVM::GlobalOp createTable(Location loc, const Twine &name,
                             ArrayRef<Field> fields);

  ModuleOp module;
  SymbolTable symbols;
  OpBuilder builder;
  SmallVector<gpu::GPUModuleOp> kernels;
  LLVM::LLVMPointerType pointer;
  /// By the name of their gpu.module; none where upstream holds the code.
  llvm::StringMap<LLVM::GlobalOp> objects;
  DenseMap<Attribute, LLVM::GlobalOp> tables;
  bool isFailed = false;
};

/// A constant of a launch; 0 if there is no value. Emits an error with `what`.
FailureOr<int64_t> getConstantOperand(gpu::LaunchFuncOp launch, Value value,
                                      StringRef what);

/// A letter for each parameter, see rmsnorm_gpu_kernel.
FailureOr<std::string> getParameterKinds(gpu::LaunchFuncOp launch);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_EMBED_HOSTCALLS_H
