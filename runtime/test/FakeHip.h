//===- FakeHip.h - a libamdhip64 that records -----------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_TEST_FAKEHIP_H
#define RMSNORM_RUNTIME_TEST_FAKEHIP_H

#include <cstdint>
#include <string>
#include <vector>

namespace test {

struct FakeHip {
  int currentDevice = 0;
  std::vector<std::string> calls;
  std::vector<uint64_t> parameters; // of the last launch, 7 of them
};

} // namespace test

/// The fake's state, to be looked up with dlsym.
extern "C" test::FakeHip *fake_hip();

#endif // RMSNORM_RUNTIME_TEST_FAKEHIP_H
