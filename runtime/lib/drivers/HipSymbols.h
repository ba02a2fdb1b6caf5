//===- HipSymbols.h - libamdhip64, loaded at run time ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types declared by hand, so that no ROCm is needed. Enumerators are HIP's own,
// which differ from CUDA's where the names are alike.

#ifndef RMSNORM_RUNTIME_DRIVERS_HIPSYMBOLS_H
#define RMSNORM_RUNTIME_DRIVERS_HIPSYMBOLS_H

#include "Status.h"

#include <cstddef>
#include <memory>

namespace rmsnorm::runtime::hip {

using hipError_t = int; // 0: success
using hipModule_t = struct ihipModule_t *;
using hipFunction_t = struct ihipModuleSymbol_t *;
using hipStream_t = struct ihipStream_t *;
using hipEvent_t = struct ihipEvent_t *;
using hipGraph_t = struct ihipGraph *;
using hipGraphExec_t = struct hipGraphExec *;

enum : hipError_t { hipErrorOutOfMemory = 2, hipErrorNoDevice = 100 };

// hipDeviceAttribute_t
enum : int { MultiprocessorCount = 63, MaxSharedMemoryPerBlock = 74 };

// hipFunction_attribute
enum : int { FUNC_MAX_THREADS_PER_BLOCK = 0, FUNC_SHARED_SIZE_BYTES = 1 };

// hipMemcpyKind
enum : int {
  HostToDevice = 1,
  DeviceToHost = 2,
  DeviceToDevice = 3,
  AnyToAny = 4,
};

enum : unsigned { StreamNonBlocking = 1 };
enum : unsigned { MemAttachGlobal = 1, HostRegisterMapped = 2 };

// hipStreamCaptureMode: only calls of this thread may break a capture.
enum : int { StreamCaptureModeThreadLocal = 1 };

struct Symbols {
#define RMSNORM_HIP_REQUIRED(name, result, parameters)                         \
  result(*name) parameters = nullptr;
#define RMSNORM_HIP_OPTIONAL RMSNORM_HIP_REQUIRED
#include "HipSymbols.def"
#undef RMSNORM_HIP_REQUIRED
#undef RMSNORM_HIP_OPTIONAL
};

/// Loads the driver (option, environment RMSNORM_HIP_LIBRARY, usual names) and
/// all its functions, or fails with everything that was tried.
rmsnorm_status loadSymbols(const char *library,
                           std::shared_ptr<const Symbols> &symbols);

rmsnorm_status driverError(const Symbols &symbols, hipError_t result,
                           const char *what);

} // namespace rmsnorm::runtime::hip

#define RMSNORM_HIP_TRY(symbols, function, ...)                                \
  do {                                                                         \
    if (int result_ = (symbols).function(__VA_ARGS__))                         \
      return ::rmsnorm::runtime::hip::driverError(symbols, result_,            \
                                                  #function);                  \
  } while (false)

#endif // RMSNORM_RUNTIME_DRIVERS_HIPSYMBOLS_H
