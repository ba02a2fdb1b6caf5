// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compare.cpp - an output against the oracle's ----------------------===//

#include "Compare.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace trial {

/// How far `value` is from the middle, in ulps.
static double getDistance(const Format &format, double value,
                          const Interval &interval) {
  double middle = interval.lo / 2 + interval.hi / 2;
  if (value == middle || (std::isnan(value) && std::isnan(middle)))
    return 0;
  if (!std::isfinite(value) || !std::isfinite(middle))
    return std::numeric_limits<double>::infinity();
  return std::fabs(value - middle) / ulpAt(format, middle);
}

Difference compare(const Tensor &got, const Intervals &expected) {
  const Format &format = got.getFormat();
  Difference result;
  double furthest = -1;
  for (int64_t row = 0; row < got.rowCount(); ++row) {
    for (int64_t column = 0; column < got.rowSize(); ++column) {
      double value = got.at(row, column);
      const Interval &interval = expected.at(row, column);
      bool isUndecided = interval.isUndecided(format);
      result.undecided += isUndecided;
      result.undefined += interval.isUndefined();
      bool isRight = interval.contains(value);
      double distance = getDistance(format, value, interval);
      if (!isRight || !isUndecided)
        result.ulps = std::max(result.ulps, distance); // never NaN
      if (isRight)
        continue;
      ++result.wrong;
      if (distance <= furthest)
        continue;
      furthest = distance;
      char text[160];
      std::snprintf(text, sizeof text,
                    "row %lld, column %lld: got %.9g, expected %.9g to %.9g",
                    (long long)row, (long long)column, value, interval.lo,
                    interval.hi);
      result.where = text;
    }
  }
  return result;
}

} // namespace trial
