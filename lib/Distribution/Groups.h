// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Groups.h - values of groups of columns -----------------------------===//

#ifndef RMSNORM_LIB_DISTRIBUTION_GROUPS_H
#define RMSNORM_LIB_DISTRIBUTION_GROUPS_H

#include "Tile.h"

namespace mlir::rmsnorm {

/// The reduction of `fragment` over the threads that share a group.
Value emitGroupReduce(Kernel &kernel, GroupReduceOp op, Value fragment);

/// The value of each column's group.
Value emitGroupBroadcast(Kernel &kernel, GroupBroadcastOp op, Value fragment);

/// The values that `load` reads for the groups of the vector at `position`, of
/// the row at `offset`.
Value emitGroupLoad(Kernel &kernel, TileLoadOp load, Value offset,
                    const VectorPosition &position);

/// Stores `value`, that of the groups of the vector at `position` of `row`. Of
/// a group that threads share, one of them stores it.
void emitGroupStore(Kernel &kernel, Tile &tile, TileStoreOp store, Value value,
                    int64_t row, const VectorPosition &position);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_GROUPS_H
