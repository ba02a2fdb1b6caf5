// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Values.h - elements of tensors on the host ------------------------===//

#ifndef TRIAL_VALUES_H
#define TRIAL_VALUES_H

#include "rmsnorm/rmsnorm.h"

#include <cstdint>

namespace trial {

/// How a data type stores a number. Floating point: sign, exponent, mantissa.
/// Without sign and mantissa: a power of two, all ones is NaN.
struct Format {
  int bytes;
  bool isFloat;
  int exponentBits, mantissaBits;
  bool isSigned = true;
  /// E4M3FN: no infinity, all ones is NaN.
  bool finite = false;
  /// E4M3FNUZ: no infinity, the bits of -0 are NaN, and exponents are one less.
  bool fnuz = false;
  /// A byte, 0 or 1.
  bool isBool = false;

  /// Two a byte, the first in its lower half; neither infinity nor NaN.
  bool isPacked = false;

  /// That elements take.
  int64_t getBytes(int64_t elements) const {
    return isPacked ? elements / 2 : elements * bytes;
  }
  bool isPower() const { return isFloat && !isSigned; }
};

/// Returns false for a data type that cannot be filled.
bool getFormat(DLDataType dtype, Format &format);

/// The number stored at `at`.
double decode(const Format &format, const void *at);

/// Stores `value`, rounded to nearest even.
void encode(const Format &format, double value, void *at);

/// Stores it as element `column` of the row at `row`.
void encode(const Format &format, double value, unsigned char *row,
            int64_t column);

/// An index below `bound`, or 0: the last one for position 0, then the first,
/// then any.
int64_t pickIndex(uint64_t seed, uint64_t position, int64_t bound);
/// The same, other ones for other positions below `bound`.
int64_t pickDistinctIndex(uint64_t seed, uint64_t position, int64_t bound);

/// Distance of neighbouring numbers of the format at `value`.
double ulpAt(const Format &format, double value);

/// A well mixed function of a seed and a position.
uint64_t mix(uint64_t seed, uint64_t position);

/// About normally distributed, mean 0, variance 1, |x| < 3.5.
double normal(uint64_t bits);

} // namespace trial

#endif // TRIAL_VALUES_H
