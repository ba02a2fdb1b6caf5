//===- HipSymbols.cpp - libamdhip64, loaded at run time -------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "HipSymbols.h"
#include "DynamicLibrary.h"

#include <dlfcn.h>

using namespace rmsnorm::runtime;
using namespace rmsnorm::runtime::hip;

rmsnorm_status hip::loadSymbols(const char *option,
                                std::shared_ptr<const HipSymbols> &symbols) {
  void *library = nullptr;
  std::string name;
  // ROCm installs do not always run ldconfig, so its own folder is tried too.
  RMSNORM_TRY(openDriver(
      "HIP",
      driverNames(option, "RMSNORM_HIP_LIBRARY",
                  {"libamdhip64.so.6", "libamdhip64.so.7", "libamdhip64.so.5",
                   "libamdhip64.so", "/opt/rocm/lib/libamdhip64.so"}),
      library, name));
  auto loaded = std::make_shared<HipSymbols>();
  std::string missing;
#define RMSNORM_HIP_REQUIRED(name, result, parameters)                         \
  loaded->name.set(dlsym(library, #name), #name, &missing);
#define RMSNORM_HIP_OPTIONAL(name, result, parameters)                         \
  loaded->name.set(dlsym(library, #name), #name, nullptr);
#define RMSNORM_GPU_REQUIRED(member, parameters, cuda, version, exported, hip) \
  loaded->member.set(dlsym(library, #hip), #hip, &missing);
#define RMSNORM_GPU_OPTIONAL(member, parameters, cuda, version, exported, hip) \
  loaded->member.set(dlsym(library, #hip), #hip, nullptr);
#include "GpuSymbols.def"
#include "HipSymbols.def"
  RMSNORM_TRY(checkMissing("HIP", name, missing));
  symbols = std::move(loaded);
  return RMSNORM_OK;
}

void HipSymbols::describe(int result, const char *&name,
                          const char *&words) const {
  name = hipGetErrorName(result);
  words = hipGetErrorString(result);
}
