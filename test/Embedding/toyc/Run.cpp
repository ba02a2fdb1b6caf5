// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Run.cpp - calls what toyc has compiled ----------------------------===//
//
// Knows nothing of MLIR: on another machine this is all there is.
//
//===----------------------------------------------------------------------===//

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

// [call]
/// How MLIR passes a memref of f32.
template <int rank> struct MemRef {
  float *allocated, *aligned;
  int64_t offset = 0, sizes[rank], strides[rank];
};

extern "C" void _mlir_ciface_layer(MemRef<2> *result, MemRef<2> *x,
                                   MemRef<2> *residual, MemRef<1> *weight,
                                   MemRef<2> *matrix);
// [call]

constexpr int64_t columns = 256, outputs = 64;

static MemRef<2> getMatrix(std::vector<float> &data, int64_t rows,
                           int64_t size) {
  return {data.data(), data.data(), 0, {rows, size}, {size, 1}};
}

/// Small numbers of which sums are exact in f32.
static std::vector<float> makeData(int64_t size, int seed) {
  std::vector<float> data(size);
  for (int64_t i = 0; i < size; ++i)
    data[i] = float((i * (seed + 3) + i / 19) % 17) / 4 - 2 + float(seed) / 8;
  return data;
}

/// Runs the layer and compares it with its formula in f64.
static bool run(int64_t rows) {
  std::vector<float> x = makeData(rows * columns, 0),
                     residual = makeData(rows * columns, 1),
                     weight = makeData(columns, 2),
                     matrix = makeData(columns * outputs, 3);
  MemRef<2> xs = getMatrix(x, rows, columns),
            residuals = getMatrix(residual, rows, columns),
            matrices = getMatrix(matrix, columns, outputs), result;
  MemRef<1> weights = {weight.data(), weight.data(), 0, {columns}, {1}};
  _mlir_ciface_layer(&result, &xs, &residuals, &weights, &matrices);

  // Rounding errors of f32, relative: of an element of the norm, whose sum has
  // `columns` terms of one sign, halved by the root, and few operations beside
  // it; and of a sum of products, relative to that of their magnitudes.
  const double unit = std::ldexp(1.0, -24),
               normError = (columns / 2 + 8) * unit,
               sumError = (columns + 1) * unit;
  bool isRight = result.sizes[0] == rows && result.sizes[1] == outputs;
  for (int64_t i = 0; i < rows && isRight; ++i) {
    double norm[columns], squares = 0;
    for (int64_t k = 0; k < columns; ++k) {
      norm[k] = double(x[i * columns + k]) + residual[i * columns + k];
      squares += norm[k] * norm[k];
    }
    double rstd = 1 / std::sqrt(squares / columns + 1e-5f);
    for (int64_t k = 0; k < columns; ++k)
      norm[k] *= rstd * weight[k];
    for (int64_t j = 0; j < outputs; ++j) {
      double sum = 0, magnitude = 0;
      for (int64_t k = 0; k < columns; ++k) {
        double product = norm[k] * matrix[k * outputs + j];
        sum += product;
        magnitude += std::fabs(product);
      }
      // z = sum * sum.
      double error = 1.01 * (normError + sumError) * magnitude,
             bound = (2 * std::fabs(sum) + error) * error + unit * sum * sum,
             got = result.aligned[result.offset + i * result.strides[0] +
                                  j * result.strides[1]];
      isRight &= std::fabs(got - sum * sum) <= bound;
    }
  }
  std::printf("layer of %d rows: %s\n", int(rows),
              isRight ? "as computed in f64" : "WRONG");
  std::free(result.allocated);
  return isRight;
}

int main() {
  bool isRight = true;
  for (int64_t rows : {0, 1, 37, 300})
    isRight &= run(rows);
  return isRight ? 0 : 1;
}
