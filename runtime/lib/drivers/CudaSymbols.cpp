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
                                 std::shared_ptr<const Symbols> &symbols) {
  void *library = nullptr;
  std::string name;
  RMSNORM_TRY(openDriver("CUDA",
                         driverNames(option, "RMSNORM_CUDA_LIBRARY",
                                     {"libcuda.so.1", "libcuda.so"}),
                         library, name));
  auto loaded = std::make_shared<Symbols>();
  std::string missing;
#define RMSNORM_CUDA_OPTIONAL(name, version, exported, parameters)             \
  loaded->name = reinterpret_cast<CUresult(*) parameters>(                     \
      resolve(library, #name, version, #exported));
#define RMSNORM_CUDA_REQUIRED(name, version, exported, parameters)             \
  RMSNORM_CUDA_OPTIONAL(name, version, exported, parameters)                   \
  if (!loaded->name)                                                           \
    missing += (missing.empty() ? "" : ", ") + std::string(#name);
#include "CudaSymbols.def"
#undef RMSNORM_CUDA_REQUIRED
#undef RMSNORM_CUDA_OPTIONAL
  if (!missing.empty())
    return fail(RMSNORM_NO_DRIVER,
                "the CUDA driver %s lacks functions we need: %s", name.c_str(),
                missing.c_str());
  symbols = std::move(loaded);
  return RMSNORM_OK;
}

rmsnorm_status cuda::driverError(const Symbols &symbols, CUresult result,
                                 const char *what) {
  const char *name = nullptr, *words = nullptr;
  symbols.cuGetErrorName(result, &name);
  symbols.cuGetErrorString(result, &words);
  return fail(result == CUDA_ERROR_OUT_OF_MEMORY ? RMSNORM_OUT_OF_MEMORY
                                                 : RMSNORM_DRIVER_ERROR,
              "%s failed: %s (%d), %s", what, name ? name : "unknown error",
              result, words ? words : "no description");
}
