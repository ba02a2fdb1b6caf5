// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GlobalAccess.cpp - an access of global memory, and its checks -----===//

#include "GlobalAccess.h"
#include "SimABI.h"

#include <algorithm>
#include <cstring>

using namespace rmsnorm::sim;

GlobalAccess::GlobalAccess(const rmsnorm_sim_access &access, uint64_t base,
                           int64_t row, int32_t column, int32_t valid,
                           bool isStore)
    : access(access), isStore(isStore),
      hasFallback(!isStore && valid != RMSNORM_SIM_ALL) {
  // Unsigned: what a kernel computes may wrap.
  uint64_t size = access.element_bytes;
  rowAddress = base + uint64_t(row) * size;
  address = rowAddress + uint64_t(int64_t(column)) * size;
  bytes = std::clamp(valid, 0, access.elements) * size;
}

std::string GlobalAccess::check(const Parameter &parameter,
                                bool gridWaited) const {
  // In two steps, so that no sum or difference wraps.
  auto inBuffer = [&](uint64_t first, uint64_t length) {
    uint64_t size = parameter.end - parameter.begin;
    return length <= size && first - parameter.begin <= size - length;
  };
  auto describe = [&](uint64_t first, uint64_t length) {
    return std::to_string(length) + " bytes at byte offset " +
           std::to_string(int64_t(first - parameter.begin)) + " of argument " +
           std::to_string(access.argument) + " '" + parameter.name + "'";
  };
  auto getSize = [&] {
    return ", which has " + std::to_string(parameter.end - parameter.begin) +
           " bytes";
  };
  const char *what = isStore ? "global_store: " : "global_load: ";
  const char *verb = isStore ? "write of " : "read of ";
  const bool isEarly = !gridWaited && (isStore || !parameter.constant);
  const uint64_t alignment = access.alignment;
  if (bytes) {
    if (isEarly)
      return std::string(what) + verb + describe(address, bytes) +
             " before grid_wait: the kernel before this one may not have "
             "ended" +
             (isStore ? "" : ", and the argument is not rmsnorm.constant");
    if (isStore && !parameter.writable)
      return std::string(what) +
             "expected to write only to outputs, got a write of " +
             describe(address, bytes);
    if (!inBuffer(address, bytes))
      return std::string(what) + "out of bounds: " + verb +
             describe(address, bytes) + getSize();
    if ((address | bytes) & (alignment - 1))
      return std::string(what) +
             "expected address and size to be multiples of " +
             std::to_string(alignment) + " bytes, got " +
             describe(address, bytes) +
             ", which starts at an address that is " +
             std::to_string(parameter.begin % 16) + " modulo 16";
  }
  if (hasFallback && (isEarly || !inBuffer(rowAddress, alignment)))
    return std::string(what) +
           "out of bounds: column 0 of a predicated read, " +
           describe(rowAddress, alignment) + getSize() +
           ": targets without predicated loads read there";
  return "";
}

char *GlobalAccess::load(char *fragment) const {
  if (bytes == getWholeBytes())
    return getAddress();
  std::memset(fragment, 0, getWholeBytes());
  if (bytes)
    std::memcpy(fragment, getAddress(), bytes);
  return fragment;
}

char *GlobalAccess::store(char *fragment) const {
  if (bytes)
    std::memcpy(getAddress(), fragment, bytes);
  return fragment;
}
