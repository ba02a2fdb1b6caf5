// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fill.cpp - inputs from a seed -------------------------------------===//

#include "Fill.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace norm_run {

// By row number modulo 8. 2^8 * 3.5 and sums of a few such stay in f16.
static constexpr double rowScales[8] = {1,      0x1p-10, 0x1p6, 1,
                                        0x1p-3, 0,       0x1p8, 0x1p-6};

void fillInput(Tensor &tensor, uint64_t seed, unsigned index, InputKind kind,
               unsigned shift) {
  bool isData = kind == InputKind::Data;
  const Format &format = tensor.getFormat();
  uint64_t stream = mix(seed, index);
  for (int64_t row = 0; row < tensor.rowCount(); ++row) {
    unsigned char *at = tensor.bytes() + tensor.rowOffset(row);
    double scale = isData ? rowScales[(row + shift) % 8] : 0.25;
    double mean = isData ? 0 : 1;
    for (int64_t column = 0; column < tensor.rowSize(); ++column) {
      uint64_t bits = mix(stream, uint64_t(row * tensor.rowSize() + column));
      encode(format, mean + scale * normal(bits), at);
      at += format.bytes;
    }
  }
}

void fillRowFactors(Tensor &tensor, const Tensor &data) {
  const Format &format = tensor.getFormat();
  // The factors may have any shape of that many elements.
  int64_t row = 0;
  for (int64_t i = 0; i < tensor.rowCount(); ++i) {
    unsigned char *at = tensor.bytes() + tensor.rowOffset(i);
    for (int64_t j = 0; j < tensor.rowSize(); ++j, ++row) {
      double sum = 0;
      for (int64_t column = 0; column < data.rowSize(); ++column) {
        double x = data.at(row, column);
        sum += x * x;
      }
      double mean = sum / double(std::max<int64_t>(1, data.rowSize()));
      encode(format, 1 / std::sqrt(mean + 1e-5), at);
      at += format.bytes;
    }
  }
}

void poison(Tensor &tensor) {
  for (int64_t row = 0; row < tensor.rowCount(); ++row)
    std::memset(tensor.bytes() + tensor.rowOffset(row), 0xff,
                size_t(tensor.rowSize()) * tensor.getFormat().bytes);
}

} // namespace norm_run
