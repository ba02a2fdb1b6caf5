//===- CudaSymbols.cpp - libcuda, loaded at run time ----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "CudaSymbols.h"
#include "DynamicLibrary.h"

#include <dlfcn.h>

using namespace rmsnorm::runtime;
using namespace rmsnorm::runtime::cuda;

/// Asks the driver for the function of a stated version, which spares us the
/// _v2 suffixes; falls back to the exported name.
static void *resolve(void *library, const char *name, int version,
                     const char *exported) {
  using GetProcAddress = CUresult (*)(const char *, void **, int, uint64_t);
  void *function = nullptr;
  // The unversioned export keeps its signature of CUDA 11.3 in all drivers.
  auto getProcAddress =
      reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress"));
  if (getProcAddress &&
      getProcAddress(name, &function, version, /*flags=*/0) == 0 && function)
    return function;
  return dlsym(library, exported);
}

rmsnorm_status cuda::loadSymbols(const char *option,
                                 std::shared_ptr<const CudaSymbols> &symbols) {
  void *library = nullptr;
  std::string name;
  RMSNORM_TRY(openDriver("CUDA",
                         driverNames(option, "RMSNORM_CUDA_LIBRARY",
                                     {"libcuda.so.1", "libcuda.so"}),
                         library, name));
  auto loaded = std::make_shared<CudaSymbols>();
  std::string missing;
#define RMSNORM_CUDA_REQUIRED(name, version, exported, parameters)             \
  loaded->name.set(resolve(library, #name, version, #exported), #name,         \
                   &missing);
#define RMSNORM_CUDA_OPTIONAL(name, version, exported, parameters)             \
  loaded->name.set(resolve(library, #name, version, #exported), #name, nullptr);
#define RMSNORM_GPU_REQUIRED(member, parameters, cuda, version, exported, hip) \
  loaded->member.set(resolve(library, #cuda, version, #exported), #cuda,       \
                     &missing);
#define RMSNORM_GPU_OPTIONAL(member, parameters, cuda, version, exported, hip) \
  loaded->member.set(resolve(library, #cuda, version, #exported), #cuda,       \
                     nullptr);
#include "CudaSymbols.def"
#include "GpuSymbols.def"
  RMSNORM_TRY(checkMissing("CUDA", name, missing));
  symbols = std::move(loaded);
  return RMSNORM_OK;
}

void CudaSymbols::describe(int result, const char *&name,
                           const char *&words) const {
  cuGetErrorName(result, &name);
  cuGetErrorString(result, &words);
}
