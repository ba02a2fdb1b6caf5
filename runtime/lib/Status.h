//===- Status.h - failing with a message ----------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_STATUS_H
#define RMSNORM_RUNTIME_STATUS_H

#include "rmsnorm/rmsnorm.h"

#include <string>

namespace rmsnorm::runtime {

/// Sets this thread's message (printf style) and returns `status`.
rmsnorm_status fail(rmsnorm_status status, const char *format, ...)
    __attribute__((format(printf, 2, 3), cold));

/// Sets this thread's message as it is and returns `status`.
rmsnorm_status failWith(rmsnorm_status status, std::string message)
    __attribute__((cold));

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
