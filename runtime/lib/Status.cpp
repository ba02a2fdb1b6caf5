//===- Status.cpp - failing with a message --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Status.h"

#include <cstdarg>
#include <cstdio>
#include <utility>

using namespace rmsnorm::runtime;

static thread_local std::string lastError;

static std::string vformatted(const char *format, va_list arguments) {
  va_list again;
  va_copy(again, arguments);
  int size = std::vsnprintf(nullptr, 0, format, arguments);
  std::string text(size < 0 ? 0 : size, '\0');
  // Writes one byte past size(), the terminator a string has room for.
  std::vsnprintf(text.data(), text.size() + 1, format, again);
  va_end(again);
  return text;
}

std::string rmsnorm::runtime::formatted(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::string text = vformatted(format, arguments);
  va_end(arguments);
  return text;
}

rmsnorm_status rmsnorm::runtime::fail(rmsnorm_status status, const char *format,
                                      ...) {
  va_list arguments;
  va_start(arguments, format);
  // Formatted before it is assigned: arguments may come from the old message.
  std::string text = vformatted(format, arguments);
  va_end(arguments);
  lastError = std::move(text);
  return status;
}

rmsnorm_status rmsnorm::runtime::failWith(rmsnorm_status status,
                                          std::string message) {
  lastError = std::move(message);
  return status;
}

const char *rmsnorm_last_error(void) { return lastError.c_str(); }

const char *rmsnorm_version(void) { return RMSNORM_VERSION; }

const char *rmsnorm_status_name(rmsnorm_status status) {
  switch (numberOf(status)) {
  case RMSNORM_OK:
    return "ok";
  case RMSNORM_INVALID_ARGUMENT:
    return "invalid argument";
  case RMSNORM_INVALID_MODULE:
    return "invalid module";
  case RMSNORM_NOT_FOUND:
    return "not found";
  case RMSNORM_NO_DRIVER:
    return "no driver";
  case RMSNORM_NO_DEVICE:
    return "no device";
  case RMSNORM_UNSUPPORTED:
    return "unsupported";
  case RMSNORM_OUT_OF_MEMORY:
    return "out of memory";
  case RMSNORM_DRIVER_ERROR:
    return "driver error";
  case RMSNORM_KERNEL_FAULT:
    return "kernel fault";
  }
  return "unknown status";
}
