// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowTiler.h - the loop over rows of a cluster ---------------------===//

#ifndef RMSNORM_TRANSFORMS_ROWTILER_H
#define RMSNORM_TRANSFORMS_ROWTILER_H

#include "RowSizes.h"
#include "RowSums.h"
#include "StoredLayouts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/TilingInterface.h"

namespace mlir::rmsnorm {

/// Makes one scf.forall of a cluster.
class RowTiler {
public:
  RowTiler(RewriterBase &rewriter, RowCluster &cluster, bool embedded)
      : rewriter(rewriter), cluster(cluster), embedded(embedded),
        ops(cluster.getOpsInOrder()), followers(cluster.getFollowers()),
        sizes(atEnd(), cluster) {}

  FailureOr<scf::ForallOp> run();

private:
  struct Output {
    OpResult result;
    Value destination;
    /// Of a sum over rows: what becomes of it.
    RowSum sum;
    /// Where groups are stored, if not as the result has them.
    std::optional<StoredLayout> layout = std::nullopt;
  };

  /// The rewriter at the place that the loop will take.
  RewriterBase &atEnd() {
    rewriter.setInsertionPoint(ops.back());
    return rewriter;
  }
  void collectOutputs();
  bool collectLayouts(OpResult result);
  void createLoop();
  LogicalResult tile(TilingInterface op);
  Value getRow(Value rows);
  void tileReshape(Operation *op);
  void tileSlice(Operation *op);
  Value getWrittenRows(Value destination, ArrayRef<int64_t> dims);
  Value getTiledOperand(OpOperand &operand, Value tiled);
  Value getBlockArgument(Value destination, OpResult result = {});
  void repeat(Operation *op);
  OpFoldResult getColumns(Operation *op, int64_t loopNumber);
  void sumUp(const Output &output, Value row, BlockArgument argument);
  void createTerminator();

  RewriterBase &rewriter;
  RowCluster &cluster;
  /// Whether nobody says which sizes of arguments are equal.
  const bool embedded;
  SmallVector<Operation *> ops;
  SmallVector<Operation *> followers;
  RowSizes sizes;
  SmallVector<Output, 4> outputs;
  scf::ForallOp loop;
  /// Row index per leading dimension.
  SmallVector<OpFoldResult> indices;
  /// The value of one iteration for each value of the cluster.
  IRMapping values;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_ROWTILER_H
