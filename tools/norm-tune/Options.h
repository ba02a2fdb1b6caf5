// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Options.h - the command line of norm-tune -------------------------===//

#ifndef NORM_TUNE_OPTIONS_H
#define NORM_TUNE_OPTIONS_H

#include "../trial/Options.h"

#include <chrono>

namespace norm_tune {

struct Options {
  /// Input, device, entry, sizes of symbols, seed: as norm-run's.
  trial::Options run;
  std::string output;
  /// Where to write the times of all candidates; "": nowhere.
  std::string measurements;
  /// Rows to measure at, as given.
  trial::RowLists rows;
  /// Percent by which a schedule must beat the compiler's choice.
  double margin = 1;
  /// Seconds after which no other candidate is begun; < 0: none.
  double timeLimit = -1;
  /// Time limits and progress count from here.
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
};

extern const char helpText[];

/// Reads the command line; on an error returns false and sets `error`.
bool parseOptions(int argc, char **argv, Options &options, std::string &error);

} // namespace norm_tune

#endif // NORM_TUNE_OPTIONS_H
