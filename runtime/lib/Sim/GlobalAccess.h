// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GlobalAccess.h - an access of global memory, and its checks -------===//

#ifndef RMSNORM_SIM_GLOBALACCESS_H
#define RMSNORM_SIM_GLOBALACCESS_H

#include "GlobalShadow.h"
#include "SimABI.h"
#include "Simulator.h"

#include <algorithm>
#include <string>

namespace rmsnorm::sim {

/// A load, a store or the read of an asynchronous copy: see `global_load` in
/// SimABI.h.
class GlobalAccess {
public:
  // Unsigned: a kernel's offsets may wrap.
  GlobalAccess(const rmsnorm_sim_access &access, uint64_t base, int64_t row,
               int32_t column, int32_t valid, bool isStore)
      : access(access),
        rowAddress(base + uint64_t(row) * uint64_t(access.element_bytes)),
        address(rowAddress +
                uint64_t(int64_t(column)) * uint64_t(access.element_bytes)),
        bytes(uint64_t(std::clamp(valid, 0, access.elements)) *
              uint64_t(access.element_bytes)),
        isStore(isStore), hasFallback(!isStore && valid != RMSNORM_SIM_ALL) {}

  enum class Error { None, Early, ReadOnly, OutOfBounds, Misaligned, Fallback };
  /// The error of the access, if any. `gridWaited`: whether the thread has
  /// waited for earlier kernels.
  Error check(const Parameter &parameter, bool gridWaited) const;
  std::string describe(Error error, const Parameter &parameter) const;

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
  /// Takes note of an access by `block`; makes it, of `fragment`, if it is a
  /// store. Returns an error, in one line, where another block touches the same
  /// bytes, or nothing.
  std::string record(GlobalShadow &shadow, int64_t block, const char *fragment,
                     const Parameter &parameter) const;

private:
  /// "4 bytes at byte offset 8 of argument 1 'y'"
  std::string describeBytes(uint64_t first, uint64_t length,
                            const Parameter &parameter) const;

  const rmsnorm_sim_access &access;
  uint64_t rowAddress, address, bytes;
  bool isStore;
  /// Targets without predicated loads read column 0 instead of a column that
  /// does not exist, so it must be readable.
  bool hasFallback;
};

inline GlobalAccess::Error GlobalAccess::check(const Parameter &parameter,
                                               bool gridWaited) const {
  // In two steps, so that no sum or difference wraps.
  auto inBuffer = [&](uint64_t first, uint64_t length) {
    uint64_t size = parameter.end - parameter.begin;
    return length <= size && first - parameter.begin <= size - length;
  };
  const bool isEarly = !gridWaited && (isStore || !parameter.constant);
  const auto alignment = uint64_t(access.alignment);
  if (bytes) {
    if (isEarly)
      return Error::Early;
    if (isStore && !parameter.writable)
      return Error::ReadOnly;
    if (!inBuffer(address, bytes))
      return Error::OutOfBounds;
    if ((address | bytes) & (alignment - 1))
      return Error::Misaligned;
  }
  if (hasFallback && (isEarly || !inBuffer(rowAddress, alignment)))
    return Error::Fallback;
  return Error::None;
}

} // namespace rmsnorm::sim

#endif // RMSNORM_SIM_GLOBALACCESS_H
