//===- DynamicLibrary.h - finding a driver at run time --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_DRIVERS_DYNAMICLIBRARY_H
#define RMSNORM_RUNTIME_DRIVERS_DYNAMICLIBRARY_H

#include "Status.h"

#include <vector>

namespace rmsnorm::runtime {

/// Opens the first of `names` that can be opened. On failure the message lists
/// every name with the reason it could not be. The library is never closed:
/// drivers start threads that outlive any owner.
rmsnorm_status openDriver(const char *driver,
                          const std::vector<std::string> &names, void *&handle,
                          std::string &openedName);

/// The names to try: `option` alone if given, else the environment variable's
/// value alone if set, else `usual`.
std::vector<std::string> driverNames(const char *option,
                                     const char *environment,
                                     std::vector<std::string> usual);

/// Fails if `missing` names functions that the driver `name` lacks.
rmsnorm_status checkMissing(const char *driver, const std::string &name,
                            const std::string &missing);

} // namespace rmsnorm::runtime

#endif // RMSNORM_RUNTIME_DRIVERS_DYNAMICLIBRARY_H
