/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *===- OracleABI.h - between an oracle's code and the runtime -------------===*
 *
 * Each entry's code is a function
 *
 *   void oracle_ENTRY(void *const *descriptors, void *const *functions)
 *
 * of memref descriptors of its arguments, whose elements are intervals, and of
 * the functions below in their order, all of which return an interval. An
 * interval is two doubles [lo, hi] between which the element of a correct f32
 * evaluation lies. Both NaN: that is certainly a NaN. [-inf, inf]: anything, a
 * NaN included. lo > hi: poison, which nothing may depend on, as the elements
 *of a new buffer. Integers are intervals of their signed value, i1 of 0 and 1.
 *
 * C, for the compiler and for the runtime.
 */
#ifndef RMSNORM_ORACLE_ORACLEABI_H
#define RMSNORM_ORACLE_ORACLEABI_H

#include <stdint.h>

#define RMSNORM_ORACLE_ABI_VERSION 3
#define RMSNORM_ORACLE_ABI_SYMBOL "rmsnorm_oracle_abi_version"

/* F(name, operands): i an interval, n an int64_t, d a double. */
#define RMSNORM_ORACLE_FUNCTIONS(F)                                            \
  /* One f32 operation, rounded to nearest. A product may also go unrounded    \
   * into the sum that it is a term of. */                                     \
  F(add, "ii")                                                                 \
  F(sub, "ii")                                                                 \
  F(mul, "ii")                                                                 \
  F(square, "i")                                                               \
  F(div, "ii")                                                                 \
  /* a * b + c, rounded once; where it is rounded to a narrower type           \
   * afterwards, `n`, perhaps to f32 before. */                                \
  F(fma, "iiin")                                                               \
  F(rem, "ii")                                                                 \
  F(pow, "ii")                                                                 \
  /* A constant power, by products. */                                         \
  F(powi, "in")                                                                \
  F(atan2, "ii")                                                               \
  F(neg, "i")                                                                  \
  F(abs, "i")                                                                  \
  F(copysign, "ii")                                                            \
  /* maximumf, minimumf, which propagate NaNs; maxnumf, minnumf. */            \
  F(max, "ii")                                                                 \
  F(min, "ii")                                                                 \
  F(maxnum, "ii")                                                              \
  F(minnum, "ii")                                                              \
  /* The function of that number, below. */                                    \
  F(unary, "in")                                                               \
  /* Rounded to nearest even: precision in bits, exponent of the smallest      \
   * normal number, largest number, what comes after it. */                    \
  F(round, "inndn")                                                            \
  /* A sum of many terms. `depth`: how many roundings a term goes through, see \
   * rmsnorm-to-intervals. begin widens what is added to; finish rounds. */    \
  F(sum_begin, "id")                                                           \
  F(sum, "iid")                                                                \
  F(sum_finish, "id")                                                          \
  /* A factor of a product of many, in any order. */                           \
  F(factor, "ii")                                                              \
  /* 1 where a relation out of a set of RMSNORM_ORACLE_LESS, ... holds. */     \
  F(compare, "iin")                                                            \
  /* Of integers without signs, of a width. */                                 \
  F(compare_unsigned, "iinn")                                                  \
  F(select, "iii")                                                             \
  /* Integers of a width: an operation of those below; float to integer,       \
   * towards zero, signed or not; a value taken modulo 2^width; the unsigned   \
   * value. */                                                                 \
  F(integer, "iinn")                                                           \
  F(to_integer, "inn")                                                         \
  F(wrap, "in")                                                                \
  F(to_unsigned, "in")                                                         \
  /* The bits of a float as an integer, and back: precision, exponent of the   \
   * smallest normal number, width. */                                         \
  F(to_bits, "innn")                                                           \
  F(from_bits, "innn")                                                         \
  /* A buffer of that many bytes, undefined, and its end. Not of intervals. */ \
  F(allocate, "n")                                                             \
  F(release, "p")

/* What follows the largest number when rounding. */
enum {
  RMSNORM_ORACLE_TO_INFINITY,
  RMSNORM_ORACLE_TO_NAN,
  RMSNORM_ORACLE_SATURATE
};

/* The bits of LLVM's floating-point predicates. */
enum {
  RMSNORM_ORACLE_EQUAL = 1,
  RMSNORM_ORACLE_GREATER = 2,
  RMSNORM_ORACLE_LESS = 4,
  RMSNORM_ORACLE_UNORDERED = 8
};

/* Unary functions. What each may err by stands in Interval.cpp. */
#define RMSNORM_ORACLE_UNARY(F)                                                \
  F(exp)                                                                       \
  F(exp2)                                                                      \
  F(expm1)                                                                     \
  F(log)                                                                       \
  F(log2)                                                                      \
  F(log10)                                                                     \
  F(log1p)                                                                     \
  F(tanh)                                                                      \
  F(erf)                                                                       \
  F(erfc)                                                                      \
  F(sinh)                                                                      \
  F(cosh)                                                                      \
  F(atan)                                                                      \
  F(cbrt)                                                                      \
  F(sqrt)                                                                      \
  F(rsqrt)                                                                     \
  F(sin)                                                                       \
  F(cos)                                                                       \
  F(floor)                                                                     \
  F(ceil)                                                                      \
  F(trunc)                                                                     \
  F(round)                                                                     \
  F(roundeven)                                                                 \
  /* an integer to the nearest f32 */                                          \
  F(nearest)                                                                   \
  /* the power of two that is not above, or not below */                       \
  F(power_below)                                                               \
  F(power_above)                                                               \
  F(asin)                                                                      \
  F(acos)                                                                      \
  F(asinh)                                                                     \
  F(acosh)                                                                     \
  F(atanh)

#define RMSNORM_ORACLE_ENUMERATOR(name) RMSNORM_ORACLE_##name,
enum { RMSNORM_ORACLE_UNARY(RMSNORM_ORACLE_ENUMERATOR) };
#undef RMSNORM_ORACLE_ENUMERATOR

enum {
  RMSNORM_ORACLE_ADDI,
  RMSNORM_ORACLE_SUBI,
  RMSNORM_ORACLE_MULI,
  RMSNORM_ORACLE_ANDI,
  RMSNORM_ORACLE_ORI,
  RMSNORM_ORACLE_XORI,
  RMSNORM_ORACLE_SHLI,
  RMSNORM_ORACLE_SHRSI,
  RMSNORM_ORACLE_SHRUI,
  /* The quotient towards zero, below, above; the remainder of the first. */
  RMSNORM_ORACLE_DIVI,
  RMSNORM_ORACLE_FLOORDIVI,
  RMSNORM_ORACLE_CEILDIVI,
  RMSNORM_ORACLE_REMI,
  /* Without signs. */
  RMSNORM_ORACLE_DIVUI,
  RMSNORM_ORACLE_CEILDIVUI,
  RMSNORM_ORACLE_REMUI,
  /* Of the first operand: leading zeros, trailing zeros, ones. */
  RMSNORM_ORACLE_CTLZ,
  RMSNORM_ORACLE_CTTZ,
  RMSNORM_ORACLE_CTPOP
};

#endif /* RMSNORM_ORACLE_ORACLEABI_H */
