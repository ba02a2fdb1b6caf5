// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileLoop.h - the tiles of a block, one after another --------------===//

#ifndef RMSNORM_LIB_DISTRIBUTION_TILELOOP_H
#define RMSNORM_LIB_DISTRIBUTION_TILELOOP_H

#include "Combine.h"
#include "Rings.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::rmsnorm {

/// Emits rmsnorm.tiles: the loop, the copies ahead of it and of each iteration
/// with the per-row values beside them, the reductions that begin in one
/// iteration and end in the next.
class TileLoop {
public:
  /// Tiles `first`, `first` + `step`, ... below `count`, indices, the last one
  /// of the host. `waits`: each waits for the kernels before this one, where no
  /// tile is touched ahead of its turn.
  TileLoop(Kernel &kernel, TilesOp tiles, Combine &combine, Rings &rings,
           Value first, Value count, Value step, bool waits)
      : kernel(kernel), tiles(tiles), combine(combine), rings(rings),
        builder(kernel.builder), first(first), hostCount(count), step(step),
        waits(waits) {}

  /// Emits the scalars of the ops in front of the loop.
  void emitScalars();
  /// Emits the first copies, with a split the first publish, then the loop.
  /// Afterwards a thread holds the fragments of the op's results.
  void emit();

private:
  /// A tile that is worked on ahead of its turn: its number, whether there is
  /// one (i1), the slot and the number of its publish.
  struct Ahead {
    Value tile, exists, slot, publish;
  };
  Ahead emitAhead(Value tile, Value slot, Value publish);
  Value emitTile(Value tile, int64_t distance);
  void emitCopies(const Ahead &ahead);
  void emitBegin(const Ahead &ahead, bool isFirst);
  void emitPrologue();
  void collectRowLoads();
  SmallVector<Value> emitRowLoads(Value number);
  scf::ForOp createLoop();
  void setCarried(ValueRange sums, ValueRange carried);
  void emitBody(scf::ForOp loop);
  void emitOp(Operation *op, Tile &tile);
  Value getCount() { return kernel.getHostScalar(hostCount); }
  bool isAhead() { return tiles.getStages() > 1; }

  Kernel &kernel;
  TilesOp tiles;
  Combine &combine;
  Rings &rings;
  ImplicitLocOpBuilder &builder;
  Value first, hostCount, step;
  bool waits;
  /// The ops in front of the loop.
  SmallVector<Ahead> prologue;
  Ahead firstBegin;
  /// Loads of per-row values that begin one tile ahead.
  SmallVector<TileLoadOp> rowLoads;
  /// Of an iteration: the tile whose copies begin, the one whose reductions do,
  /// the number of this one's publish.
  Ahead refill, next;
  Value publish;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_TILELOOP_H
