// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AccessVerifier.h - what rmsnorm.rows does with its buffers --------===//

#ifndef RMSNORM_LIB_IR_ACCESSVERIFIER_H
#define RMSNORM_LIB_IR_ACCESSVERIFIER_H

#include "RMSNorm/IR/AccessMap.h"
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
  /// `buffer`, whose tiles `op` copies ahead.
  LogicalResult verifyCopied(TilesOp op, Value buffer);
  /// Of `sum`, a sum over rows: where `op` puts it and what it adds to it.
  template <typename OpTy>
  LogicalResult verifySum(OpTy op, Value dest, Value sum);

private:
  template <typename OpTy>
  LogicalResult verifyAccess(OpTy op, VectorType tile, bool writes,
                             bool isPlaced);
  /// Whether `buffer` has strides, of 1 where it has columns.
  LogicalResult verifyStrides(Operation *op, Value buffer, bool hasColumn);
  /// Whether the last dimension of `buffer` has `columns`.
  LogicalResult verifyColumns(Operation *op, Value buffer, int64_t columns);
  /// Whether `buffer` has the sizes of the rows where `access` leads
  /// to, for vectors of `columns`.
  LogicalResult verifyRows(Operation *op, Value buffer, const AccessMap &access,
                           int64_t columns, bool writes, bool isTile);

  RowsOp rows;
  /// How a buffer is accessed.
  DenseMap<Value, AccessMap> accesses;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_IR_ACCESSVERIFIER_H
