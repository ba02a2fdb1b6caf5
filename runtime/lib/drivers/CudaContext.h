//===- CudaContext.h - the primary context of an NVIDIA device ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_DRIVERS_CUDACONTEXT_H
#define RMSNORM_RUNTIME_DRIVERS_CUDACONTEXT_H

#include "CudaChip.h"
#include "CudaSymbols.h"
#include "Gpu.h"

namespace rmsnorm::runtime::cuda {

/// The primary context, retained while a device or a loaded image uses it.
class PrimaryContext : public GpuContext {
public:
  PrimaryContext(std::shared_ptr<const CudaSymbols> symbols, CUdevice device)
      : symbols(std::move(symbols)), device(device) {}
  ~PrimaryContext() override {
    if (context)
      symbols->cuDevicePrimaryCtxRelease(device);
  }
  PrimaryContext(const PrimaryContext &) = delete;

  const GpuSymbols &getSymbols() const override { return *symbols; }
  /// PyTorch and the CUDA run time keep it current anyway, and then this costs
  /// one look.
  int enter(bool &changed, int &, const char *&name) const override {
    CUcontext current = nullptr;
    if (symbols->cuCtxGetCurrent(&current) == 0 && current == context)
      return 0;
    CUresult result = symbols->cuCtxPushCurrent(context);
    name = symbols->cuCtxPushCurrent.name;
    changed = result == 0;
    return result;
  }
  void leave(int) const override {
    CUcontext popped;
    symbols->cuCtxPopCurrent(&popped);
  }

  std::shared_ptr<const CudaSymbols> symbols;
  CUdevice device;
  CUcontext context = nullptr;
  Chip chip;
  int maxSharedMemory = 0; // per block, after opting in
  int multiprocessorSharedMemory = 0;
  int reservedSharedMemory = 0; // per block
};

} // namespace rmsnorm::runtime::cuda

#endif // RMSNORM_RUNTIME_DRIVERS_CUDACONTEXT_H
