// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BlockSums.h - what a block has summed over its rows ---------------===//

#ifndef RMSNORM_LIB_DISTRIBUTION_BLOCKSUMS_H
#define RMSNORM_LIB_DISTRIBUTION_BLOCKSUMS_H

#include "Rings.h"

namespace mlir::rmsnorm {

/// Stores `sums`, the sums of a block's row groups, as row `block`, an index,
/// of `partials`, buffers of the host.
void emitBlockSums(Kernel &kernel, Rings &rings, ValueRange sums,
                   ValueRange partials, Value block);

/// Stores the sums of a block that has done all rows of its columns.
void emitSumStores(Kernel &kernel, Rings &rings, ArrayRef<SumStoreOp> stores);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_BLOCKSUMS_H
