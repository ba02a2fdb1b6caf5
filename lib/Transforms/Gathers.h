// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Gathers.h - rows of tables at run-time indices --------------------===//

#ifndef RMSNORM_LIB_TRANSFORMS_GATHERS_H
#define RMSNORM_LIB_TRANSFORMS_GATHERS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {

/// What a `tensor.extract` in the body of a row-wise op reads of its tensor,
/// a table: of the row that an index says, the same for all columns, a column
/// for each of the op's, or one element. Other indices are constants.
struct Gather {
  tensor::ExtractOp extract;
  /// The dimension of the table that the index counts.
  int64_t dim = -1;
  /// The column of the table that the op's first one reads; none: one element.
  std::optional<int64_t> firstColumn;

  Value getIndex() { return extract.getIndices()[dim]; }
  /// Loads the rows `indices`, 1x1, of the columns, of which there are
  /// `dynamicColumns` where that is not null. The slice of the table that has
  /// nothing else is built by `outside`.
  Value createLoad(OpBuilder &builder, OpBuilder &outside, Value indices,
                   int64_t columns, Value dynamicColumns);

private:
  Value createTable(OpBuilder &builder, OpFoldResult columns);
};

/// Whether the body of `op` reads tensors beside its operands.
bool gathers(linalg::LinalgOp op);

/// The gather that `extract` is in the body of `op`, whose loops behind the
/// first `rowDims` are columns; none, and why, if it is none.
std::optional<Gather> matchGather(tensor::ExtractOp extract,
                                  linalg::LinalgOp op, int64_t rowDims,
                                  std::string &reason);

/// Whether `op`, of the body of a linalg op with `rowDims` loops of rows, does
/// nothing but count the columns of a table.
bool countsColumns(Operation &op, int64_t rowDims);

/// Why the body of `op` reads tensors or numbers of loops in other ways than by
/// gathers; empty if it does not.
std::string whyNoGathers(linalg::LinalgOp op, int64_t rowDims);

/// Makes slices of what is gathered in `root` gathers of nothing but that: by
/// some of the indices, of columns of the table.
void gatherSlices(RewriterBase &rewriter, Operation *root);

/// An argument of a function whose elements say, as they are or clamped, which
/// index of dimension `dim` of `table` is read.
struct IndexArgument {
  BlockArgument argument;
  Value table;
  int64_t dim;
};
SmallVector<IndexArgument> getIndexArguments(func::FuncOp function);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TRANSFORMS_GATHERS_H
