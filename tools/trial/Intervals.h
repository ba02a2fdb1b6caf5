// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Intervals.h - what elements of a tensor may be --------------------===//

#ifndef TRIAL_INTERVALS_H
#define TRIAL_INTERVALS_H

#include "Tensor.h"

#include <vector>

namespace trial {

/// As the oracle takes and makes them, see RMSNORM_ORACLE in rmsnorm.h.
struct Interval {
  double lo, hi;

  bool contains(double value) const;
  /// Whether the program leaves the element undefined, or it is poison: any
  /// value will do.
  bool isUndefined() const { return lo > hi; }
  /// Whether it holds several values of the format, so that it does not tell
  /// whether one was rounded right. f32 is no rounding that a program could
  /// have in a wrong place: there, whether it is wider than a step of f16, the
  /// finest of the others, without the limits of its range. What is undefined
  /// is undecided.
  bool isUndecided(const Format &format) const;
};

/// A packed tensor of intervals.
class Intervals {
public:
  /// Of the elements of `tensor`, each alone in its interval.
  explicit Intervals(const Tensor &tensor);

  const Interval &at(int64_t row, int64_t column) const {
    return elements[size_t(row * columns + column)];
  }
  /// Valid while this and its memory stay where they are.
  DLTensor view();

private:
  std::vector<int64_t> sizes;
  int64_t columns;
  std::vector<Interval> elements;
};

} // namespace trial

#endif // TRIAL_INTERVALS_H
