// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Parts.h - rows that are taken apart and put together --------------===//

#ifndef RMSNORM_LIB_DISTRIBUTION_PARTS_H
#define RMSNORM_LIB_DISTRIBUTION_PARTS_H

#include "Kernel.h"

namespace mlir::rmsnorm {

/// The fragment of a value for a row and a vector of the chunk.
using GetFragment = function_ref<Value(Value, int64_t row, int64_t index)>;
/// Defines the fragments of a value; `emit` gives each.
using DefineFragments =
    function_ref<void(Value, function_ref<Value(int64_t row, int64_t index)>)>;

/// Emits `op` if it takes a part out of a row or puts one in. Parts of a row
/// are some of a thread's vectors, pairs of columns side by side are in one:
/// nothing moves from thread to thread. Returns whether `op` is one of those.
bool emitPart(Kernel &kernel, Operation *op, GetFragment get,
              DefineFragments define);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_PARTS_H
