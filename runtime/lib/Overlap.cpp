//===- Overlap.cpp - whether two tensors share memory ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Overlap.h"

#include <algorithm>

using namespace rmsnorm::runtime;

Footprint::Footprint(uint64_t address, int64_t elementBytes, unsigned rank,
                     const int64_t *sizes, const int64_t *strides)
    : address(address), run(elementBytes) {
  for (unsigned d = rank; d-- > 0;) {
    if (sizes[d] == 1)
      continue;
    const int64_t stride = strides[d] * elementBytes;
    if (count == 1 && stride <= run) { // no hole between two of them
      run += (sizes[d] - 1) * stride;
    } else if (count == 1) {
      step = stride;
      count = sizes[d];
    } else if (stride - step == step * (count - 1)) {
      count *= sizes[d];
    } else {
      return;
    }
  }
}

/// The floor of a / b, where b > 0.
static int64_t floorDiv(int64_t a, int64_t b) { return a / b - (a % b < 0); }

/// Run j of `b` begins `distance + j * b.step` bytes after run 0 of `a`. That
/// run, at `[0, a.run)`, shares bytes with it if the number is above -b.run and
/// below a.run. Of two with one step, run i of `a` and run j of `b` are as far
/// apart as run 0 and run j - i, so the least j - i above -b.run decides.
static bool shareBytes(const Footprint &a, const Footprint &b, int64_t distance,
                       int64_t first, int64_t last, int64_t step) {
  int64_t k = first;
  if (step > 0)
    k = std::max(first, floorDiv(-b.run - distance, step) + 1);
  if (k > last)
    return false;
  const int64_t begin = distance + k * step;
  return begin > -b.run && begin < a.run;
}

bool rmsnorm::runtime::shareBytes(const Footprint &a, const Footprint &b) {
  // No memory is so large, and below nothing overflows.
  constexpr int64_t most = int64_t(1) << 60;
  const int64_t distance = int64_t(b.address - a.address);
  if (a.getReach() > most || b.getReach() > most || distance > most ||
      distance < -most)
    return false;
  if (a.count == 1)
    return ::shareBytes(a, b, distance, 0, b.count - 1, b.step);
  if (b.count == 1)
    return ::shareBytes(b, a, -distance, 0, a.count - 1, a.step);
  if (a.step == b.step)
    return ::shareBytes(a, b, distance, -(a.count - 1), b.count - 1, a.step);
  return ::shareBytes(a, b, distance, 0, b.count - 1, b.step) ||
         ::shareBytes(b, a, -distance, 0, a.count - 1, a.step);
}
