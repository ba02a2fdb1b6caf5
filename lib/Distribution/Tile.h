// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Tile.h - what a thread does for one tile, but along the columns ---===//

#ifndef RMSNORM_LIB_DISTRIBUTION_TILE_H
#define RMSNORM_LIB_DISTRIBUTION_TILE_H

#include "Addresses.h"

namespace mlir::rmsnorm {

/// One tile of one emission of a region of rmsnorm.tiles: scalars, addresses,
/// per-row values. A branch that works on another tile has a Tile of its own.
class Tile {
public:
  /// `number` is the tile's, an index, null outside of rmsnorm.tiles; `slot`
  /// the one of the rings that holds it, an index, null if none does.
  Tile(Kernel &kernel, Value number, Value slot)
      : addresses(kernel, number), number(number), slot(slot), kernel(kernel) {}

  /// Emits the scalars of `block`, everything that is not a vector.
  void emitScalars(Block &block);
  /// Emits an op on per-row values.
  void emitRowOp(Operation *op);
  /// Emits where the rows are that `op`, a load or a store, accesses at indices
  /// of its own; nothing if it has none.
  template <typename OpTy> void emitIndexed(OpTy op, Value vector);
  /// Emits the load of a per-column operand that stays in registers: all of
  /// a thread's vectors.
  void emitHeldLoad(TileLoadOp load);
  /// Emits an elementwise op for one row and vector; `get` gives its operands.
  Value emitElementwise(Operation *op, function_ref<Value(Value)> get);

  /// `value`, a scalar of the region or of the body.
  Value getScalar(Value value) const;
  /// The fragment that a thread holds of `value` for row `row`. If it holds all
  /// vectors of a per-column value, that is vector `vector`.
  Value getFragment(Value value, int64_t row, int64_t vector) const;
  /// The fragment of a splat constant or the scalar that `value` is, null if it
  /// is neither.
  Value getUniform(Value value) const;

  /// How many of `count` elements of `store` to row `row` are written, i32;
  /// null: all. `valid` says how many of the columns exist.
  Value emitStoreValid(TileStoreOp store, int64_t row, Value valid,
                       int64_t count);

  Addresses addresses;
  Value number, slot;

private:
  void emitRowStore(TileStoreOp store);

  Kernel &kernel;
  IRMapping scalars;
};

/// One vector that a thread owns of a row: its first column, how many of its
/// elements exist (null: all), and its number among the thread's vectors (in a
/// loop over columns: among those of the trip), the first of which starts at
/// `first`.
struct VectorPosition {
  Value column, valid, first;
  int64_t index = 0;
};

/// The vector `index` after `firstColumn`. `partial`: its columns may not
/// exist; `columns` is their number where only a call knows it.
VectorPosition emitPosition(Kernel &kernel, Value firstColumn, int64_t index,
                            bool partial, Value columns);

/// How many columns there are from the first of vector `index` on, of a row of
/// several digits, of those that it `has`: no vector ends in the middle of one.
/// Null: all exist.
Value emitDigitsValid(Kernel &kernel, int64_t index,
                      function_ref<bool(size_t digit)> has);

/// Adds the rows of the thread's group that `op` accumulates to `sums`, one for
/// each of a thread's vectors. `get` gives vector `position` of an operand.
void emitAccumulate(Kernel &kernel, const Tile &tile, AccumulateOp op,
                    int64_t row, Value &sum, function_ref<Value(Value)> get);

/// The product that computes `value`, if it is summed with fused multiply-adds:
/// the sum is its only use, and padding contributes the same.
arith::MulFOp getFusedProduct(Value value);

/// Whether columns that do not exist are zero in `value`. Looks through values
/// that a traverse holds.
bool isZeroOnPadding(Value value);

/// `value` with the identity of `kind` in its columns from `valid` on. Their
/// contribution is replaced, not an operand of it: zero times infinity would be
/// NaN.
Value emitMasked(Kernel &kernel, Value value, ReduceKind kind, Value valid);

/// Bits, vector<1xi32>, that are known when all of `fragments` are loaded: of
/// each those of the first element.
Value emitAllLoaded(Kernel &kernel, ArrayRef<Value> fragments);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_TILE_H
