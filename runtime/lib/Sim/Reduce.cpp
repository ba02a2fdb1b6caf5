// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reduce.cpp - the sum of a subgroup, and its like ------------------===//

#include "Reduce.h"
#include "SimABI.h"

#include <algorithm>
#include <cmath>

using namespace rmsnorm::sim;

static float maximum(float a, float b) {
  if (a == b) // the zeros: -0 < +0
    return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

static float minimum(float a, float b) {
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

static float combine(int32_t kind, float a, float b) {
  switch (kind) {
  case RMSNORM_SIM_MUL:
    return a * b;
  case RMSNORM_SIM_MAXIMUMF:
    return a != a || b != b ? a + b : maximum(a, b);
  case RMSNORM_SIM_MINIMUMF:
    return a != a || b != b ? a + b : minimum(a, b);
  case RMSNORM_SIM_MAXNUMF:
    return a != a ? b : b != b ? a : maximum(a, b);
  case RMSNORM_SIM_MINNUMF:
    return a != a ? b : b != b ? a : minimum(a, b);
  default:
    return a + b;
  }
}

void rmsnorm::sim::reduceLanes(float *values, int32_t count, int32_t width,
                               int32_t kind) {
  for (int32_t part = 0; part < count; part += width) {
    int32_t end = std::min(part + width, count);
    for (int32_t step = 1; step < width; step *= 2)
      for (int32_t i = part; i + step < end; i += 2 * step)
        values[i] = combine(kind, values[i], values[i + step]);
    std::fill(values + part, values + end, values[part]);
  }
}
