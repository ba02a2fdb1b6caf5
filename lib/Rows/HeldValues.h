// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HeldValues.h - what stays in registers between traversals ---------===//

#ifndef RMSNORM_LIB_ROWS_HELDVALUES_H
#define RMSNORM_LIB_ROWS_HELDVALUES_H

#include "Traverses.h"

namespace mlir::rmsnorm {

/// Of the values that later segments of a program need, those that are held,
/// and those that are computed again of narrower tiles that are.
class HeldValues {
public:
  explicit HeldValues(const Segments &segments) : segments(segments) {}

  /// Looks at `program` before anything is placed.
  void find(Block &program);

  /// Whether `value` is computed again for `segment`: of the extension of one
  /// narrower tile, per-row values and narrower per-column operands. That costs
  /// no register, as the tile is there anyway.
  bool isComputedAgain(Value value, int64_t segment) const;

private:
  bool comesFromNarrow(Value value, int64_t segment,
                       llvm::SmallDenseSet<Value> &sources) const;
  bool isUsedBehind(Value value) const;
  bool isNeededBeside(Value source, Value held) const;

  const Segments &segments;
  llvm::SmallDenseSet<Value> whole;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_ROWS_HELDVALUES_H
