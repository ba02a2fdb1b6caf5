//===- HipImage.h - code loaded on an AMD device --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_DRIVERS_HIPIMAGE_H
#define RMSNORM_RUNTIME_DRIVERS_HIPIMAGE_H

#include "Gpu.h"
#include "HipSymbols.h"

namespace rmsnorm::runtime::hip {

/// The device as the thread's current one.
class HipContext : public GpuContext {
public:
  HipContext(std::shared_ptr<const HipSymbols> symbols, int device,
             int64_t sharedMemory)
      : symbols(std::move(symbols)), device(device),
        maxSharedMemory(sharedMemory) {}

  const GpuSymbols &getSymbols() const override { return *symbols; }
  int enter(bool &changed, int &former, const char *&name) const override {
    hipError_t result = symbols->hipGetDevice(&former);
    changed = result == 0 && former != device;
    name = symbols->hipSetDevice.name;
    return changed ? symbols->hipSetDevice(device) : result;
  }
  void leave(int former) const override { symbols->hipSetDevice(former); }

  const std::shared_ptr<const HipSymbols> symbols;
  const int device;
  const int64_t maxSharedMemory;
};

class HipImage : public LoadedImage {
public:
  explicit HipImage(std::shared_ptr<const HipContext> context)
      : context(std::move(context)) {}
  ~HipImage() override {
    GpuScope scope(*context);
    if (module)
      context->symbols->unloadModule(module);
  }

  rmsnorm_status loadBinary(const rmsn::Binary &binary);
  rmsnorm_status prepareKernel(const KernelRequirement &requirement,
                               Kernel &kernel) override;

private:
  std::shared_ptr<const HipContext> context;
  Bytes code; // kept: older HIP reads it after loading
  hipModule_t module = nullptr;
};

} // namespace rmsnorm::runtime::hip

#endif // RMSNORM_RUNTIME_DRIVERS_HIPIMAGE_H
