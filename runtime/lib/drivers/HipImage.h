//===- HipImage.h - code loaded on an AMD device --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_DRIVERS_HIPIMAGE_H
#define RMSNORM_RUNTIME_DRIVERS_HIPIMAGE_H

#include "Device.h"
#include "HipSymbols.h"

namespace rmsnorm::runtime::hip {

/// Makes the device current for a scope and the former one again after it.
class DeviceScope {
public:
  DeviceScope(const Symbols &symbols, int device) : symbols(symbols) {
    result = symbols.hipGetDevice(&former);
    changed = result == 0 && former != device;
    if (changed)
      result = symbols.hipSetDevice(device);
  }
  ~DeviceScope() {
    if (changed)
      symbols.hipSetDevice(former);
  }
  DeviceScope(const DeviceScope &) = delete;

  hipError_t result = 0;

private:
  const Symbols &symbols;
  int former = 0;
  bool changed = false;
};

class HipImage : public LoadedImage {
public:
  HipImage(std::shared_ptr<const Symbols> symbols, int device,
           int64_t sharedMemory)
      : symbols(std::move(symbols)), device(device),
        maxSharedMemory(sharedMemory) {}
  ~HipImage() override {
    DeviceScope scope(*symbols, device);
    if (module)
      symbols->hipModuleUnload(module);
  }

  rmsnorm_status loadBinary(const rmsn::Binary &binary);
  rmsnorm_status prepareKernel(const KernelRequirement &requirement,
                               Kernel &kernel) override;

private:
  std::shared_ptr<const Symbols> symbols;
  int device;
  int64_t maxSharedMemory;
  Bytes code; // kept: older HIP reads it after loading
  hipModule_t module = nullptr;
};

} // namespace rmsnorm::runtime::hip

/// Enters the device for the rest of the function.
#define RMSNORM_HIP_ENTER(symbols, device)                                     \
  ::rmsnorm::runtime::hip::DeviceScope scope_(symbols, device);                \
  if (scope_.result)                                                           \
  return ::rmsnorm::runtime::hip::driverError(symbols, scope_.result,          \
                                              "hipSetDevice")

#endif // RMSNORM_RUNTIME_DRIVERS_HIPIMAGE_H
