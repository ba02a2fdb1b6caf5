// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GlobalAccess.h - an access of global memory, and its checks -------===//

#ifndef RMSNORM_SIM_GLOBALACCESS_H
#define RMSNORM_SIM_GLOBALACCESS_H

#include "Simulator.h"

namespace rmsnorm::sim {

/// A load, a store or the read of an asynchronous copy: see `global_load` in
/// SimABI.h.
class GlobalAccess {
public:
  GlobalAccess(const rmsnorm_sim_access &access, uint64_t base, int64_t row,
               int32_t column, int32_t valid, bool isStore);

  /// What is wrong with it, or nothing. `gridWaited`: whether the thread has
  /// waited for earlier kernels.
  std::string check(const Parameter &parameter, bool gridWaited) const;

  int32_t getArgument() const { return access.argument; }
  char *getAddress() const { return reinterpret_cast<char *>(address); }
  /// The size of the elements that exist, and of all.
  uint64_t getBytes() const { return bytes; }
  uint64_t getWholeBytes() const {
    return uint64_t(access.elements) * access.element_bytes;
  }

  /// Where the whole fragment can be read: at its address, or in `fragment` if
  /// some elements do not exist.
  char *load(char *fragment) const;
  /// Returns `fragment`: where nothing is stored the address may be null.
  char *store(char *fragment) const;

private:
  const rmsnorm_sim_access &access;
  uint64_t rowAddress, address, bytes;
  bool isStore;
  /// Targets without predicated loads read column 0 instead of what does not
  /// exist, so it must be readable.
  bool hasFallback;
};

} // namespace rmsnorm::sim

#endif // RMSNORM_SIM_GLOBALACCESS_H
