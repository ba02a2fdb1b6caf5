// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Options.h - the command line of norm-bench ------------------------===//

#ifndef NORM_BENCH_OPTIONS_H
#define NORM_BENCH_OPTIONS_H

#include "../trial/Options.h"

namespace norm_bench {

struct Options {
  /// Inputs, device, entry, sizes of symbols, seed: as norm-run's.
  trial::Options run;
  trial::RowLists rows;
  int rounds = 0; // 0: chosen by the device
  /// Results of before to compare with; empty: none.
  std::string baseline;
  /// Percent by which an entry may be slower than it was.
  double margin = 2;
};

extern const char helpText[];

/// Reads the command line; on an error returns false and sets `error`.
bool parseOptions(int argc, char **argv, Options &options, std::string &error);

} // namespace norm_bench

#endif // NORM_BENCH_OPTIONS_H
