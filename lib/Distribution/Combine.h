// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Combine.h - what the threads of a row have summed becomes one -----===//

#ifndef RMSNORM_LIB_DISTRIBUTION_COMBINE_H
#define RMSNORM_LIB_DISTRIBUTION_COMBINE_H

#include "Kernel.h"

namespace mlir::rmsnorm {

/// Combines the values that threads hold of a reduction: in the thread, in the
/// subgroup, between the subgroups of a block through workgroup memory, between
/// the blocks of a cluster by an exchange. It owns the number that tells one
/// tile's combination from the next: an i32 that the loop over tiles carries.
class Combine {
public:
  /// Reserves workgroup memory for the exchange of a cluster.
  Combine(Kernel &kernel, TilesOp tiles);

  /// Begins to prepare the exchange of a cluster. At the kernel's entry.
  void emitInit();
  /// Completes that, ahead of the first publish of reductions in two halves,
  /// while the first copies are on their way.
  void emitReady();

  /// Whether the loop carries a number: 0, 1, 0, ... where consecutive tiles
  /// use two places of workgroup memory in turn, in clusters the tile's.
  bool needsNumber() const;
  Value emitNextNumber(Value number);
  /// A tile begins, with that number (null unless needsNumber()).
  void beginTile(Value number);

  /// The sums of `traverse` are the combination of `partials`, a vector for
  /// each sum and row, known to all threads of the row group.
  void emit(TraverseOp traverse, ArrayRef<Value> partials);

  /// The two halves: the first publishes this block's part under `number`; the
  /// second sets `sums` to the sums of what all blocks have published under it.
  void emitPublish(TraverseOp traverse, ArrayRef<Value> partials, Value number);
  void emitAwait(TraverseOp traverse, ValueRange sums, Value number);

private:
  SmallVector<Value> combineThreads(TraverseOp traverse,
                                    ArrayRef<Value> partials);
  SmallVector<Value> exchangeSubgroups(TraverseOp traverse,
                                       ArrayRef<Value> totals);
  SmallVector<Value> exchangeBlocks(TraverseOp traverse,
                                    ArrayRef<Value> totals);
  SmallVector<Value> await(TraverseOp traverse, Value number);
  Value combineSubgroups(ReduceKind kind, int64_t publishers,
                         function_ref<Value(Value)> load);
  void setSums(ValueRange sums, ArrayRef<Value> totals);

  Kernel &kernel;
  /// Reductions of a tile that are combined at once, and the most values that
  /// one has.
  int64_t numReductions = 0, numValues = 0;
  /// Null unless blocks of a cluster exchange values.
  ExchangeAttr exchange;
  /// The tile's number, and reductions of it done.
  Value tileNumber;
  int64_t numDone = 0;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_COMBINE_H
