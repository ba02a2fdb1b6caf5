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

  /// Emits where the rows that `load` gathers begin; `getIndex` gives the index
  /// for each of the thread's rows.
  void emitGather(TileLoadOp load, function_ref<Value(int64_t u)> getIndex);

  /// The element where row `u` of the thread's row group begins, i64.
  Value getOffset(Value buffer, int64_t u) const {
    return offsets.find(buffer)->second[u];
  }
  Value getOffset(TileLoadOp load, int64_t u) const {
    return getOffset(load.getIndex() ? load.getResult() : load.getBase(), u);
  }
  /// Whether that row exists, i1; null: it does for certain.
  Value getLive(int64_t u) const { return live.empty() ? Value() : live[u]; }
  /// The number of columns, i32, if only a call knows it, else null.
  Value getColumns() const { return columns; }

private:
  void emitLive();
  Value emitRow(int64_t u);
  Value emitOffsets(Value buffer, const AccessMap &access, Value elements);

  Kernel &kernel;
  Value tile, firstRow, liveRows, columns;
  SmallVector<Value> live;
  /// By buffer; for gathers by the load's result.
  DenseMap<Value, SmallVector<Value>> offsets;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_ADDRESSES_H
