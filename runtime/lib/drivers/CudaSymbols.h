//===- CudaSymbols.h - libcuda, loaded at run time ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_DRIVERS_CUDASYMBOLS_H
#define RMSNORM_RUNTIME_DRIVERS_CUDASYMBOLS_H

#include "CudaTypes.h"
#include "GpuSymbols.h"

#include <memory>

namespace rmsnorm::runtime::cuda {

/// The driver's functions, see CudaSymbols.def.
struct CudaSymbols : GpuSymbols {
#define RMSNORM_CUDA_REQUIRED(name, version, exported, parameters)             \
  DriverFunction<CUresult parameters> name;
#define RMSNORM_CUDA_OPTIONAL RMSNORM_CUDA_REQUIRED
#include "CudaSymbols.def"
#undef RMSNORM_CUDA_REQUIRED
#undef RMSNORM_CUDA_OPTIONAL

  void describe(int result, const char *&name,
                const char *&words) const override;
};

/// Loads the driver (option, environment RMSNORM_CUDA_LIBRARY, usual names) and
/// all its functions, or fails with everything that was tried. No cuInit.
rmsnorm_status loadSymbols(const char *library,
                           std::shared_ptr<const CudaSymbols> &symbols);

} // namespace rmsnorm::runtime::cuda

#endif // RMSNORM_RUNTIME_DRIVERS_CUDASYMBOLS_H
