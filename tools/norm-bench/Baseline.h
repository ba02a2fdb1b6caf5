// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Baseline.h - results of before ------------------------------------===//

#ifndef NORM_BENCH_BASELINE_H
#define NORM_BENCH_BASELINE_H

#include <string>
#include <vector>

namespace norm_bench {

/// The output of norm-bench --json, as far as it is compared.
class Baseline {
public:
  /// "" or why there is nothing to compare with.
  std::string read(const std::string &path, const std::string &device);

  /// Microseconds of an entry with arguments of this shape; < 0 if it was not
  /// measured. Where one file was measured then, and `isAlone` now, its name
  /// may be another one.
  double find(const std::string &file, const std::string &entry,
              const std::string &shape, bool isAlone);
  /// Results that find() has not given.
  size_t countOthers() const;

private:
  struct Record {
    std::string file, entry, shape;
    double microseconds;
    bool found = false;
  };
  std::vector<Record> records;
};

} // namespace norm_bench

#endif // NORM_BENCH_BASELINE_H
