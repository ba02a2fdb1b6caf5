// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Grid.h - how many blocks walk over the rows -----------------------===//

#ifndef RMSNORM_LIB_DISTRIBUTION_GRID_H
#define RMSNORM_LIB_DISTRIBUTION_GRID_H

#include "RMSNorm/IR/RMSNorm.h"

namespace mlir::rmsnorm {

/// The numbers of a launch of rmsnorm.rows, indices of the host.
struct Grid {
  /// The tiles of each segment, and their walkers side by side: blocks,
  /// clusters, or runs of rows that the blocks of `strips` share. `strips` is
  /// null where there are none.
  Value tiles, walkers, strips;
  /// Blocks, or clusters, in all.
  Value blocks;
};

/// Blocks a grid may have: CUDA allows 2^31 - 1, HIP 2^32 - 1 threads in all.
int64_t getMaxBlocks(int64_t blockThreads);

/// Computes the grid of `rows` at `host`. Multi-wave: one tile a block, up to
/// the largest grid that CUDA and HIP both launch. Persistent
/// (`blocks_per_sm`): that many blocks a multiprocessor; the runtime knows the
/// number of those.
Grid createGrid(OpBuilder &host, RowsOp rows, ScheduleAttr schedule,
                const ChipInfo &chip);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_GRID_H
