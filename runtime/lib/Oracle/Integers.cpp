//===- Integers.cpp - comparisons, integers and buffers of the oracle -----===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Interval.h"

#include <csetjmp>
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
  if (isPoison(condition))
    return poison;
  if (isPoint(condition))
    return condition.lo != 0 ? a : b;
  if (isPoison(a) || isPoison(b))
    return isPoison(a) && isPoison(b) ? poison : anything;
  return hull(a, b);
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
  if (a.hi >= 0 || isUnknown(a))
    return {0, period - 1};
  a = {a.lo + period, a.hi + period};
  if (width < 64)
    return a;
  // Not every such integer is a double.
  return {std::nextafter(a.lo, 0), std::nextafter(a.hi, infinity)};
}

Interval compare_unsigned(Interval a, Interval b, int64_t relations,
                          int64_t width) {
  // Of one sign they are in the order of the signed ones.
  if ((a.lo < 0 && a.hi >= 0) || (b.lo < 0 && b.hi >= 0) ||
      (a.lo < 0) != (b.lo < 0))
    return compare(to_unsigned(a, width), to_unsigned(b, width), relations);
  return compare(a, b, relations);
}

Interval to_integer(Interval a, int64_t width, int64_t isSigned) {
  Interval all = range(width);
  Interval result = {std::trunc(a.lo), std::trunc(a.hi)};
  Interval allowed =
      isSigned && width > 1 ? all : Interval{0, std::ldexp(1, int(width)) - 1};
  // Of i1 both 1 and -1 are true.
  if (width > 1 &&
      (isNaN(a) || result.hi < allowed.lo || result.lo > allowed.hi))
    return poison;
  if (isNaN(a) || !(allowed.lo <= result.lo && result.hi <= allowed.hi))
    return all;
  return wrap(result, width);
}

/// Of a divisor that is not 0, and of no overflow.
static int64_t divide(int64_t a, int64_t b, int64_t operation) {
  int64_t quotient = a / b, rest = a % b;
  if (operation == RMSNORM_ORACLE_REMI)
    return rest;
  bool isBelow = rest != 0 && (rest < 0) != (b < 0);
  if (operation == RMSNORM_ORACLE_FLOORDIVI)
    return quotient - isBelow;
  return operation == RMSNORM_ORACLE_CEILDIVI && rest != 0 && !isBelow
             ? quotient + 1
             : quotient;
}

static uint64_t divideUnsigned(uint64_t a, uint64_t b, int64_t operation) {
  uint64_t quotient = a / b, rest = a % b;
  return operation == RMSNORM_ORACLE_REMUI   ? rest
         : operation == RMSNORM_ORACLE_DIVUI ? quotient
                                             : quotient + (rest != 0);
}

static uint64_t getBitsOf(int64_t value, int64_t width) {
  return width < 64 ? uint64_t(value) & ((uint64_t(1) << width) - 1)
                    : uint64_t(value);
}

static bool isDivision(int64_t operation) {
  return operation >= RMSNORM_ORACLE_DIVI && operation < RMSNORM_ORACLE_CTLZ;
}

/// Whether the IR says nothing of the result, or of what happens.
static bool isUndefined(int64_t a, int64_t b, int64_t operation,
                        int64_t width) {
  if (isDivision(operation))
    return b == 0 || (operation <= RMSNORM_ORACLE_REMI && b == -1 &&
                      double(a) == range(width).lo);
  bool shifts = operation == RMSNORM_ORACLE_SHLI ||
                operation == RMSNORM_ORACLE_SHRSI ||
                operation == RMSNORM_ORACLE_SHRUI;
  return shifts && (b < 0 || b >= width);
}

static int64_t countBits(uint64_t x, int64_t operation, int64_t width) {
  x = getBitsOf(int64_t(x), width);
  if (operation == RMSNORM_ORACLE_CTPOP)
    return __builtin_popcountll(x);
  if (x == 0)
    return width;
  return operation == RMSNORM_ORACLE_CTTZ ? __builtin_ctzll(x)
                                          : width - 64 + __builtin_clzll(x);
}

static int64_t evaluate(int64_t a, int64_t b, int64_t operation,
                        int64_t width) {
  uint64_t x = uint64_t(a), y = uint64_t(b);
  if (operation >= RMSNORM_ORACLE_CTLZ)
    return countBits(x, operation, width);
  if (operation >= RMSNORM_ORACLE_DIVUI)
    return int64_t(
        divideUnsigned(getBitsOf(a, width), getBitsOf(b, width), operation));
  if (operation >= RMSNORM_ORACLE_DIVI)
    return divide(a, b, operation);
  switch (operation) {
  case RMSNORM_ORACLE_ANDI:
    return int64_t(x & y);
  case RMSNORM_ORACLE_ORI:
    return int64_t(x | y);
  case RMSNORM_ORACLE_XORI:
    return int64_t(x ^ y);
  case RMSNORM_ORACLE_SHLI:
    return int64_t(x << y);
  case RMSNORM_ORACLE_SHRSI:
    return a >> b;
  default: // RMSNORM_ORACLE_SHRUI
    return int64_t(getBitsOf(a, width) >> y);
  }
}

Interval integer(Interval a, Interval b, int64_t operation, int64_t width) {
  const Interval all = range(width);
  // A selection of poison, or not, is not of the width.
  if (isUnknown(a))
    a = all;
  if (isUnknown(b))
    b = all;
  if (operation == RMSNORM_ORACLE_ADDI)
    return wrap({a.lo + b.lo, a.hi + b.hi}, width);
  if (operation == RMSNORM_ORACLE_SUBI)
    return wrap({a.lo - b.hi, a.hi - b.lo}, width);
  if (operation == RMSNORM_ORACLE_MULI)
    return wrap(corners(a, b, [](double x, double y) { return x * y; }), width);
  if (std::max(std::max(-a.lo, a.hi), std::max(-b.lo, b.hi)) > 0x1p53)
    return all;
  auto at = [&](double x, double y) {
    double result = double(evaluate(int64_t(x), int64_t(y), operation, width));
    return wrap({result, result}, width);
  };
  if (isPoint(a) && isPoint(b))
    return isUndefined(int64_t(a.lo), int64_t(b.lo), operation, width)
               ? poison
               : at(a.lo, b.lo);
  // Of one bit, of quotients, and of numbers shifted to the right, the ends are
  // corners.
  bool divides =
      isDivision(operation) && operation != RMSNORM_ORACLE_REMI &&
      operation != RMSNORM_ORACLE_REMUI && !contains(b, 0) &&
      (operation >= RMSNORM_ORACLE_DIVUI ? a.lo >= 0 && b.lo >= 0
                                         : a.lo > all.lo || !contains(b, -1));
  bool shifts = isPoint(b) && b.lo >= 0 && b.lo < double(width) &&
                (operation == RMSNORM_ORACLE_SHRSI ||
                 (operation == RMSNORM_ORACLE_SHRUI && a.lo >= 0));
  if ((width == 1 && operation < RMSNORM_ORACLE_SHLI) || shifts || divides)
    return hull(hull(at(a.lo, b.lo), at(a.hi, b.hi)),
                hull(at(a.lo, b.hi), at(a.hi, b.lo)));
  return all;
}

/// The bits of a magnitude in a format as IEEE's; of one without a mantissa,
/// which has no zero either, its exponent.
static double getBits(double x, int64_t precision, int64_t minExponent) {
  if (std::isinf(x))
    return std::ldexp(double(3 - 2 * minExponent), int(precision - 1));
  int64_t exponent = x == 0 ? minExponent : std::ilogb(x);
  exponent = std::max(exponent, minExponent);
  double units = std::nearbyint(std::ldexp(x, int(precision - 1 - exponent)));
  if (precision == 1)
    return double(exponent - minExponent);
  return units + std::ldexp(double(exponent - minExponent), int(precision - 1));
}

/// Back; NaN for bits that are no number.
static double getNumber(double bits, int64_t precision, int64_t minExponent) {
  if (precision == 1)
    return bits == 255 ? double(NAN)
                       : std::ldexp(1, int(bits) + int(minExponent));
  double infinite = getBits(infinity, precision, minExponent);
  if (bits >= infinite)
    return bits == infinite ? infinity : double(NAN);
  double leading = std::ldexp(1, int(precision - 1));
  double exponent = std::max(1.0, std::floor(bits / leading));
  double units = bits - (exponent - 1) * leading;
  return std::ldexp(units, int(exponent + minExponent - precision));
}

Interval to_bits(Interval a, int64_t precision, int64_t minExponent,
                 int64_t width) {
  if (isUnknown(a)) // of a NaN nobody knows the bits
    return range(width);
  auto bits = [&](double x) { return getBits(x, precision, minExponent); };
  if (precision == 1)
    return wrap({bits(a.lo), bits(a.hi)}, width);
  double least = range(width).lo; // the bits of -0
  if (a.lo > 0)
    return {bits(a.lo), bits(a.hi)};
  if (a.hi < 0)
    return {least + bits(-a.hi), least + bits(-a.lo)};
  return {least, bits(a.hi)};
}

Interval from_bits(Interval a, int64_t precision, int64_t minExponent,
                   int64_t width) {
  auto number = [&](double x) { return getNumber(x, precision, minExponent); };
  if (precision == 1)
    a = to_unsigned(a, width);
  double least = range(width).lo;
  Interval result = a.lo >= 0 ? Interval{number(a.lo), number(a.hi)}
                    : a.hi < 0
                        ? Interval{-number(a.hi - least), -number(a.lo - least)}
                        : anything;
  if (result.lo <= result.hi)
    return result;
  return isPoint(a) || (result.lo != result.lo && result.hi != result.hi)
             ? nan
             : anything;
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

namespace {
/// In front of each buffer that an entry has. As large as malloc aligns.
struct alignas(16) Header {
  Header *before, *after;
};

/// The entry that runs in this thread.
struct Running {
  Header buffers = {&buffers, &buffers};
  std::jmp_buf end;
  int64_t wanted = 0;
};
thread_local Running *running = nullptr;
} // namespace

void *allocate(int64_t bytes) {
  const size_t count =
      (size_t(bytes) + sizeof(Interval) - 1) / sizeof(Interval);
  auto *header = static_cast<Header *>(
      std::malloc(sizeof(Header) + count * sizeof(Interval)));
  if (!header) {
    running->wanted = bytes;
    // The code has nothing to undo but its buffers.
    std::longjmp(running->end, 1);
  }
  Header &first = running->buffers;
  *header = {&first, first.after};
  first.after->before = header;
  first.after = header;
  auto *elements = reinterpret_cast<Interval *>(header + 1);
  std::fill_n(elements, count, poison);
  return elements;
}

void release(void *buffer) {
  Header *header = static_cast<Header *>(buffer) - 1;
  header->before->after = header->after;
  header->after->before = header->before;
  std::free(header);
}

bool runEntry(void (*entry)(void *const *, void *const *),
              void *const *descriptors, int64_t &bytes) {
  Running now;
  running = &now;
  const bool ran = setjmp(now.end) == 0;
  if (ran)
    entry(descriptors, functions);
  while (now.buffers.after != &now.buffers)
    release(now.buffers.after + 1);
  running = nullptr;
  bytes = now.wanted;
  return ran;
}

} // namespace rmsnorm::runtime::oracle
