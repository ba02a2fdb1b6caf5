// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ColumnOps.h - values of some digits of the columns ----------------===//

#ifndef RMSNORM_LIB_DISTRIBUTION_COLUMNOPS_H
#define RMSNORM_LIB_DISTRIBUTION_COLUMNOPS_H

#include "Tile.h"

namespace mlir::rmsnorm {

/// The fragment of a value for a row and a vector of the chunk.
using GetFragment = function_ref<Value(Value, int64_t row, int64_t index)>;
/// Defines the fragments of a value; `emit` gives each.
using DefineFragments =
    function_ref<void(Value, function_ref<Value(int64_t row, int64_t index)>)>;

/// Emits `op` if it takes columns out of a row, puts some in, or repeats values
/// that several columns share. All are vectors of one thread, or elements of
/// one: nothing moves from thread to thread. Returns whether `op` is one of
/// those.
bool emitColumnOp(Kernel &kernel, Operation *op, GetFragment get,
                  DefineFragments define);

/// The reduction of groups of columns, of which a thread has some, over the
/// threads that share each. `positions` are those of the row's vectors.
void emitGroupReduce(Kernel &kernel, GroupReduceOp op,
                     ArrayRef<VectorPosition> positions, GetFragment get,
                     DefineFragments define);

/// The number of the row's vector that fragment `index` of a value of type
/// `type` begins in.
int64_t getRowVector(const Kernel &kernel, Type type, int64_t index);

/// Fragment `index` of what `load` reads, of the row at `offset`; `position` is
/// that of the row's vector.
Value emitVectorLoad(Kernel &kernel, TileLoadOp load, Value offset,
                     const VectorPosition &position, int64_t index);

/// Stores `value`, fragment `index` of row `row`. Of what several threads have
/// one stores it.
void emitVectorStore(Kernel &kernel, Tile &tile, TileStoreOp store, Value value,
                     int64_t row, const VectorPosition &position,
                     int64_t index);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_COLUMNOPS_H
