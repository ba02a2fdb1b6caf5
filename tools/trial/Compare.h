// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compare.h - an output against the oracle's ------------------------===//

#ifndef TRIAL_COMPARE_H
#define TRIAL_COMPARE_H

#include "Intervals.h"

namespace trial {

struct Difference {
  /// Elements that are not in their interval.
  int64_t wrong = 0;
  /// Elements whose interval is undecided.
  int64_t undecided = 0;
  /// Those of them that are undefined.
  int64_t undefined = 0;
  /// Worst distance from the middle of the interval, in ulps of the output's
  /// type; infinite where an infinity or a NaN meets anything else.
  double ulps = 0;
  /// The wrong element that is furthest away, e.g. "row 3, column 17: got 1,
  /// expected 2 to 2.5".
  std::string where;
};

Difference compare(const Tensor &got, const Intervals &expected);

} // namespace trial

#endif // TRIAL_COMPARE_H
