// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Tensor.cpp - a tensor in host memory between guard bytes ----------===//

#include "Tensor.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace trial {

// Wide enough to catch a whole subgroup's 16-byte stores.
static constexpr size_t guardBytes = 2048;
static constexpr unsigned char guardValue = 0xa5;

Tensor::Tensor(const rmsnorm_argument_info &info, const Format &format,
               std::vector<int64_t> sizesIn, LayoutOptions layout)
    : format(format), dtype(info.dtype), sizes(std::move(sizesIn)) {
  int rank = int(sizes.size());
  columns = rank ? sizes.back() : 1;
  rows = 1;
  strides.assign(rank, 1);
  int64_t gap = info.dense ? 0 : layout.rowGap;
  if (format.isPacked)
    gap *= 2; // whole bytes
  int64_t extent = columns;
  for (int d = rank - 2; d >= 0; --d) {
    // The gap again in every outer dimension: none of them collapse then.
    strides[d] = extent + gap;
    extent = strides[d] * std::max<int64_t>(sizes[d], 1);
    rows *= sizes[d];
  }
  int64_t shift = info.alignment > uint32_t(format.bytes) ? 0 : layout.shift;
  first = guardBytes + size_t(shift) * format.bytes;
  size = first + size_t(format.getBytes(extent)) + guardBytes;
  size = (size + 255) / 256 * 256;
  memory.reset(static_cast<unsigned char *>(std::aligned_alloc(256, size)));
  if (memory)
    std::memset(memory.get(), guardValue, size);
}

size_t Tensor::rowOffset(int64_t row) const {
  int64_t offset = 0;
  for (int d = int(sizes.size()) - 2; d > 0; --d) {
    offset += row % sizes[d] * strides[d];
    row /= sizes[d];
  }
  if (sizes.size() > 1)
    offset += row * strides[0];
  return first + size_t(format.getBytes(offset));
}

DLTensor Tensor::view(void *base, DLDevice device) const {
  DLTensor tensor = {};
  tensor.data = static_cast<unsigned char *>(base) + first;
  tensor.device = device;
  tensor.ndim = int32_t(sizes.size());
  tensor.dtype = dtype;
  tensor.shape = const_cast<int64_t *>(sizes.data());
  tensor.strides = const_cast<int64_t *>(strides.data());
  return tensor;
}

void Tensor::copyFrom(const Tensor &other) {
  std::memcpy(bytes(), other.bytes(), size);
}

std::string Tensor::findOverrun(const Tensor &before) const {
  size_t from = 0;
  auto check = [&](size_t to) -> std::string {
    if (std::memcmp(bytes() + from, before.bytes() + from, to - from) == 0)
      return "";
    while (bytes()[from] == before.bytes()[from])
      ++from;
    return "wrote outside the tensor, at byte " +
           std::to_string(int64_t(from) - int64_t(first)) +
           " from its first element";
  };
  for (int64_t row = 0; row < rows && columns; ++row) {
    size_t begin = rowOffset(row);
    if (std::string text = check(begin); !text.empty())
      return text;
    from = begin + size_t(format.getBytes(columns));
  }
  return check(size);
}

bool Tensor::sameBytes(const Tensor &other) const {
  return std::memcmp(bytes(), other.bytes(), size) == 0;
}

} // namespace trial
