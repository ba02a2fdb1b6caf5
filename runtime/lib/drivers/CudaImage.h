//===- CudaImage.h - code loaded on an NVIDIA device ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_DRIVERS_CUDAIMAGE_H
#define RMSNORM_RUNTIME_DRIVERS_CUDAIMAGE_H

#include "CudaContext.h"

namespace rmsnorm::runtime::cuda {

class CudaImage : public LoadedImage {
public:
  explicit CudaImage(std::shared_ptr<PrimaryContext> primary)
      : primary(std::move(primary)) {}
  ~CudaImage() override {
    GpuScope scope(*primary);
    if (module)
      primary->symbols->unloadModule(module);
  }

  rmsnorm_status loadBinary(const rmsn::Binary &binary, CUresult &result);
  rmsnorm_status prepareKernel(const KernelRequirement &requirement,
                               Kernel &kernel) override;

private:
  rmsnorm_status checkParameters(CUfunction function,
                                 const rmsn::Launch &launch);
  rmsnorm_status countClusters(CUfunction function, const rmsn::Launch &launch,
                               int64_t sharedMemory, int64_t &count);
  int getCarveout(int64_t bytes) const;

  std::shared_ptr<PrimaryContext> primary;
  CUmodule module = nullptr;
  /// Kernels set up so far and the dynamic shared memory each is allowed.
  std::map<std::string, int64_t> dynamicLimits;
};

} // namespace rmsnorm::runtime::cuda

#endif // RMSNORM_RUNTIME_DRIVERS_CUDAIMAGE_H
