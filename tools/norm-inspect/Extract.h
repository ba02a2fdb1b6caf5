// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Extract.h - finds code in a module --------------------------------===//

#ifndef NORM_INSPECT_EXTRACT_H
#define NORM_INSPECT_EXTRACT_H

#include "rmsnorm/rmsnorm.h"

#include <string>

namespace norm_inspect {

struct Options {
  std::string file;
  std::string entry, target; // empty: all
  bool json = false;
  // For code:
  std::string format;   // "ptx", ...; empty: none is extracted
  std::string variant;  // empty: all
  long long image = -1; // -1: any
  std::string output = "-";
  bool force = false;
  /// Instead of everything else.
  bool help = false, version = false;
};

/// Finds the code in `format` of the one image that the options select. Returns
/// "" or why there is none, or more than one.
std::string findCode(const rmsnorm_module *module, const Options &options,
                     rmsnorm_binary_info &code);

} // namespace norm_inspect

#endif // NORM_INSPECT_EXTRACT_H
