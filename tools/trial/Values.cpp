// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Values.cpp - elements of tensors on the host ----------------------===//

#include "Values.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace trial {

bool getFormat(DLDataType dtype, Format &format) {
  if (dtype.lanes != 1)
    return false;
  if (dtype.code == kDLFloat && dtype.bits == 16)
    format = {2, true, 5, 10};
  else if (dtype.code == kDLBfloat && dtype.bits == 16)
    format = {2, true, 8, 7};
  else if (dtype.code == kDLFloat && dtype.bits == 32)
    format = {4, true, 8, 23};
  else if (dtype.code == kDLFloat && dtype.bits == 64)
    format = {8, true, 11, 52};
  else if (dtype.code == RMSNORM_DL_FLOAT8_E4M3FN && dtype.bits == 8)
    format = {1, true, 4, 3, true, true};
  else if (dtype.code == RMSNORM_DL_FLOAT8_E5M2 && dtype.bits == 8)
    format = {1, true, 5, 2};
  else if (dtype.code == RMSNORM_DL_FLOAT8_E4M3FNUZ && dtype.bits == 8)
    format = {1, true, 4, 3, true, true, true};
  else if (dtype.code == RMSNORM_DL_FLOAT8_E8M0FNU && dtype.bits == 8)
    format = {1, true, 8, 0, false};
  else if (dtype.code == RMSNORM_DL_FLOAT4_E2M1FN && dtype.bits == 4)
    format = {1, true, 2, 1, true, true, false, false, true};
  else if (dtype.code == RMSNORM_DL_BOOL && dtype.bits == 8)
    format = {1, false, 0, 0, false, false, false, true};
  else if (dtype.code == kDLInt || dtype.code == kDLUInt)
    format = {dtype.bits / 8, false, 0, 0, dtype.code == kDLInt};
  else
    return false;
  return true;
}

static uint64_t loadBits(int bytes, const void *at) {
  uint64_t bits = 0;
  if (bytes == 2) // a load rather than a call
    std::memcpy(&bits, at, 2);
  else
    std::memcpy(&bits, at, bytes); // little endian hosts only, as the runtime
  return bits;
}

/// 2^exponent, a normal number. ldexp is a call, once for each element.
static double power(int exponent) {
  uint64_t bits = uint64_t(exponent + 1023) << 52;
  double value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

static int minExponent(const Format &f) {
  return 2 - (1 << (f.exponentBits - 1)) - f.fnuz; // of normal numbers
}

double decode(const Format &f, const void *at) {
  uint64_t bits = loadBits(f.bytes, at);
  if (!f.isFloat) {
    int unused = 64 - 8 * f.bytes;
    return f.isSigned ? double(int64_t(bits << unused) >> unused)
                      : double(bits);
  }
  if (f.isPower())
    return bits == 0xff ? std::numeric_limits<double>::quiet_NaN()
                        : power(int(bits) - 127);
  // The two that the host knows itself, for speed.
  if (f.mantissaBits == 23) {
    float value;
    std::memcpy(&value, at, 4);
    return value;
  }
  if (f.mantissaBits == 7 && f.exponentBits == 8) {
    uint32_t wide = uint32_t(bits) << 16;
    float value;
    std::memcpy(&value, &wide, 4);
    return value;
  }
  if (f.mantissaBits == 52) {
    double value;
    std::memcpy(&value, at, 8);
    return value;
  }
  uint64_t mantissa = bits & ((1ull << f.mantissaBits) - 1);
  int allOnes = (1 << f.exponentBits) - 1;
  int exponent = int(bits >> f.mantissaBits) & allOnes;
  bool negative = bits >> (f.mantissaBits + f.exponentBits) & 1;
  int bias = 1 - minExponent(f);
  double value;
  if (f.fnuz && negative && exponent == 0 && mantissa == 0)
    return std::numeric_limits<double>::quiet_NaN();
  if (exponent == allOnes && !f.fnuz && !f.isPacked &&
      (!f.finite || mantissa == (1ull << f.mantissaBits) - 1))
    value = mantissa ? std::numeric_limits<double>::quiet_NaN()
                     : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    value = double(mantissa) * power(1 - bias - f.mantissaBits);
  else
    value = double(mantissa | 1ull << f.mantissaBits) *
            power(exponent - bias - f.mantissaBits);
  return negative ? -value : value;
}

double ulpAt(const Format &f, double value) {
  if (!f.isFloat)
    return 1;
  int exponent = minExponent(f);
  if (value != 0 && std::isfinite(value))
    exponent = std::max(exponent, std::ilogb(value));
  return std::ldexp(1.0, exponent - f.mantissaBits);
}

void encode(const Format &f, double value, void *at) {
  if (!f.isFloat) {
    int64_t integer = f.isBool ? value > 0 : std::llrint(value);
    std::memcpy(at, &integer, f.bytes);
    return;
  }
  if (f.mantissaBits == 23) {
    float narrow = float(value);
    std::memcpy(at, &narrow, 4);
    return;
  }
  if (f.mantissaBits == 52) {
    std::memcpy(at, &value, 8);
    return;
  }
  if (f.isPower()) {
    // Half between two numbers is rounded up: a number of one bit is odd.
    int exponent = value > 0x1p-127 ? std::ilogb(value / 0.75) : -127;
    bool isPower = value >= 0 && exponent <= 127;
    *static_cast<uint8_t *>(at) = uint8_t(isPower ? exponent + 127 : 0xff);
    return;
  }
  uint64_t sign = uint64_t(std::signbit(value))
                  << (f.mantissaBits + f.exponentBits);
  uint64_t bits;
  int allOnes = (1 << f.exponentBits) - 1;
  uint64_t infinity = uint64_t(allOnes) << f.mantissaBits;
  if (f.isPacked && !std::isfinite(value)) {
    bits = 7;
  } else if (f.fnuz && std::isnan(value)) {
    bits = 0; // with a sign
    sign = 0x80;
  } else if (f.fnuz && std::isinf(value)) {
    bits = 0x7f; // saturated
  } else if (std::isnan(value)) {
    bits = infinity | ((1ull << f.mantissaBits) - 1);
  } else if (std::isinf(value)) {
    bits = f.finite ? infinity | ((1ull << f.mantissaBits) - 1) : infinity;
  } else {
    // In units of the spacing: the integer part is the mantissa with its
    // leading one, and a carry out of it lands in the exponent by itself.
    double magnitude = std::fabs(value);
    uint64_t ofValue;
    std::memcpy(&ofValue, &magnitude, sizeof ofValue);
    int exponent = std::max(minExponent(f), int(ofValue >> 52) - 1023);
    // There are no fractions above 2^52: this rounds, as nearbyint does.
    double units = magnitude * power(f.mantissaBits - exponent) + 0x1p52;
    bits = (uint64_t(exponent - minExponent(f)) << f.mantissaBits) +
           uint64_t(units - 0x1p52);
    uint64_t largest =
        f.finite ? infinity + (1ull << f.mantissaBits) - 2 + f.fnuz + f.isPacked
                 : infinity;
    bits = std::min(bits, largest);
    if (f.fnuz && bits == 0)
      sign = 0;
  }
  bits |= sign;
  if (f.bytes == 2) // a store rather than a call
    std::memcpy(at, &bits, 2);
  else
    std::memcpy(at, &bits, f.bytes);
}

void encode(const Format &f, double value, unsigned char *row, int64_t column) {
  unsigned char *at = row + f.getBytes(column);
  if (!f.isPacked)
    return encode(f, value, at);
  unsigned char number;
  encode(f, value, &number);
  const int shift = 4 * int(column % 2);
  *at = (unsigned char)((*at & 0xf0 >> shift) | number << shift);
}

uint64_t mix(uint64_t seed, uint64_t position) {
  // splitmix64.
  uint64_t z = seed * 0xd1342543de82ef95ull + position * 0x9e3779b97f4a7c15ull +
               0x9e3779b97f4a7c15ull;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ z >> 27) * 0x94d049bb133111ebull;
  return z ^ z >> 31;
}

int64_t pickIndex(uint64_t seed, uint64_t position, int64_t bound) {
  if (bound < 1 || position < 2)
    return position == 0 && bound > 0 ? bound - 1 : 0;
  return int64_t(mix(seed, position) % uint64_t(bound));
}

int64_t pickDistinctIndex(uint64_t seed, uint64_t position, int64_t bound) {
  if (bound < 1)
    return 0;
  const auto size = uint64_t(bound);
  uint64_t step = mix(seed, 0) % size;
  while (std::gcd(step, size) != 1)
    step = (step + 1) % size;
  // Neither factor is above 2^31 where a tensor of that many rows fits.
  return int64_t((position % size * step + mix(seed, 1) % size) % size);
}

double normal(uint64_t bits) {
  // Sum of four uniform numbers in [0, 1): variance 4/12.
  uint64_t sum = 0;
  for (int i = 0; i < 4; ++i)
    sum += bits >> (16 * i) & 0xffff;
  return (double(sum) / 65536 - 2) * 1.7320508075688772;
}

} // namespace trial
