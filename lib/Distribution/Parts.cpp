// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Parts.cpp - rows that are taken apart and put together ------------===//

#include "Parts.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// Vectors in front of the part of a row that `op` takes out or puts in.
template <typename OpTy>
static int64_t getFirstVector(const Kernel &kernel, OpTy op) {
  return kernel.layout.countVectorsBefore(
      cast<IntegerAttr>(op.getOffsets()[1]).getInt());
}

bool rmsnorm::emitPart(Kernel &kernel, Operation *op, GetFragment get,
                       DefineFragments define) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  if (auto slice = dyn_cast<vector::ExtractStridedSliceOp>(op)) {
    define(slice, [&](int64_t row, int64_t index) {
      return get(slice.getSource(), row, index + getFirstVector(kernel, slice));
    });
  } else if (auto insert = dyn_cast<vector::InsertStridedSliceOp>(op)) {
    Value part = insert.getValueToStore();
    const int64_t first = getFirstVector(kernel, insert);
    const int64_t last = first + kernel.getNumVectors(part.getType());
    define(insert, [&](int64_t row, int64_t index) {
      return index >= first && index < last ? get(part, row, index - first)
                                            : get(insert.getDest(), row, index);
    });
  } else if (auto pairs = dyn_cast<vector::DeinterleaveOp>(op)) {
    const int64_t width = kernel.getVectorWidth(pairs.getRes1().getType());
    for (auto [odd, result] : llvm::enumerate(op->getResults())) {
      SmallVector<int64_t> mask;
      for (int64_t i = 0; i < width; ++i)
        mask.push_back(2 * i + odd);
      define(result, [&](int64_t row, int64_t index) {
        Value source = get(pairs.getSource(), row, index);
        return vector::ShuffleOp::create(builder, source, source, mask);
      });
    }
  } else if (auto pair = dyn_cast<vector::InterleaveOp>(op)) {
    const int64_t width = kernel.getVectorWidth(pair.getLhs().getType());
    SmallVector<int64_t> mask;
    for (int64_t i = 0; i < width; ++i)
      mask.append({i, width + i});
    define(pair, [&](int64_t row, int64_t index) {
      return vector::ShuffleOp::create(builder, get(pair.getLhs(), row, index),
                                       get(pair.getRhs(), row, index), mask);
    });
  } else {
    return false;
  }
  return true;
}
