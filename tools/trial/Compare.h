// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compare.h - an output against the oracle's ------------------------===//

#ifndef TRIAL_COMPARE_H
#define TRIAL_COMPARE_H

#include "Tensor.h"

namespace trial {

struct Difference {
  double ulps = 0;     // worst distance in ulps of the output's type
  double absolute = 0; // worst distance
  /// Worst distance as a share of what the bound allows; above 1 it is
  /// exceeded. Infinite where a NaN or an infinity is not met by the same.
  double share = 0;
  /// Elements that are not bit for bit what the oracle has, NaNs apart.
  int64_t differing = 0;
  /// Where the worst share is, e.g. "row 3, column 17: got 1, oracle 2".
  std::string where;
};

/// `magnitudes` is what the entry's magnitudes are for this output, null if the
/// bound needs none.
Difference compare(const Tensor &got, const Tensor &oracle,
                   const rmsnorm_error_bound &bound,
                   const Tensor *magnitudes = nullptr);

} // namespace trial

#endif // TRIAL_COMPARE_H
