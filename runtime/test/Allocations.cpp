//===- Allocations.cpp - counting heap allocations ------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The executable's own malloc comes before libc's, for libraries as well. Not
// under the address sanitizer, whose place that is.

#include "Allocations.h"

#include <atomic>
#include <cstddef>

static std::atomic<long> count{0};

long test::allocationCount() { return count; }

#ifndef __SANITIZE_ADDRESS__
extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);

void *malloc(size_t bytes) {
  ++count;
  return __libc_malloc(bytes);
}
void *calloc(size_t number, size_t bytes) {
  ++count;
  return __libc_calloc(number, bytes);
}
void *realloc(void *memory, size_t bytes) {
  ++count;
  return __libc_realloc(memory, bytes);
}
}
#endif
