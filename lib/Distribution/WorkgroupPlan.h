// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WorkgroupPlan.h - who has which bytes of workgroup memory ---------===//

#ifndef RMSNORM_LIB_DISTRIBUTION_WORKGROUPPLAN_H
#define RMSNORM_LIB_DISTRIBUTION_WORKGROUPPLAN_H

#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <cstdint>

namespace mlir::rmsnorm {

/// Hands out the bytes of a kernel's one dynamic buffer.
class WorkgroupPlan {
public:
  /// The offset of `bytes` bytes for the rest of the kernel.
  int64_t reserve(int64_t bytes, int64_t alignment = 4) {
    int64_t offset = llvm::alignTo(end, alignment);
    end = offset + bytes;
    most = std::max(most, end);
    return offset;
  }

  /// Memory from `offset` on is free again: no thread reads it any more.
  void release(int64_t offset) { end = offset; }

  int64_t getBytes() const { return most; }

private:
  int64_t end = 0, most = 0;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_WORKGROUPPLAN_H
