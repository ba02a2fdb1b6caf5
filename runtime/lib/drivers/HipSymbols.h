//===- HipSymbols.h - libamdhip64, loaded at run time ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types declared by hand, so that no ROCm is needed. Enumerators are HIP's own,
// which differ from CUDA's where the names are alike.

#ifndef RMSNORM_RUNTIME_DRIVERS_HIPSYMBOLS_H
#define RMSNORM_RUNTIME_DRIVERS_HIPSYMBOLS_H

#include "GpuSymbols.h"

#include <memory>

namespace rmsnorm::runtime::hip {

using hipError_t = int; // 0: success
using hipModule_t = void *;
using hipFunction_t = void *;
using hipStream_t = void *;
using hipEvent_t = void *;

// hipDeviceAttribute_t
enum : int { MultiprocessorCount = 63, MaxSharedMemoryPerBlock = 74 };

// hipMemcpyKind
enum : int {
  HostToDevice = 1,
  DeviceToHost = 2,
  DeviceToDevice = 3,
  AnyToAny = 4,
};

/// The driver's functions, see HipSymbols.def.
struct HipSymbols : GpuSymbols {
#define RMSNORM_HIP_REQUIRED(name, result, parameters)                         \
  DriverFunction<result parameters> name;
#define RMSNORM_HIP_OPTIONAL RMSNORM_HIP_REQUIRED
#include "HipSymbols.def"
#undef RMSNORM_HIP_REQUIRED
#undef RMSNORM_HIP_OPTIONAL

  void describe(int result, const char *&name,
                const char *&words) const override;
};

/// Loads the driver (option, environment RMSNORM_HIP_LIBRARY, usual names) and
/// all its functions, or fails with everything that was tried.
rmsnorm_status loadSymbols(const char *library,
                           std::shared_ptr<const HipSymbols> &symbols);

} // namespace rmsnorm::runtime::hip

#endif // RMSNORM_RUNTIME_DRIVERS_HIPSYMBOLS_H
