// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fill.cpp - inputs from a seed -------------------------------------===//

#include "Fill.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace trial {

// By row number modulo 8. 2^8 * 3.5 and sums of a few such stay in f16.
static constexpr double rowScales[8] = {1,      0x1p-10, 0x1p6, 1,
                                        0x1p-3, 0,       0x1p8, 0x1p-6};
// Where the scales of a tensor of data begin. Of dy and x, each is zero, large
// and small without the other, but no x that is small, hence has a large rstd,
// meets a dy that would overflow f16.
static constexpr unsigned scaleShifts[4] = {3, 0, 6, 1};

// Of so many rows those below are special, each of a tensor's own, as no two of
// these numbers differ as two shifts do. They are few, since a row with a NaN
// often says nothing else, and none of the first, since tables have few rows.
static constexpr int64_t specialPeriod = 64;
enum SpecialRow : int64_t {
  // One element of a row like others.
  OneNaN = 14,
  OneInfinity = 18,
  OneSubnormal = 26,
  Ties = 22,
  // Not shifted: all tensors but one are zero, and that one is so small that
  // the effect of eps shows in another norm after the first.
  OneTensor = 28
};

/// An odd number of at most 12 bits, halved: a tie for integers and, where it
/// has p + 1 bits, for numbers of p.
static double tie(uint64_t bits) {
  const uint64_t mask = (uint64_t(2) << (bits >> 16) % 12) - 1;
  return double((bits & mask) | 1) * (bits >> 63 ? -0.5 : 0.5);
}

/// The one special element of a row, 0 if it has none.
static double getSpecial(int64_t row, uint64_t bits, const Format &format) {
  const double sign = bits >> 63 ? -1 : 1;
  switch (row) {
  case OneNaN:
    return std::numeric_limits<double>::quiet_NaN();
  case OneInfinity:
    return sign * std::numeric_limits<double>::infinity();
  case OneSubnormal:
    return sign * ulpAt(format, 0);
  }
  return 0;
}

void fillInput(Tensor &tensor, uint64_t seed, unsigned index, InputKind kind,
               unsigned ordinal) {
  bool isData = kind != InputKind::Weight;
  const Format &format = tensor.getFormat();
  uint64_t stream = mix(seed, index);
  const unsigned number = ordinal % 4;
  for (int64_t row = 0; row < tensor.rowCount(); ++row) {
    unsigned char *begin = tensor.bytes() + tensor.rowOffset(row);
    const int64_t shifted = row + scaleShifts[number];
    const int64_t alone = row % specialPeriod - OneTensor;
    const int64_t special = shifted % specialPeriod;
    const bool isSpecial = isData && format.isFloat && tensor.rowSize() > 0;
    double scale = isData ? rowScales[shifted % 8] : 0.25;
    double mean = isData ? 0 : 1;
    if (isSpecial && alone >= 0 && alone < 4)
      scale = alone == number ? 0x1p-20 : 0;
    auto set = [&](double value, int64_t column) {
      encode(format, format.isPower() ? std::fabs(value) : value, begin,
             column);
    };
    for (int64_t column = 0; column < tensor.rowSize(); ++column) {
      uint64_t bits = mix(stream, uint64_t(row * tensor.rowSize() + column));
      set(isSpecial && special == Ties ? tie(bits)
                                       : mean + scale * normal(bits),
          column);
    }
    uint64_t bits = mix(~stream, uint64_t(row));
    double value = isSpecial ? getSpecial(special, bits, format) : 0;
    if (value != 0 && (std::isfinite(value) || kind == InputKind::Data))
      set(value, int64_t(bits % uint64_t(tensor.rowSize())));
  }
}

void fillIndices(Tensor &tensor, uint64_t seed, unsigned index, int64_t bound,
                 bool distinct) {
  const auto pick = distinct ? pickDistinctIndex : pickIndex;
  const Format &format = tensor.getFormat();
  uint64_t stream = mix(seed, index);
  for (int64_t row = 0; row < tensor.rowCount(); ++row)
    for (int64_t column = 0; column < tensor.rowSize(); ++column)
      encode(format,
             double(pick(stream, uint64_t(row * tensor.rowSize() + column),
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

bool makeTensors(const Plan &plan, const Options &options,
                 std::vector<Tensor> &tensors, std::string &error) {
  for (size_t i = 0; i < plan.arguments.size(); ++i) {
    const rmsnorm_argument_info &info = plan.arguments[i];
    Format format;
    const std::string name = "argument '" + std::string(info.name) + "': ";
    if (!getFormat(info.dtype, format)) {
      error = name + "expected a data type that can be filled, got " +
              info.dtype_name;
      return false;
    }
    LayoutOptions layout;
    // A gap that keeps rows aligned to 16 bytes; --unaligned alone shifts.
    if (options.strided)
      layout.rowGap = 48 / format.bytes;
    if (options.unaligned)
      layout.shift = 1;
    tensors.emplace_back(info, format, plan.shapes[i], layout);
    if (!tensors.back().bytes()) {
      error = name + "no host memory for " +
              std::to_string(tensors.back().byteCount()) + " bytes";
      return false;
    }
  }
  return true;
}

/// Whether it has one f32 for each row of an argument that is `widest`.
static bool isRowFactor(const rmsnorm_argument_info &info,
                        const rmsnorm_argument_info &widest) {
  return info.rank == widest.rank - 1 && info.dtype.code == kDLFloat &&
         info.dtype.bits == 32 &&
         std::equal(info.dims, info.dims + info.rank, widest.dims);
}

/// Whether an output may be a sum over rows of an argument that is `widest`: a
/// NaN in one of them would be all there is in it.
static bool mixesRows(const rmsnorm_argument_info &output,
                      const rmsnorm_argument_info &widest) {
  if (output.rank == widest.rank)
    return false;
  return output.rank == 0 || output.dims[0] != widest.dims[0] ||
         output.dims[output.rank - 1] == widest.dims[widest.rank - 1];
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
  InputKind kind = InputKind::Data;
  for (const rmsnorm_argument_info &info : plan.arguments)
    if (info.role != RMSNORM_INPUT && mixesRows(info, rows))
      kind = InputKind::FiniteData;
  unsigned ordinal = 0;
  std::vector<size_t> data, factors;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const rmsnorm_argument_info &info = plan.arguments[i];
    if (info.role == RMSNORM_OUTPUT) {
      poison(tensors[i]);
    } else if (plan.bounds[i] >= 0) {
      fillIndices(tensors[i], options.seed, unsigned(i), plan.bounds[i],
                  info.distinct);
    } else if (isRowFactor(info, rows)) {
      factors.push_back(i);
    } else if (isData(info)) {
      fillInput(tensors[i], options.seed, unsigned(i), kind, ordinal++);
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

bool copyTensors(const Plan &plan, const std::vector<Tensor> &from,
                 const Options &options, std::vector<Tensor> &copies,
                 std::string &error) {
  if (!makeTensors(plan, options, copies, error))
    return false;
  for (size_t i = 0; i < copies.size(); ++i)
    copies[i].copyFrom(from[i]);
  return true;
}

} // namespace trial
