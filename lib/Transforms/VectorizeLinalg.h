// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorizeLinalg.h - the tile program of a linalg op ---------------===//

#ifndef RMSNORM_TRANSFORMS_VECTORIZELINALG_H
#define RMSNORM_TRANSFORMS_VECTORIZELINALG_H

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::rmsnorm {

/// The vectors that stand for the tensors of one row.
class RowValues {
public:
  virtual ~RowValues() = default;
  /// The leading dimensions that are rows.
  virtual int64_t getRowDims() const = 0;
  /// The vector for `tensor`, loaded at the builder's position if need be. An
  /// error is emitted where there can be none. `kind` says what it is where the
  /// rank does not tell: one value a column if rows have rank 1, too, a tile or
  /// a value for some of the leading dimensions.
  virtual FailureOr<Value> getVector(Value tensor,
                                     std::optional<TileKind> kind = {}) = 0;
  virtual void setVector(Value tensor, Value vector) = 0;
  /// Whether the vector for `tensor` is there already, or computed here.
  virtual bool hasVector(Value tensor) = 0;
  /// The number of columns of `tensor` if that is a run-time value, else null.
  virtual Value getColumns(Value tensor) = 0;
};

/// The elements that a tensor of `type` has in one row: its columns, or groups
/// of columns with those in a group, as one number; of what has neither, 1.
/// ShapedType::kDynamic if types do not tell.
int64_t getRowElements(Type type, int64_t rowDims);

/// Whether `op`, on one row of a loop with `rowDims` row dimensions, sums over
/// rows: its result is the summand of this row.
bool sumsRows(linalg::LinalgOp op, int64_t rowDims);

/// Emits the tile program of `op`, which works on one row, at the builder's
/// position, and sets the vectors of its results.
LogicalResult vectorizeLinalg(OpBuilder &builder, linalg::LinalgOp op,
                              RowValues &values);

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_VECTORIZELINALG_H
