// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Open.h - opens what a trial needs ---------------------------------===//

#ifndef TRIAL_OPEN_H
#define TRIAL_OPEN_H

#include "Options.h"

namespace trial {

/// The device that the options name. Null after an error, with which `error` is
/// set; so are the modules.
rmsnorm_device *openDevice(const Options &options, std::string &error);

/// Opens a module. A .mlir file is compiled first, for the device's target and
/// the oracle, by the norm-compile that stands beside this program; `error` is
/// empty where that has printed the error itself.
rmsnorm_module *openModule(const std::string &input, rmsnorm_device *device,
                           const Options &options,
                           const std::vector<std::string> &compileOptions,
                           std::string &error);

} // namespace trial

#endif // TRIAL_OPEN_H
