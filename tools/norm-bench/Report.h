// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Report.h - the results of norm-bench ------------------------------===//

#ifndef NORM_BENCH_REPORT_H
#define NORM_BENCH_REPORT_H

#include "rmsnorm/rmsnorm.h"

#include <string>
#include <vector>

namespace norm_bench {

/// One entry of one module with one number of rows.
struct Finding {
  std::string file, entry, shape, types, variant, schedule;
  int64_t rows = 0;
  double bytes = 0;
  /// Microseconds of each round, of the call and of the copy beside it.
  std::vector<double> times, copies;
  /// Of the first module that has the entry, if that is another one.
  double first = 0;
  /// Of before; 0 if it was not measured.
  double before = 0;

  double getTime() const;
  /// Percent by which it is slower than before.
  double getChange() const;
};

/// Prints a line for each finding.
void printTable(const std::vector<Finding> &findings, bool isCompared);

std::string makeJson(const std::vector<Finding> &findings,
                     const std::string &device, int rounds);

} // namespace norm_bench

#endif // NORM_BENCH_REPORT_H
