// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Groups.h - values of groups of columns -----------------------------===//

#ifndef RMSNORM_LIB_DISTRIBUTION_GROUPS_H
#define RMSNORM_LIB_DISTRIBUTION_GROUPS_H

#include "Tile.h"

namespace mlir::rmsnorm {

/// What the threads that share a group have of `fragment`, reduced.
Value emitGroupReduce(Kernel &kernel, GroupReduceOp op, Value fragment);

/// The value of each column's group.
Value emitGroupBroadcast(Kernel &kernel, GroupBroadcastOp op, Value fragment);

/// Where the groups of the vector at `position` are in a buffer of groups of
/// type `type`, and how many of them there are; null: all. Of a group that
/// threads share, one of them stores it (`isStore`).
VectorPosition emitGroupPosition(Kernel &kernel, VectorType type,
                                 const VectorPosition &position, bool isStore);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_GROUPS_H
