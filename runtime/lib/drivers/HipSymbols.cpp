//===- HipSymbols.cpp - libamdhip64, loaded at run time -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HipSymbols.h"
#include "DynamicLibrary.h"

#include <dlfcn.h>

using namespace rmsnorm::runtime;
using namespace rmsnorm::runtime::hip;

rmsnorm_status hip::loadSymbols(const char *option,
                                std::shared_ptr<const Symbols> &symbols) {
  void *library = nullptr;
  std::string name;
  // ROCm installs do not always run ldconfig, so its own folder is tried too.
  RMSNORM_TRY(openDriver(
      "HIP",
      driverNames(option, "RMSNORM_HIP_LIBRARY",
                  {"libamdhip64.so.6", "libamdhip64.so.7", "libamdhip64.so.5",
                   "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so"}),
      library, name));
  auto loaded = std::make_shared<Symbols>();
  std::string missing;
#define RMSNORM_HIP_OPTIONAL(name, result, parameters)                         \
  loaded->name = reinterpret_cast<result(*) parameters>(dlsym(library, #name));
#define RMSNORM_HIP_REQUIRED(name, result, parameters)                         \
  RMSNORM_HIP_OPTIONAL(name, result, parameters)                               \
  if (!loaded->name)                                                           \
    missing += (missing.empty() ? "" : ", ") + std::string(#name);
#include "HipSymbols.def"
#undef RMSNORM_HIP_REQUIRED
#undef RMSNORM_HIP_OPTIONAL
  if (!missing.empty())
    return fail(RMSNORM_NO_DRIVER,
                "the HIP driver %s lacks functions we need: %s", name.c_str(),
                missing.c_str());
  symbols = std::move(loaded);
  return RMSNORM_OK;
}

rmsnorm_status hip::driverError(const Symbols &symbols, hipError_t result,
                                const char *what) {
  const char *name = symbols.hipGetErrorName(result);
  const char *words = symbols.hipGetErrorString(result);
  return fail(result == hipErrorOutOfMemory ? RMSNORM_OUT_OF_MEMORY
                                            : RMSNORM_DRIVER_ERROR,
              "%s failed: %s (%d), %s", what, name ? name : "unknown error",
              result, words ? words : "no description");
}
