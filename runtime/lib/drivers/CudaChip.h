//===- CudaChip.h - which code runs on which NVIDIA chip ------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_DRIVERS_CUDACHIP_H
#define RMSNORM_RUNTIME_DRIVERS_CUDACHIP_H

#include <cstdlib>
#include <string>

namespace rmsnorm::runtime::cuda {

/// A compute capability; suffix 'a' runs on exactly that chip, 'f' on the chips
/// of the same major number from it on, 0 is ordinary code.
struct Chip {
  int major = 0, minor = 0;
  char suffix = 0;

  /// "sm_90", "sm_90a", "sm_100", "sm_120f". False if it is none of these.
  static bool parse(const std::string &name, Chip &chip) {
    if (name.rfind("sm_", 0) != 0)
      return false;
    const char *digits = name.c_str() + 3;
    char *end;
    long number = std::strtol(digits, &end, 10);
    if (end - digits < 2 || end - digits > 4 || number < 10)
      return false;
    chip = {int(number / 10), int(number % 10), *end};
    return *end == 0 || ((*end == 'a' || *end == 'f') && end[1] == 0);
  }

  /// Machine code for this chip on a device of capability `device`.
  bool cubinRunsOn(const Chip &device) const {
    if (major != device.major)
      return false;
    return suffix == 'a' ? minor == device.minor : minor <= device.minor;
  }

  /// PTX for this chip on a device of capability `device`.
  bool ptxRunsOn(const Chip &device) const {
    if (suffix)
      return cubinRunsOn(device);
    return major < device.major ||
           (major == device.major && minor <= device.minor);
  }
};

} // namespace rmsnorm::runtime::cuda

#endif // RMSNORM_RUNTIME_DRIVERS_CUDACHIP_H
