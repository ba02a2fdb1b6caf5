// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Options.h - the command line of norm-run --------------------------===//

#ifndef NORM_RUN_OPTIONS_H
#define NORM_RUN_OPTIONS_H

#include "rmsnorm/rmsnorm.h"

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace norm_run {

struct Options {
  std::vector<std::string> inputs;
  std::string entry; // empty: all
  rmsnorm_backend backend = RMSNORM_SIM;
  std::string deviceText = "sim";
  /// Target to compile for or to take from a module; empty: the device's.
  std::string target;
  std::string schedule;
  /// What .mlir files are compiled with; empty: norm-compile's default.
  std::string hostOptimization;
  int64_t rows = -1;
  /// Sizes of shape symbols, by number.
  std::map<int, int64_t> dims;
  uint64_t seed = 1;
  rmsnorm_thread_order order = RMSNORM_ORDER_FORWARD;
  int multiprocessors = 0;
  int ordinal = 0;
  bool strided = false;
  bool unaligned = false;
  int repeat = 0; // 0: chosen by the device
  bool csv = false;
  bool help = false;
};

/// Text of --help.
extern const char helpText[];

/// Reads the command line; on an error returns false and sets `error`.
bool parseOptions(int argc, char **argv, Options &options, std::string &error);

} // namespace norm_run

#endif // NORM_RUN_OPTIONS_H
