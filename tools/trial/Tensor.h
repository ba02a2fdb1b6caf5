// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Tensor.h - a tensor in host memory between guard bytes ------------===//

#ifndef TRIAL_TENSOR_H
#define TRIAL_TENSOR_H

#include "Values.h"

#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace trial {

/// How tensors lie in memory, beside packed and aligned to 256 bytes.
struct LayoutOptions {
  /// Elements between the end of a row and the next one.
  int64_t rowGap = 0;
  /// Elements the first one is shifted by from an aligned address.
  int64_t shift = 0;
};

class Tensor {
public:
  Tensor(const rmsnorm_argument_info &info, const Format &format,
         std::vector<int64_t> sizes, LayoutOptions layout);

  /// The host memory: guard, elements and gaps, guard.
  unsigned char *bytes() { return memory.get(); }
  const unsigned char *bytes() const { return memory.get(); }
  size_t byteCount() const { return size; }

  const std::vector<int64_t> &getSizes() const { return sizes; }
  const Format &getFormat() const { return format; }
  int64_t rowCount() const { return rows; }
  int64_t rowSize() const { return columns; }
  int64_t elementCount() const { return rows * columns; }
  /// Byte offset of a row's first element from bytes().
  size_t rowOffset(int64_t row) const;
  double at(int64_t row, int64_t column) const {
    const unsigned char *at =
        bytes() + rowOffset(row) + format.getBytes(column);
    if (!format.isPacked)
      return decode(format, at);
    const unsigned char number = *at >> 4 * (column % 2) & 15;
    return decode(format, &number);
  }

  /// A tensor of this layout over other memory, e.g. a device's; `base` stands
  /// where bytes() does here. Valid while this tensor lives.
  DLTensor view(void *base, DLDevice device) const;

  /// Takes over the contents of a tensor of the same layout.
  void copyFrom(const Tensor &other);

  /// "" if no byte outside the elements differs from `before`, a tensor of the
  /// same layout; else which one does.
  std::string findOverrun(const Tensor &before) const;
  bool sameBytes(const Tensor &other) const;

private:
  Format format;
  DLDataType dtype;
  std::vector<int64_t> sizes, strides;
  int64_t rows, columns;
  size_t first, size;
  struct Free {
    void operator()(unsigned char *p) const { std::free(p); }
  };
  std::unique_ptr<unsigned char, Free> memory;
};

} // namespace trial

#endif // TRIAL_TENSOR_H
