//===- FakeCuda.h - a libcuda that records --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_TEST_FAKECUDA_H
#define RMSNORM_RUNTIME_TEST_FAKECUDA_H

#include <cstdint>
#include <string>
#include <vector>

namespace test {

/// What the fake driver pretends, and what it was asked.
struct FakeCuda {
  int deviceCount = 1;
  int initResult = 0;
  int major = 9, minor = 0;
  int multiprocessors = 132;
  int maxSharedMemory = 227 * 1024;
  int multiprocessorSharedMemory = 228 * 1024;
  int reservedSharedMemory = 1024; // per block; < 0: a driver before CUDA 11.1
  int staticSharedMemory = 0;      // of every kernel
  int maxThreadsPerBlock = 1024;
  int cubinResult = 0;     // of loading ELF code
  bool hasLaunchEx = true; // false: a driver before CUDA 11.8
  bool hasGraphs = true;
  int captureResult = 0; // of ending a capture
  int residentClusters = 15;
  uint64_t freeMemory = uint64_t(5) << 30;
  /// Sizes that cuFuncGetParamInfo tells of any kernel; empty: the driver does
  /// not have that function.
  std::vector<size_t> parameterSizes;
  bool hasParameterCount = true; // false: a driver before CUDA 13.2

  bool record = true;
  std::vector<std::string> calls; // "cuModuleGetFunction(forward_kernel)"
  std::string loadedCode;
  /// Parameters of the last launch, 8 bytes each as they were passed.
  std::vector<uint64_t> parameters;
  unsigned parameterCount = 0; // to read at a launch
  long launches = 0;
};

} // namespace test

/// The fake's state, to be looked up with dlsym.
extern "C" test::FakeCuda *fake_cuda();

#endif // RMSNORM_RUNTIME_TEST_FAKECUDA_H
