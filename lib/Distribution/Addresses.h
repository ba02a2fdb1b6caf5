// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Addresses.h - where the rows of a tile are ------------------------===//

#ifndef RMSNORM_LIB_DISTRIBUTION_ADDRESSES_H
#define RMSNORM_LIB_DISTRIBUTION_ADDRESSES_H

#include "Kernel.h"

#include "RMSNorm/IR/AccessMap.h"

namespace mlir::rmsnorm {

/// The rows of one tile, as one thread's row group sees them. Values belong to
/// the block they are emitted in: a branch has addresses of its own.
class Addresses {
public:
  /// `tile` is the tile's number, an index; null where there is none, as only
  /// per-column operands are accessed.
  Addresses(Kernel &kernel, Value tile) : kernel(kernel), tile(tile) {}

  /// Emits the first row and how many there are. In front of all else.
  void emitTile();
  /// Emits the offsets that the accesses of `block` need, before all else and
  /// ahead of any loop over columns, in the order of the buffers of
  /// rmsnorm.rows.
  void emit(Block &block);
  /// Emits where the rows of `buffer` begin, which `access` leads to.
  void emitAccess(Value buffer, const AccessMap &access);

  /// Emits where the rows begin that `op`, a load or a store, accesses at
  /// indices of its own; `getIndex` gives one for each of the thread's rows.
  template <typename OpTy>
  void emitIndexed(OpTy op, VectorType vector,
                   function_ref<Value(Value indices, int64_t u)> getIndex);

  /// The element where row `u` of the thread's row group begins, i64.
  Value getOffset(Value buffer, int64_t u) const {
    return offsets.find(buffer.getAsOpaquePointer())->second[u];
  }
  template <typename OpTy> Value getOffset(OpTy op, int64_t u) const {
    return offsets.find(getKey(op))->second[u];
  }
  /// Whether that row exists, i1; null: it does for certain.
  Value getLive(int64_t u) const { return live.empty() ? Value() : live[u]; }
  /// The number of columns, i32, if only a call knows it, else null.
  Value getColumns() const { return columns; }

private:
  void emitLive();
  Value emitRow(int64_t u);
  Value emitOffset(Value buffer, const AccessMap &access, int64_t u,
                   Value elements);
  void emitColumns(const AccessMap &access);
  template <typename OpTy> static const void *getKey(OpTy op) {
    return op.getIndices().empty() ? op.getBase().getAsOpaquePointer()
                                   : op.getOperation();
  }

  Kernel &kernel;
  Value tile, firstRow, liveRows, columns;
  SmallVector<Value> live;
  /// By buffer; of what has indices of its own by op.
  DenseMap<const void *, SmallVector<Value>> offsets;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_ADDRESSES_H
