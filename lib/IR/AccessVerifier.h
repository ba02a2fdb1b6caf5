// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AccessVerifier.h - what rmsnorm.rows does with its buffers --------===//

#ifndef RMSNORM_LIB_IR_ACCESSVERIFIER_H
#define RMSNORM_LIB_IR_ACCESSVERIFIER_H

#include "RMSNorm/IR/RMSNorm.h"

namespace mlir::rmsnorm {

/// The region of rmsnorm.tiles that `op` stands in, or null.
Region *getTilesRegion(Operation *op);

/// Checks constraint (C6) of rmsnorm.rows, and of (C12) what concerns sums.
class AccessVerifier {
public:
  explicit AccessVerifier(RowsOp rows) : rows(rows) {}

  /// `isPlaced`: the program has traverses.
  LogicalResult verify(TileLoadOp load, bool isPlaced);
  LogicalResult verify(TileStoreOp store, bool isPlaced);
  /// Whether `buffer`, which `op` accesses, has the sizes of the rows, or those
  /// of their leading sizes that `dims` names, and their columns, or the `part`
  /// of them that there are.
  LogicalResult verifyShape(Operation *op, Value buffer, TileKind kind,
                            std::optional<ArrayRef<int64_t>> dims = {},
                            std::optional<int64_t> part = {});
  /// Of `sum`, a sum over rows: where `op` puts it and what it adds to it.
  template <typename OpTy>
  LogicalResult verifySum(OpTy op, Value dest, Value sum);

private:
  template <typename OpTy>
  LogicalResult verifyAccess(OpTy op, VectorType tile, bool writes,
                             bool isPlaced);
  LogicalResult verifyRowDims(TileStoreOp op);

  RowsOp rows;
  /// How a buffer is accessed: by rows or not, and which dims it has.
  DenseMap<Value, std::pair<bool, Attribute>> accesses;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_IR_ACCESSVERIFIER_H
