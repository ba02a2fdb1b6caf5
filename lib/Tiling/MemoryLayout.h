// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- MemoryLayout.h - how tensors will lie in memory --------------------===//

#ifndef RMSNORM_LIB_TILING_MEMORYLAYOUT_H
#define RMSNORM_LIB_TILING_MEMORYLAYOUT_H

#include "mlir/IR/Value.h"

namespace mlir::rmsnorm {

/// Whether `tensor` is, or is a part of, a buffer that memory ops know, too.
bool isBuffer(Value tensor);

/// Whether, as far as one can see, the last elements of `tensor`, `columns` in
/// a row, will lie side by side in memory.
bool lieTogether(Value tensor, int64_t columns);

/// Whether the last elements of `tensor`, `columns` in a row, are put where
/// they do not lie side by side: its buffer will be that place.
bool isInsertedApart(Value tensor, int64_t columns);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TILING_MEMORYLAYOUT_H
