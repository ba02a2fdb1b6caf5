//===- DynamicLibrary.cpp - finding a driver at run time ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "DynamicLibrary.h"

#include <cstdlib>
#include <dlfcn.h>

using namespace rmsnorm::runtime;

rmsnorm_status
rmsnorm::runtime::openDriver(const char *driver,
                             const std::vector<std::string> &names,
                             void *&handle, std::string &openedName) {
  std::string tried;
  for (const std::string &name : names) {
    if (void *library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      handle = library;
      openedName = name;
      return RMSNORM_OK;
    }
    const char *reason = dlerror();
    tried += "\n  " + name + ": " + (reason ? reason : "unknown reason");
  }
  return failWith(RMSNORM_NO_DRIVER,
                  formatted("cannot load the %s driver; tried:", driver) +
                      tried);
}

std::vector<std::string>
rmsnorm::runtime::driverNames(const char *option, const char *environment,
                              std::vector<std::string> usual) {
  if (option)
    return {option};
  const char *value = std::getenv(environment);
  if (value && *value)
    return {value};
  return usual;
}

rmsnorm_status rmsnorm::runtime::checkMissing(const char *driver,
                                              const std::string &name,
                                              const std::string &missing) {
  if (missing.empty())
    return RMSNORM_OK;
  return fail(RMSNORM_NO_DRIVER, "the %s driver %s lacks functions we need: %s",
              driver, name.c_str(), missing.c_str());
}
