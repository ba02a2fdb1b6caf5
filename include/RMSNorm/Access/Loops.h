// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Loops.h - the loops of an op on tensors ---------------------------===//

#ifndef RMSNORM_ACCESS_LOOPS_H
#define RMSNORM_ACCESS_LOOPS_H

#include "RMSNorm/Access/Digits.h"

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Operation.h"

namespace mlir::rmsnorm::access {

/// The loops of an op on tensors, and how they index its operands and results.
/// Each result of a map is a loop or a constant, of a scatter's result also a
/// symbol: the element that it reads of that one of its indices.
struct LoopNest {
  /// A dimension of an operand that has the size of the loop.
  SmallVector<std::pair<Value, int64_t>> dims;
  SmallVector<bool> isReduction;
  /// The columns of a norm: each of its iterations needs all others of this
  /// loop, so that it never counts rows.
  std::optional<unsigned> normColumns;
  /// Tensors whose elements are read; a destination that is only overwritten is
  /// none.
  SmallVector<std::pair<OpOperand *, AffineMap>> reads;
  SmallVector<std::pair<OpResult, AffineMap>> writes;

  bool hasReduction() const { return llvm::is_contained(isReduction, true); }
};

/// Whether `op` asks for a cluster: a norm on tensors, or a linalg op marked
/// `rmsnorm.row_wise`.
bool asksForCluster(Operation *op);

/// What the columns of a linalg op are, whatever the order of its loops: the
/// last dimension of its first operand of the most dimensions; that, if it is
/// reduced and there are others, and those before it that are reduced, too, as
/// far as they are static; or nothing: each element is a row.
enum class Columns { last, reduced, none };

/// The loops of the rows of a cluster that begins with `op`, ascending: a norm
/// on tensors or a linalg op. None of another op.
std::optional<SmallVector<unsigned>>
getRowLoops(Operation *op, Columns columns = Columns::last);

/// The loops of a linalg op, of a norm or a scatter on tensors, or none: it is
/// another op, or one whose indices are more than loops and constants, or that
/// does not write each element of its results once.
std::optional<LoopNest> getLoopNest(Operation *op);

/// Whether `op` does nothing but copy a tensor to a tensor, the dimensions in
/// another order or not.
bool isCopy(Operation *op);

/// The scalar that `op` writes to all elements of its destination; null if it
/// is neither a linalg.fill nor a linalg.generic that does the same.
Value getFilled(Operation *op);

/// Where `map` indexes with these loops.
Layout getIndices(AffineMap map, ArrayRef<Sum> loops);

/// The loops with which `map`, of a result or of a copied operand, indexes an
/// element exactly at `layout`. None if not all loops follow from it.
std::optional<Layout> invert(const LoopNest &nest, AffineMap map,
                             const Layout &layout);

} // namespace mlir::rmsnorm::access

#endif // RMSNORM_ACCESS_LOOPS_H
