//===- Tensor.h - DLPack tensors for tests --------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef RMSNORM_RUNTIME_TEST_TENSOR_H
#define RMSNORM_RUNTIME_TEST_TENSOR_H

#include "rmsnorm/dlpack.h"

#include <vector>

namespace test {

/// A DLTensor that owns its shape and strides, not its data.
struct Tensor : DLTensor {
  Tensor(void *memory, DLDevice where, DLDataType type,
         std::vector<int64_t> sizes, std::vector<int64_t> steps = {})
      : sizes(std::move(sizes)), steps(std::move(steps)) {
    data = memory;
    device = where;
    dtype = type;
    byte_offset = 0;
    update();
  }
  Tensor(const Tensor &other)
      : DLTensor(other), sizes(other.sizes), steps(other.steps) {
    update();
  }
  Tensor &operator=(const Tensor &) = delete;

  /// After a change of sizes or steps.
  void update() {
    ndim = sizes.size();
    shape = sizes.data();
    strides = steps.empty() ? nullptr : steps.data();
  }

  std::vector<int64_t> sizes, steps;
};

constexpr DLDataType BF16 = {kDLBfloat, 16, 1};
constexpr DLDataType F32 = {kDLFloat, 32, 1};
constexpr DLDevice CPU = {kDLCPU, 0};
constexpr DLDevice CUDA0 = {kDLCUDA, 0};

} // namespace test

#endif // RMSNORM_RUNTIME_TEST_TENSOR_H
