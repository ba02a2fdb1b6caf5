// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GlobalFault.cpp - what is wrong with an access of global memory ---===//

#include "GlobalFault.h"
#include "SimABI.h"

using namespace rmsnorm::sim;

std::string rmsnorm::sim::describeGlobalFault(const Parameter &parameter,
                                              int32_t argument,
                                              uint64_t address, uint64_t bytes,
                                              uint64_t fallback,
                                              int32_t alignment, int32_t flags,
                                              bool gridWaited) {
  const char *what = flags & RMSNORM_SIM_STORE ? "global_store" : "global_load";
  auto inBuffer = [&](uint64_t first, uint64_t length) {
    uint64_t size = parameter.end - parameter.begin;
    return length <= size && first - parameter.begin <= size - length;
  };
  auto offset = [&](uint64_t first) {
    return std::to_string(int64_t(first - parameter.begin));
  };
  std::string name =
      "argument " + std::to_string(argument) + " '" + parameter.name + "'";
  std::string size = std::to_string(parameter.end - parameter.begin);
  std::string message = std::string(what) + ": ";
  std::string access = std::to_string(bytes) + " bytes at byte offset " +
                       offset(address) + " of " + name;
  bool isStore = flags & RMSNORM_SIM_STORE;
  if (bytes && !gridWaited && !(parameter.constant && !isStore))
    message += std::string(isStore ? "write of " : "read of ") + access +
               " before grid_wait: the kernel before this one may not have "
               "ended" +
               (isStore ? "" : ", and the argument is not rmsnorm.constant");
  else if (bytes && isStore && !parameter.writable)
    message += "expected to write only to outputs, got a write of " + access;
  else if (bytes && !inBuffer(address, bytes))
    message += std::string("out of bounds: ") +
               (isStore ? "write of " : "read of ") + access + ", which has " +
               size + " bytes";
  else if (bytes && (address | bytes) & uint64_t(alignment - 1))
    message += "expected address and size to be multiples of " +
               std::to_string(alignment) + " bytes, got " + access +
               ", which starts at an address that is " +
               std::to_string(parameter.begin % 16) + " modulo 16";
  else
    message += "out of bounds: column 0 of a predicated read, " +
               std::to_string(alignment) + " bytes at byte offset " +
               offset(fallback) + " of " + name + ", which has " + size +
               " bytes: targets without predicated loads read there";
  return message;
}
