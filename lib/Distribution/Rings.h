// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rings.h - tiles in workgroup memory -------------------------------===//

#ifndef RMSNORM_LIB_DISTRIBUTION_RINGS_H
#define RMSNORM_LIB_DISTRIBUTION_RINGS_H

#include "Tile.h"

namespace mlir::rmsnorm {

/// The rings of a block: for each buffer that is copied ahead as many slots as
/// there are stages. A slot holds, for each vector a thread owns, the vectors
/// of all threads of the block side by side: a thread reads its own copies, at
/// its own number.
class Rings {
public:
  /// Reserves workgroup memory for the copies of `tiles`.
  Rings(Kernel &kernel, TilesOp tiles);

  /// Emits the addresses of the tile's rows in the buffers that are copied.
  void emitAddresses(Addresses &addresses) const;
  /// Begins the copies of `tile` into slot `slot`, an index.
  void emitCopies(Tile &tile, Value slot) const;
  /// Emits `count` vectors of `load`, from the thread's vector `begin` on, of
  /// the tile in slot `slot`.
  void emitLoad(SlotLoadOp load, Value slot, int64_t begin,
                int64_t count) const;
  /// After the loop, when no thread reads a tile any more: the bytes of the
  /// rings are free for the sums that meet in workgroup memory at the end.
  void release();

  /// (slot + distance) mod stages.
  Value emitSlot(Value slot, int64_t distance) const;

private:
  /// The offset of a thread's first vector in slot `slot` of ring `ring`.
  Value emitOffset(int64_t ring, Value slot) const;
  int64_t getElementBytes(int64_t ring) const;

  Kernel &kernel;
  TilesOp tiles;
  SmallVector<int64_t> offsets;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_RINGS_H
