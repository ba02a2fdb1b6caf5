//===- Integers.cpp - comparisons, integers and buffers of the oracle -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Interval.h"

#include <cstdio>
#include <cstdlib>

namespace rmsnorm::runtime::oracle {

Interval compare(Interval a, Interval b, int64_t relations) {
  int64_t possible = 0;
  if (isNaN(a) || isNaN(b))
    possible = RMSNORM_ORACLE_UNORDERED;
  else if (isAnything(a) || isAnything(b))
    possible = RMSNORM_ORACLE_LESS | RMSNORM_ORACLE_EQUAL |
               RMSNORM_ORACLE_GREATER | RMSNORM_ORACLE_UNORDERED;
  else
    possible = (a.lo < b.hi ? RMSNORM_ORACLE_LESS : 0) |
               (a.hi > b.lo ? RMSNORM_ORACLE_GREATER : 0) |
               (a.lo <= b.hi && b.lo <= a.hi ? RMSNORM_ORACLE_EQUAL : 0);
  return {possible & ~relations ? 0.0 : 1.0, possible & relations ? 1.0 : 0.0};
}

Interval select(Interval condition, Interval a, Interval b) {
  return isPoint(condition) ? (condition.lo != 0 ? a : b) : hull(a, b);
}

/// All values of the width.
static Interval range(int64_t width) {
  if (width == 1)
    return {0, 1};
  double half = std::ldexp(1, int(width - 1));
  return {-half, half - 1};
}

Interval wrap(Interval a, int64_t width) {
  Interval all = range(width);
  // From 2^53 on not every integer is a double.
  if (isUnknown(a) || std::max(-a.lo, a.hi) > 0x1p53)
    return all;
  if (all.lo <= a.lo && a.hi <= all.hi)
    return a;
  double period = std::ldexp(1, int(width));
  double turns = std::floor((a.lo - all.lo) / period) * period;
  a = {a.lo - turns, a.hi - turns};
  return a.hi <= all.hi ? a : all;
}

Interval to_unsigned(Interval a, int64_t width) {
  double period = std::ldexp(1, int(width));
  if (a.lo >= 0)
    return a;
  return a.hi < 0 ? Interval{a.lo + period, a.hi + period}
                  : Interval{0, period - 1};
}

Interval to_integer(Interval a, int64_t width, int64_t isSigned) {
  Interval all = range(width);
  Interval result = {std::trunc(a.lo), std::trunc(a.hi)};
  Interval allowed =
      isSigned && width > 1 ? all : Interval{0, std::ldexp(1, int(width)) - 1};
  // Outside of the type the IR says nothing of the result.
  if (isNaN(a) || !(allowed.lo <= result.lo && result.hi <= allowed.hi))
    return all;
  return wrap(result, width);
}

static int64_t evaluate(int64_t a, int64_t b, int64_t operation,
                        int64_t width) {
  uint64_t x = uint64_t(a), y = uint64_t(b);
  switch (operation) {
  case RMSNORM_ORACLE_ANDI:
    return int64_t(x & y);
  case RMSNORM_ORACLE_ORI:
    return int64_t(x | y);
  case RMSNORM_ORACLE_XORI:
    return int64_t(x ^ y);
  case RMSNORM_ORACLE_SHLI:
    return y < 64 ? int64_t(x << y) : 0;
  case RMSNORM_ORACLE_SHRSI:
    return y < 64 ? a >> b : 0;
  default: // RMSNORM_ORACLE_SHRUI
    if (width < 64)
      x &= (uint64_t(1) << width) - 1;
    return y < 64 ? int64_t(x >> y) : 0;
  }
}

Interval integer(Interval a, Interval b, int64_t operation, int64_t width) {
  if (operation == RMSNORM_ORACLE_ADDI)
    return wrap({a.lo + b.lo, a.hi + b.hi}, width);
  if (operation == RMSNORM_ORACLE_SUBI)
    return wrap({a.lo - b.hi, a.hi - b.lo}, width);
  if (operation == RMSNORM_ORACLE_MULI)
    return wrap(corners(a, b, [](double x, double y) { return x * y; }), width);
  auto at = [&](double x, double y) {
    double result = double(evaluate(int64_t(x), int64_t(y), operation, width));
    return wrap({result, result}, width);
  };
  if (isPoint(a) && isPoint(b))
    return at(a.lo, b.lo);
  // Of one bit, and of numbers shifted to the right, the ends are corners.
  bool shifts =
      isPoint(b) && (operation == RMSNORM_ORACLE_SHRSI ||
                     (operation == RMSNORM_ORACLE_SHRUI && a.lo >= 0));
  if (width == 1 || shifts)
    return hull(hull(at(a.lo, b.lo), at(a.hi, b.hi)),
                hull(at(a.lo, b.hi), at(a.hi, b.lo)));
  return range(width);
}

void *allocate(int64_t bytes) {
  void *buffer = std::malloc(size_t(bytes));
  if (buffer || bytes == 0)
    return buffer;
  // There is no other way out of an entry.
  std::fprintf(stderr, "rmsnorm: the oracle needs %lld bytes more memory\n",
               (long long)bytes);
  std::abort();
}

void release(void *buffer) { std::free(buffer); }

} // namespace rmsnorm::runtime::oracle
