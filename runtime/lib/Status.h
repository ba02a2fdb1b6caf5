//===- Status.h - failing with a message ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_STATUS_H
#define RMSNORM_RUNTIME_STATUS_H

#include "rmsnorm/rmsnorm.h"

#include <cstring>
#include <string>

namespace rmsnorm::runtime {

/// Sets this thread's message (printf style) and returns `status`.
rmsnorm_status fail(rmsnorm_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/// Sets this thread's message as it is and returns `status`.
rmsnorm_status failWith(rmsnorm_status status, std::string message)
    __attribute__((cold));

/// The number of an enumerator that came over the C API, which may be any: C++
/// must not load one that the enum does not have.
template <typename Enum> int numberOf(const Enum &enumerator) {
  static_assert(sizeof(Enum) == sizeof(int));
  int number;
  std::memcpy(&number, &enumerator, sizeof number);
  return number;
}

/// printf into a string.
std::string formatted(const char *format, ...)
    __attribute__((format(printf, 1, 2)));

} // namespace rmsnorm::runtime

/// Returns from the enclosing function if `expression` is not RMSNORM_OK.
#define RMSNORM_TRY(expression)                                                \
  do {                                                                         \
    if (rmsnorm_status status_ = (expression))                                 \
      return status_;                                                          \
  } while (false)

#endif // RMSNORM_RUNTIME_STATUS_H
