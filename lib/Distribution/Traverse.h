// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Traverse.h - one walk of a thread over its columns ----------------===//

#ifndef RMSNORM_LIB_DISTRIBUTION_TRAVERSE_H
#define RMSNORM_LIB_DISTRIBUTION_TRAVERSE_H

#include "Rings.h"
#include "Tile.h"

namespace mlir::rmsnorm {

/// Emits `traverse` for a tile, with `order` in the place of its own.
/// Afterwards its held values are the fragments of its results. Returns the
/// thread's part of each reduction, a vector for each of its rows.
SmallVector<Value> emitTraverse(Kernel &kernel, Tile &tile, const Rings &rings,
                                TraverseOp traverse, Order order);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_TRAVERSE_H
