// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Table.h - the results of trials -----------------------------------===//

#ifndef TRIAL_TABLE_H
#define TRIAL_TABLE_H

#include "Json.h"
#include "Run.h"

#include "rmsnorm/device.h"

namespace trial {

/// Prints a header, then a line as each result comes in: columns are as wide as
/// the texts that the plans may have on the device. As JSON: an object whose
/// "results" has an object for each.
class Table {
public:
  Table(const std::vector<Plan> &plans, rmsnorm_device *device,
        ResultFormat format);
  /// Ends the output.
  ~Table();
  void print(const Plan &plan, const Result &result);

private:
  void printLine(const std::vector<std::string> &cells);
  void printJson(const Plan &plan, const Result &result);

  /// Makes a column wide enough for `text`.
  void fit(size_t column, const std::string &text);
  /// Those that name a variant, its schedule and the device.
  void fitVariants(const Plan &plan, const rmsnorm_device_info &device);

  ResultFormat format;
  std::vector<int> widths;
  rmsnorm::json::Writer json;
};

std::string number(const char *format, double value);
/// Prints lines with cells of one width a column, words to the left, figures to
/// the right. `words`: the columns of the former.
void printAligned(const std::vector<std::vector<std::string>> &lines,
                  const std::vector<size_t> &words);
/// "301x4096" of the argument with the most dimensions.
std::string shapeText(const Plan &plan);
/// "bf16 f32 -> bf16".
std::string typesText(const Plan &plan);
/// The target of a program and, except for the simulator, the device: "NVIDIA
/// H200 (sm_90)".
std::string deviceText(const rmsnorm_device_info &device, const char *target);
/// `#rmsnorm.schedule<...>` in few words: "2x1 rows, 32 threads x 8,
/// registers".
std::string scheduleText(const std::string &schedule);

} // namespace trial

#endif // TRIAL_TABLE_H
