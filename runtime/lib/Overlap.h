//===- Overlap.h - whether two tensors share memory -----------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_OVERLAP_H
#define RMSNORM_RUNTIME_OVERLAP_H

#include <cstdint>

namespace rmsnorm::runtime {

/// Bytes that a tensor's elements are certainly on: `count` runs of `run`
/// bytes, `step` bytes from the begin of one to that of the next. They do not
/// touch each other: step > run, or there is one.
struct Footprint {
  uint64_t address;
  int64_t run = 0, step = 0, count = 1;

  /// `bytes` bytes in a row.
  Footprint(uint64_t address, int64_t bytes) : address(address), run(bytes) {}
  /// Sizes and strides in elements, none of the sizes 0. All of a tensor whose
  /// dimensions collapse into rows, as nearly all do. Otherwise the last
  /// dimensions that collapse, at the first index of the rest.
  Footprint(uint64_t address, int64_t elementBytes, unsigned rank,
            const int64_t *sizes, const int64_t *strides);

  /// Bytes from the first to the end of the last one.
  int64_t getReach() const { return (count - 1) * step + run; }
};

/// Whether a byte is in both, exactly as far as both are rows with one step, or
/// one of them is a single run. With two steps only the first run of each is
/// held against all of the other: true is certain, false is not.
bool shareBytes(const Footprint &a, const Footprint &b);

} // namespace rmsnorm::runtime

#endif // RMSNORM_RUNTIME_OVERLAP_H
