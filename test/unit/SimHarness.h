// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimHarness.h - compiles kernels from text and runs them -----------===//

#ifndef RMSNORM_TEST_UNIT_SIMHARNESS_H
#define RMSNORM_TEST_UNIT_SIMHARNESS_H

#include "Simulator.h"

#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace rmsnorm::test {

/// Host code made of MLIR text.
class Code {
public:
  /// `functions` is the body of a gpu.module (`device`), which goes through
  /// rmsnorm-finalize-sim, or that of a module of LLVM dialect functions. On
  /// failure the test fails and `get` returns null.
  explicit Code(const std::string &functions, bool device = true);
  ~Code();
  Code(const Code &) = delete;

  void *get(const std::string &name) const;

private:
  void *library = nullptr;
};

/// A kernel `@k` with a body over the constants %c0 ... (see SimHarness.cpp),
/// %t (thread, index), %t32 (i32) and %b (block, index), and a launch of it.
class KernelTest {
public:
  KernelTest(const std::string &arguments, const std::string &body);

  template <typename T>
  void addBuffer(const std::string &name, std::vector<T> &buffer,
                 bool writable = false, bool constant = false) {
    sim::Parameter parameter;
    parameter.name = name;
    parameter.slot = parameter.begin =
        reinterpret_cast<uint64_t>(buffer.data());
    parameter.end = parameter.begin + buffer.size() * sizeof(T);
    parameter.writable = writable;
    parameter.constant = constant;
    request.parameters.push_back(parameter);
  }
  template <typename T> void addScalar(T value) {
    sim::Parameter parameter;
    std::memcpy(&parameter.slot, &value, sizeof(T));
    request.parameters.push_back(parameter);
  }
  /// Runs it; the message is empty if all went well.
  std::string run();

  sim::LaunchRequest request;
  sim::Report report;

private:
  Code code;
};

/// All thread orders, the shuffled one with several seeds.
struct OrderAndSeed {
  sim::Order order;
  uint64_t seed;
};
constexpr OrderAndSeed kOrders[] = {{sim::Order::Forward, 0},
                                    {sim::Order::Reverse, 0},
                                    {sim::Order::Shuffled, 1},
                                    {sim::Order::Shuffled, 2},
                                    {sim::Order::Shuffled, 3}};

/// Runs `test` in each of them and expects its messages to hold `expected`; ""
/// is success.
void expectInEveryOrder(KernelTest &test, const std::string &expected);

/// `text` with every `from` replaced.
std::string replaceAll(std::string text, const std::string &from,
                       const std::string &to);

} // namespace rmsnorm::test

#endif // RMSNORM_TEST_UNIT_SIMHARNESS_H
