//===- CudaContext.h - the primary context, and making it current ---------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_DRIVERS_CUDACONTEXT_H
#define RMSNORM_RUNTIME_DRIVERS_CUDACONTEXT_H

#include "CudaChip.h"
#include "CudaSymbols.h"

namespace rmsnorm::runtime::cuda {

/// Makes the device's context current for a scope. PyTorch and the CUDA run
/// time keep it current anyway, and then this costs one look.
class ContextScope {
public:
  ContextScope(const Symbols &symbols, CUcontext context) : symbols(symbols) {
    CUcontext current = nullptr;
    if (symbols.cuCtxGetCurrent(&current) == 0 && current == context)
      return;
    result = symbols.cuCtxPushCurrent(context);
    pushed = result == 0;
  }
  ~ContextScope() {
    CUcontext popped;
    if (pushed)
      symbols.cuCtxPopCurrent(&popped);
  }
  ContextScope(const ContextScope &) = delete;

  CUresult result = 0;

private:
  const Symbols &symbols;
  bool pushed = false;
};

/// The primary context, retained while a device or a loaded image uses it.
class PrimaryContext {
public:
  PrimaryContext(std::shared_ptr<const Symbols> symbols, CUdevice device)
      : symbols(std::move(symbols)), device(device) {}
  ~PrimaryContext() {
    if (context)
      symbols->cuDevicePrimaryCtxRelease(device);
  }
  PrimaryContext(const PrimaryContext &) = delete;

  std::shared_ptr<const Symbols> symbols;
  CUdevice device;
  CUcontext context = nullptr;
  Chip chip;
  int maxSharedMemory = 0; // per block, after opting in
  int multiprocessorSharedMemory = 0;
  int reservedSharedMemory = 0; // per block
};

} // namespace rmsnorm::runtime::cuda

/// Enters the device's context for the rest of the function.
#define RMSNORM_CUDA_ENTER(symbols, context)                                   \
  ::rmsnorm::runtime::cuda::ContextScope scope_(symbols, context);             \
  if (scope_.result)                                                           \
  return ::rmsnorm::runtime::cuda::driverError(symbols, scope_.result,         \
                                               "cuCtxPushCurrent")

#endif // RMSNORM_RUNTIME_DRIVERS_CUDACONTEXT_H
