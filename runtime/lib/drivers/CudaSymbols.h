//===- CudaSymbols.h - libcuda, loaded at run time ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_DRIVERS_CUDASYMBOLS_H
#define RMSNORM_RUNTIME_DRIVERS_CUDASYMBOLS_H

#include "CudaTypes.h"
#include "Status.h"

#include <memory>

namespace rmsnorm::runtime::cuda {

/// Loads the driver (option, environment RMSNORM_CUDA_LIBRARY, usual names) and
/// all its functions, or fails with everything that was tried. No cuInit.
rmsnorm_status loadSymbols(const char *library,
                           std::shared_ptr<const Symbols> &symbols);

/// Words a failed call: the driver's name and text for `result` after `what`.
rmsnorm_status driverError(const Symbols &symbols, CUresult result,
                           const char *what);

} // namespace rmsnorm::runtime::cuda

/// Calls a driver function; returns with its error from the caller on failure.
#define RMSNORM_CUDA_TRY(symbols, function, ...)                               \
  do {                                                                         \
    if (int result_ = (symbols).function(__VA_ARGS__))                         \
      return ::rmsnorm::runtime::cuda::driverError(symbols, result_,           \
                                                   #function);                 \
  } while (false)

#endif // RMSNORM_RUNTIME_DRIVERS_CUDASYMBOLS_H
