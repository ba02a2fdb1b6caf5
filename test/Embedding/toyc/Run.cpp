// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Run.cpp - launches what toyc has compiled -------------------------===//
//
// Knows nothing of MLIR: on another machine this is all there is.
//
//===----------------------------------------------------------------------===//

#include "Run.h"

#include "rmsnorm/device.h"
#include "rmsnorm/rmsnorm.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static void check(rmsnorm_status status) {
  if (status == RMSNORM_OK)
    return;
  std::fprintf(stderr, "toyc: %s\n", rmsnorm_last_error());
  std::exit(1);
}

int runAddNorm(const std::string &bytes, int64_t rows) {
  constexpr int64_t columns = 256;
  rmsnorm_module *module;
  rmsnorm_device *device;
  rmsnorm_function *function;
  rmsnorm_device_info place;
  check(rmsnorm_module_open_memory(bytes.data(), bytes.size(), &module));
  check(rmsnorm_device_open(RMSNORM_SIM, nullptr, &device));
  check(rmsnorm_device_get_info(device, &place));
  check(rmsnorm_prepare(module, "add_norm", device, &function));

  // x, residual, weight; then the result.
  int64_t shape[] = {rows, columns};
  std::vector<float> host[4];
  DLTensor tensors[4], *arguments[4];
  for (int i = 0; i < 4; ++i) {
    bool isWeight = i == 2;
    host[i].resize(isWeight ? columns : rows * columns);
    for (size_t j = 0; j < host[i].size(); ++j)
      host[i][j] = float((j * (i + 3)) % 17) / 4 - 2 + float(i);
    tensors[i] = {nullptr,
                  place.dl_device,
                  isWeight ? 1 : 2,
                  {kDLFloat, 32, 1},
                  isWeight ? &shape[1] : shape,
                  nullptr,
                  0};
    uint64_t size = host[i].size() * sizeof(float);
    check(rmsnorm_device_allocate(device, size, &tensors[i].data));
    check(rmsnorm_device_copy(device, tensors[i].data, host[i].data(), size,
                              RMSNORM_HOST_TO_DEVICE, nullptr));
    arguments[i] = &tensors[i];
  }
  check(rmsnorm_launch(function, arguments, 4, nullptr, 0, nullptr));
  std::vector<float> got(rows * columns);
  check(rmsnorm_device_copy(device, got.data(), tensors[3].data,
                            got.size() * sizeof(float), RMSNORM_DEVICE_TO_HOST,
                            nullptr));

  // f32: the addition is exact here, so what is left is the norm's error.
  double worst = 0;
  for (int64_t i = 0; i < rows; ++i) {
    double sum = 0;
    auto x = [&](int64_t j) {
      return double(host[0][i * columns + j]) + host[1][i * columns + j];
    };
    for (int64_t j = 0; j < columns; ++j)
      sum += x(j) * x(j);
    double rstd = 1 / std::sqrt(sum / columns + 1e-5);
    for (int64_t j = 0; j < columns; ++j) {
      double expected = x(j) * rstd * host[2][j];
      double error = std::fabs(got[i * columns + j] - expected);
      worst =
          std::fmax(worst, expected != 0 ? error / std::fabs(expected) : error);
    }
  }
  rmsnorm_error_bound bound;
  check(rmsnorm_module_get_error_bound(module, 0, 3, arguments, 4, &bound));
  bool isRight = worst <= bound.relative;
  std::printf("add_norm of %d rows on sim: %s\n", int(rows),
              isRight ? "as computed by a loop" : "WRONG");
  for (DLTensor &tensor : tensors)
    check(rmsnorm_device_free(device, tensor.data));
  rmsnorm_function_release(function);
  rmsnorm_device_close(device);
  rmsnorm_module_close(module);
  return isRight ? 0 : 1;
}
