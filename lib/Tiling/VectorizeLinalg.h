// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorizeLinalg.h - the tile program of a linalg op ---------------===//

#ifndef RMSNORM_LIB_TILING_VECTORIZELINALG_H
#define RMSNORM_LIB_TILING_VECTORIZELINALG_H

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::rmsnorm {

/// What an op on tensors is to one row: the vectors that stand for its tensors.
class RowValues {
public:
  virtual ~RowValues() = default;
  /// The digits of the columns of `operand` that the op uses for one row. An
  /// error is emitted where they have none.
  virtual FailureOr<SmallVector<int64_t>> getShape(OpOperand &operand) = 0;
  /// The vector for `operand`, loaded at the builder's position if need be. An
  /// error is emitted where there can be none.
  virtual FailureOr<Value> getVector(OpOperand &operand) = 0;
  /// Whether `operand` has the same columns for all rows: it is loaded where it
  /// is used first.
  virtual bool isPerColumn(OpOperand &operand) = 0;
  virtual void setVector(OpResult result, Value vector) = 0;
  /// Whether `op` sums over rows: its result is the summand of this row.
  virtual bool sumsRows(linalg::LinalgOp op) = 0;
  /// Whether `op` has one value of a row, not its columns: nothing to reduce.
  virtual bool isOfOneValue(linalg::LinalgOp op) = 0;
  /// Whether `payload`, in the body of a linalg op, only says where `gather`
  /// reads.
  virtual bool isIndexing(Operation &payload) = 0;
  /// What `extract`, in the body of a linalg op, reads for a row. `getIndex`
  /// gives the vector of an index.
  virtual FailureOr<Value>
  gather(tensor::ExtractOp extract,
         function_ref<FailureOr<Value>(Value)> getIndex) = 0;
};

/// Emits the tile program of `op`, which has one (`whyNoKernel`) and works on
/// one row, at the builder's position, and sets the vectors of its results.
LogicalResult vectorizeLinalg(OpBuilder &builder, linalg::LinalgOp op,
                              RowValues &values);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TILING_VECTORIZELINALG_H
