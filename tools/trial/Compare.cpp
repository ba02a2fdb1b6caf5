// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compare.cpp - an output against the oracle's ----------------------===//

#include "Compare.h"

#include <cmath>
#include <cstdio>
#include <limits>

namespace trial {

Difference compare(const Tensor &got, const Tensor &oracle,
                   const rmsnorm_error_bound &bound, const Tensor *magnitudes) {
  const Format &format = got.getFormat();
  const double infinity = std::numeric_limits<double>::infinity();
  Difference worst;
  for (int64_t row = 0; row < got.rowCount(); ++row) {
    for (int64_t column = 0; column < got.rowSize(); ++column) {
      double a = got.at(row, column), e = oracle.at(row, column);
      if (a == e || (std::isnan(a) && std::isnan(e)))
        continue;
      ++worst.differing;
      double absolute = infinity, ulps = infinity, share = infinity;
      if (std::isfinite(a) && std::isfinite(e)) {
        double ulp = ulpAt(format, e);
        double allowed = bound.ulps * ulp + bound.relative * std::fabs(e);
        if (magnitudes) {
          // Rounded to the output's type, perhaps down. One that overflows that
          // type allows anything.
          double magnitude = magnitudes->at(row, column);
          allowed += bound.magnitude * (magnitude + ulpAt(format, magnitude));
        }
        absolute = std::fabs(a - e);
        ulps = absolute / ulp;
        share = allowed > 0 ? absolute / allowed : infinity;
      }
      worst.ulps = std::fmax(worst.ulps, ulps);
      worst.absolute = std::fmax(worst.absolute, absolute);
      if (share > worst.share) {
        worst.share = share;
        char text[160];
        std::snprintf(text, sizeof text,
                      "row %lld, column %lld: got %.9g, oracle %.9g",
                      (long long)row, (long long)column, a, e);
        worst.where = text;
      }
    }
  }
  return worst;
}

} // namespace trial
