//===- Interval.h - arithmetic of the oracle ------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_ORACLE_INTERVAL_H
#define RMSNORM_RUNTIME_ORACLE_INTERVAL_H

#include "Oracle/OracleABI.h"

#include <algorithm>
#include <cmath>

namespace rmsnorm::runtime::oracle {

/// See OracleABI.h.
struct Interval {
  double lo, hi;
};

/// The functions of OracleABI.h, in their order.
extern void *const functions[];

constexpr double infinity = HUGE_VAL;
constexpr Interval nan = {NAN, NAN};
constexpr Interval anything = {-infinity, infinity};
/// Also of an element that the program leaves undefined.
constexpr Interval poison = {infinity, -infinity};

inline bool isNaN(Interval a) { return a.lo != a.lo; }
inline bool isAnything(Interval a) {
  return a.lo == -infinity && a.hi == infinity;
}
inline bool isPoison(Interval a) { return a.lo > a.hi; }
inline bool isPoint(Interval a) { return a.lo == a.hi; }
inline bool isUnknown(Interval a) { return isNaN(a) || isAnything(a); }
inline bool contains(Interval a, double x) { return a.lo <= x && x <= a.hi; }

/// The combination of intervals one of whose corners is a NaN.
inline Interval undefined(Interval a, Interval b) {
  bool certain = isNaN(a) || isNaN(b) || (isPoint(a) && isPoint(b));
  return certain ? nan : anything;
}

inline Interval hull(Interval a, Interval b) {
  if (isUnknown(a) || isUnknown(b))
    return isNaN(a) && isNaN(b) ? nan : anything;
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

/// The hull of the values of `f` at the corners.
template <typename F> Interval corners(Interval a, Interval b, F f) {
  double p = f(a.lo, b.lo);
  if (isPoint(a) && isPoint(b))
    return {p, p};
  double q = f(a.lo, b.hi), r = f(a.hi, b.lo), s = f(a.hi, b.hi);
  if (p != p || q != q || r != r || s != s)
    return undefined(a, b);
  return {std::min(std::min(p, q), std::min(r, s)),
          std::max(std::max(p, q), std::max(r, s))};
}

// Integers.cpp.
Interval compare(Interval a, Interval b, int64_t relations);
Interval compare_unsigned(Interval a, Interval b, int64_t relations,
                          int64_t width);
Interval select(Interval condition, Interval a, Interval b);
Interval wrap(Interval a, int64_t width);
Interval to_unsigned(Interval a, int64_t width);
Interval to_integer(Interval a, int64_t width, int64_t isSigned);
Interval to_bits(Interval a, int64_t precision, int64_t minExponent,
                 int64_t width);
Interval from_bits(Interval a, int64_t precision, int64_t minExponent,
                   int64_t width);
Interval integer(Interval a, Interval b, int64_t operation, int64_t width);
void *allocate(int64_t bytes);
void release(void *buffer);

/// Runs `entry`, code of a module. False if its buffers found no memory, of
/// which the last one wanted `bytes`.
bool runEntry(void (*entry)(void *const *, void *const *),
              void *const *descriptors, int64_t &bytes);

} // namespace rmsnorm::runtime::oracle

#endif // RMSNORM_RUNTIME_ORACLE_INTERVAL_H
