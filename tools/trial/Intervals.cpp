// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Intervals.cpp - what elements of a tensor may be ------------------===//

#include "Intervals.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace trial {

static bool isAnything(const Interval &interval) {
  return std::isinf(interval.lo) && std::isinf(interval.hi) &&
         interval.lo < interval.hi;
}

bool Interval::contains(double value) const {
  if (isUndefined())
    return true;
  if (std::isnan(value))
    return std::isnan(lo) || isAnything(*this);
  return lo <= value && value <= hi;
}

bool Interval::isUndecided(const Format &format) const {
  if (isUndefined())
    return true;
  if (!format.isFloat || format.mantissaBits < 23)
    return lo < hi;
  return hi - lo > 0x1p-11 * std::max(std::fabs(lo), std::fabs(hi)) ||
         (lo < hi && std::isinf(hi - lo));
}

Intervals::Intervals(const Tensor &tensor)
    : sizes(tensor.getSizes()), columns(tensor.rowSize()) {
  elements.reserve(size_t(tensor.elementCount()));
  for (int64_t row = 0; row < tensor.rowCount(); ++row)
    for (int64_t column = 0; column < columns; ++column) {
      double value = tensor.at(row, column);
      // From 2^53 on not every integer is a double.
      bool isExact = tensor.getFormat().isFloat || std::fabs(value) < 0x1p53;
      elements.push_back(isExact ? Interval{value, value}
                                 : Interval{std::nextafter(value, -HUGE_VAL),
                                            std::nextafter(value, HUGE_VAL)});
    }
}

DLTensor Intervals::view() {
  DLTensor tensor = {};
  tensor.data = elements.data();
  tensor.device = {kDLCPU, 0};
  tensor.ndim = int32_t(sizes.size());
  tensor.dtype = {RMSNORM_DL_COMPLEX, 128, 1};
  tensor.shape = sizes.data();
  return tensor;
}

} // namespace trial
