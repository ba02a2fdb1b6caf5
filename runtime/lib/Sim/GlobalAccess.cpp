// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GlobalAccess.cpp - an access of global memory, and its checks -----===//

#include "GlobalAccess.h"

#include <cstring>

using namespace rmsnorm::sim;

std::string GlobalAccess::describeBytes(uint64_t first, uint64_t length,
                                        const Parameter &parameter) const {
  return std::to_string(length) + " bytes at byte offset " +
         std::to_string(int64_t(first - parameter.begin)) + " of argument " +
         std::to_string(access.argument) + " '" + parameter.name + "'";
}

std::string GlobalAccess::describe(Error error,
                                   const Parameter &parameter) const {
  auto describeBytes = [&](uint64_t first, uint64_t length) {
    return this->describeBytes(first, length, parameter);
  };
  auto getSize = [&] {
    return ", which has " + std::to_string(parameter.end - parameter.begin) +
           " bytes";
  };
  const std::string what = isStore ? "global_store: " : "global_load: ";
  const char *verb = isStore ? "write of " : "read of ";
  switch (error) {
  case Error::None:
    break;
  case Error::Early:
    return what + verb + describeBytes(address, bytes) +
           " before grid_wait: the kernel before this one may not have ended" +
           (isStore ? "" : ", and the argument is not rmsnorm.constant");
  case Error::ReadOnly:
    return what + "expected to write only to outputs, got a write of " +
           describeBytes(address, bytes);
  case Error::OutOfBounds:
    return what + "out of bounds: " + verb + describeBytes(address, bytes) +
           getSize();
  case Error::Misaligned:
    return what + "expected address and size to be multiples of " +
           std::to_string(access.alignment) + " bytes, got " +
           describeBytes(address, bytes) +
           ", which starts at an address that is " +
           std::to_string(parameter.begin % 16) + " modulo 16";
  case Error::Fallback:
    return what + "out of bounds: column 0 of a predicated read, " +
           describeBytes(rowAddress, uint64_t(access.alignment)) + getSize() +
           ": targets without predicated loads read there";
  }
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

std::string GlobalAccess::record(GlobalShadow &shadow, int64_t block,
                                 const char *fragment,
                                 const Parameter &parameter) const {
  if (!isStore) {
    const int64_t other = shadow.load(block, getAddress(), bytes);
    if (other < 0)
      return {};
    return "race in global memory: read of " +
           describeBytes(address, bytes, parameter) + ", which block " +
           std::to_string(other) +
           " has written: blocks do not wait for one another";
  }
  const GlobalShadow::Conflict conflict =
      shadow.store(block, getAddress(), fragment, bytes);
  if (conflict.block < 0)
    return {};
  return "race in global memory: write of " +
         describeBytes(address, bytes, parameter) + ", " +
         (conflict.wasStore ? "to which block " : "which block ") +
         std::to_string(conflict.block) +
         (conflict.wasStore ? " has written another value" : " has read") +
         ": blocks do not wait for one another";
}
