// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Memory.cpp - whether a trial fits into memory ---------------------===//

#include "Memory.h"
#include "Intervals.h"
#include "Table.h"

#include "rmsnorm/device.h"

#include <algorithm>
#include <cstdio>
#include <new>
#include <unistd.h>

namespace trial {

// Several times the L2 of any device we know; small calls would take too many
// sets to get there, and find their data in L2, as they do in a model.
static constexpr uint64_t rotatedBytes = 512 << 20;
static constexpr uint64_t maxSets = 256;

/// Elements and bytes of all arguments.
static void measure(const Plan &plan, double &elements, double &bytes) {
  elements = bytes = 0;
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    double count = 1;
    for (int64_t size : plan.shapes[i])
      count *= double(size);
    elements += count;
    bytes += count * plan.arguments[i].dtype.bits / 8;
  }
}

MemoryNeed getRunNeed(const Plan &plan, bool hasReference) {
  double elements, bytes;
  measure(plan, elements, bytes);
  return {bytes + (hasReference ? 0 : bytes + elements * sizeof(Interval)),
          bytes};
}

uint64_t countSets(rmsnorm_backend backend, uint64_t bytes) {
  if (backend != RMSNORM_CUDA && backend != RMSNORM_HIP)
    return 1;
  return std::clamp<uint64_t>(rotatedBytes / std::max<uint64_t>(1, bytes), 2,
                              maxSets);
}

MemoryNeed getBenchNeed(const Plan &plan, rmsnorm_backend backend,
                        bool hasCopies) {
  double elements, bytes;
  measure(plan, elements, bytes);
  const double sets = double(countSets(backend, uint64_t(bytes)));
  return {0, bytes * sets * (hasCopies ? 2 : 1)};
}

static std::string formatBytes(double bytes) {
  static const char *const units[] = {"kB", "MB", "GB", "TB"};
  int unit = 0;
  for (bytes /= 1e3; bytes >= 999.5 && unit < 3; ++unit)
    bytes /= 1e3;
  return number("%.3g ", bytes) + units[unit];
}

/// Appends what is said of one of the memories; sets `isShort` if it is too
/// small.
static void compare(const char *what, double need, rmsnorm_device *device,
                    std::string &text, bool &isShort) {
  uint64_t free = 0;
  const bool isKnown = !rmsnorm_device_get_free_memory(device, &free);
  isShort |= isKnown && need > double(free);
  text += (text.empty() ? "" : ", ") + std::string(what) + " needs at least " +
          formatBytes(need) +
          (isKnown ? " and has " + formatBytes(double(free)) : "");
}

std::string checkMemory(const Plan &plan, MemoryNeed need,
                        rmsnorm_device *device) {
  std::string text;
  bool isShort = false;
  rmsnorm_device_info info;
  if (device && !rmsnorm_device_get_info(device, &info) &&
      info.dl_device.device_type == kDLCPU) {
    need.host += need.device;
    device = nullptr;
  }
  rmsnorm_device *host = nullptr;
  if (need.host > 0 && !rmsnorm_device_open(RMSNORM_ORACLE, nullptr, &host))
    compare("the host", need.host, host, text, isShort);
  rmsnorm_device_close(host);
  if (device)
    compare("the device", need.device, device, text, isShort);
  if (!isShort)
    return "";
  return "entry '" + plan.name +
         "': expected sizes that memory has room for, got " + shapeText(plan) +
         ": " + text;
}

static const char *endedProgram = "";

void endWithoutMemory(const char *program) {
  endedProgram = program;
  std::set_new_handler([] {
    std::fflush(stdout);
    std::fprintf(stderr, "%s: error: out of memory\n", endedProgram);
    _exit(1);
  });
}

} // namespace trial
