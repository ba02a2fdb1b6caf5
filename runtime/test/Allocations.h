//===- Allocations.h - counting heap allocations --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_TEST_ALLOCATIONS_H
#define RMSNORM_RUNTIME_TEST_ALLOCATIONS_H

namespace test {
/// Calls of malloc and friends in this process so far.
long allocationCount();
} // namespace test

#endif // RMSNORM_RUNTIME_TEST_ALLOCATIONS_H
