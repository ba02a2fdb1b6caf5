// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fill.cpp - inputs from a seed -------------------------------------===//

#include "Fill.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace trial {

// By row number modulo 8. 2^8 * 3.5 and sums of a few such stay in f16.
static constexpr double rowScales[8] = {1,      0x1p-10, 0x1p6, 1,
                                        0x1p-3, 0,       0x1p8, 0x1p-6};

void fillInput(Tensor &tensor, uint64_t seed, unsigned index, InputKind kind,
               unsigned shift) {
  bool isData = kind == InputKind::Data;
  const Format &format = tensor.getFormat();
  uint64_t stream = mix(seed, index);
  for (int64_t row = 0; row < tensor.rowCount(); ++row) {
    unsigned char *begin = tensor.bytes() + tensor.rowOffset(row);
    double scale = isData ? rowScales[(row + shift) % 8] : 0.25;
    double mean = isData ? 0 : 1;
    for (int64_t column = 0; column < tensor.rowSize(); ++column) {
      uint64_t bits = mix(stream, uint64_t(row * tensor.rowSize() + column));
      double value = mean + scale * normal(bits);
      encode(format, format.isPower() ? std::fabs(value) : value, begin,
             column);
    }
  }
}

void fillIndices(Tensor &tensor, uint64_t seed, unsigned index, int64_t bound) {
  const Format &format = tensor.getFormat();
  uint64_t stream = mix(seed, index);
  for (int64_t row = 0; row < tensor.rowCount(); ++row)
    for (int64_t column = 0; column < tensor.rowSize(); ++column)
      encode(format,
             double(pickIndex(stream, uint64_t(row * tensor.rowSize() + column),
                              bound)),
             tensor.bytes() + tensor.rowOffset(row) + column * format.bytes);
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
                size_t(tensor.getFormat().getBytes(tensor.rowSize())));
}

//===----------------------------------------------------------------------===//
// All tensors of a plan
//===----------------------------------------------------------------------===//

std::vector<Tensor> makeTensors(const Plan &plan, const Options &options) {
  std::vector<Tensor> tensors;
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    const rmsnorm_argument_info &info = plan.arguments[i];
    Format format;
    if (!getFormat(info.dtype, format))
      return {};
    LayoutOptions layout;
    // A gap that keeps rows aligned to 16 bytes; --unaligned alone shifts.
    if (options.strided)
      layout.rowGap = 48 / format.bytes;
    if (options.unaligned)
      layout.shift = 1;
    tensors.emplace_back(info, format, plan.shapes[i], layout);
    if (!tensors.back().bytes())
      return {};
  }
  return tensors;
}

/// Whether it has one f32 for each row of an argument that is `widest`.
static bool isRowFactor(const rmsnorm_argument_info &info,
                        const rmsnorm_argument_info &widest) {
  return info.rank == widest.rank - 1 && info.dtype.code == kDLFloat &&
         info.dtype.bits == 32 &&
         std::equal(info.dims, info.dims + info.rank, widest.dims);
}

void fillTensors(const Plan &plan, const Options &options,
                 std::vector<Tensor> &tensors) {
  size_t widest = 0;
  for (size_t i = 0; i < tensors.size(); ++i)
    if (plan.arguments[i].rank > plan.arguments[widest].rank)
      widest = i;
  const rmsnorm_argument_info &rows = plan.arguments[widest];
  auto isData = [&](const rmsnorm_argument_info &info) {
    return info.rank >= 2 || rows.rank < 2;
  };
  // Of dy and x, each is zero, large and small without the other, but no x that
  // is small, hence has a large rstd, meets a dy that would overflow f16.
  const unsigned shifts[4] = {3, 0, 6, 1};
  unsigned ordinal = 0;
  std::vector<size_t> data, factors;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const rmsnorm_argument_info &info = plan.arguments[i];
    if (info.role == RMSNORM_OUTPUT) {
      poison(tensors[i]);
    } else if (plan.bounds[i] >= 0) {
      fillIndices(tensors[i], options.seed, unsigned(i), plan.bounds[i]);
    } else if (isRowFactor(info, rows)) {
      factors.push_back(i);
    } else if (isData(info)) {
      fillInput(tensors[i], options.seed, unsigned(i), InputKind::Data,
                shifts[ordinal++ % 4]);
      if (info.rank == rows.rank)
        data.push_back(i);
    } else {
      fillInput(tensors[i], options.seed, unsigned(i), InputKind::Weight);
    }
  }
  // Those of the data right before them, if they follow any: in the order of
  // rmsnorm.backward that is the norm's input.
  for (size_t i : factors) {
    size_t of = data.empty() ? i : data.front();
    for (size_t candidate : data)
      if (candidate < i)
        of = candidate;
    if (of != i)
      fillRowFactors(tensors[i], tensors[of]);
    else
      fillInput(tensors[i], options.seed, unsigned(i), InputKind::Weight);
  }
}

std::vector<Tensor> copyTensors(const Plan &plan,
                                const std::vector<Tensor> &from,
                                const Options &options) {
  std::vector<Tensor> copies = makeTensors(plan, options);
  for (size_t i = 0; i < copies.size(); ++i)
    copies[i].copyFrom(from[i]);
  return copies;
}

} // namespace trial
