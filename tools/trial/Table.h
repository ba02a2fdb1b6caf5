// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Table.h - the results of trials -----------------------------------===//

#ifndef TRIAL_TABLE_H
#define TRIAL_TABLE_H

#include "Run.h"

namespace trial {

/// Prints a header, then a line as each result comes in: columns are as wide as
/// the plans demand.
class Table {
public:
  Table(const std::vector<Plan> &plans, bool csv);
  void print(const Plan &plan, const Result &result);

private:
  void printLine(const std::vector<std::string> &cells);

  bool csv;
  std::vector<int> widths;
};

/// "301x4096" of the argument with the most dimensions.
std::string shapeText(const Plan &plan);
/// "bf16 f32 -> bf16".
std::string typesText(const Plan &plan);
/// `#rmsnorm.schedule<...>` in few words: "2x1 rows, 32 threads x 8,
/// registers".
std::string scheduleText(const std::string &schedule);

} // namespace trial

#endif // TRIAL_TABLE_H
