// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowSizes.h - the sizes that the ops of a cluster share ------------===//

#ifndef RMSNORM_TRANSFORMS_ROWSIZES_H
#define RMSNORM_TRANSFORMS_ROWSIZES_H

#include "RowCluster.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {

/// Asks the destinations, not the results, for their sizes: results are about
/// to disappear, and a use of a size is no use of the value. What can be asked
/// in front of `loop`, if there is one, is asked there.
void redirectDims(ArrayRef<tensor::DimOp> dims, scf::ForallOp loop = {});

/// The leading sizes and the number of columns of a cluster, each in one form.
/// Sizes of its tensors are equal to them by what ops mean, which nobody sees
/// any more once there are buffers.
class RowSizes {
public:
  /// Takes the sizes from the first anchor, at the rewriter's position.
  RowSizes(RewriterBase &rewriter, const RowCluster &cluster);

  ArrayRef<OpFoldResult> getRows() const { return rows; }
  /// The product of the leading sizes, at the rewriter's position.
  OpFoldResult countRows(Location loc);

  /// Puts for each tensor that `op` has from outside of the cluster and whose
  /// sizes are not known to be these a slice of it with these sizes, all of it,
  /// at the rewriter's position. `op` has `rowDims` row dimensions: those of
  /// the cluster, or none.
  void share(Operation *op, int64_t rowDims);

  /// What `tensor` is a slice of if `share` made it, else null.
  Value getWhole(Value tensor) const { return wholes.lookup(tensor); }

  /// `tensor`, a result with the sizes of `slice`, which `share` made, as what
  /// replaces the tensor that `slice` is all of.
  Value insertIntoWhole(Value tensor, Value slice);

private:
  OpFoldResult getNumColumns(Location loc);

  RewriterBase &rewriter;
  const RowCluster &cluster;
  SmallVector<OpFoldResult> rows;
  /// Where N comes from, and N once somebody needs it.
  DimSource columns;
  OpFoldResult numColumns;
  llvm::DenseMap<Value, Value> slices, wholes;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_ROWSIZES_H
