// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Traverses.h - a program cut into walks over its columns -----------===//

#ifndef RMSNORM_LIB_ROWS_TRAVERSES_H
#define RMSNORM_LIB_ROWS_TRAVERSES_H

#include "RMSNorm/Rows/RowsProgram.h"

namespace mlir::rmsnorm {

/// Which ops of a straight-line program belong together: those up to the first
/// row_reduce are segment 0, and so on. An op that is added to a segment comes
/// right after its beginning, in the order of addition.
class Segments {
public:
  void number(Block &program);
  bool contains(Operation *op) const { return numbers.contains(op); }
  int64_t get(Operation *op) const { return numbers.lookup(op); }
  void set(Operation *op, int64_t segment) { numbers[op] = segment; }
  /// The reduction that `segment` begins after.
  Operation *getCut(int64_t segment) const { return cuts[segment - 1]; }
  ArrayRef<Operation *> getCuts() const { return cuts; }
  void setInsertionPoint(OpBuilder &builder, int64_t segment) const;
  void append(Operation *op, int64_t segment);

private:
  DenseMap<Operation *, int64_t> numbers;
  SmallVector<Operation *> cuts;
  DenseMap<int64_t, Operation *> last;
};

/// Makes a traverse of the per-column work of each segment of `rows`. Values
/// that later segments use are held. Per-row work stays, ahead of its segment's
/// traverse.
LogicalResult cutTraverses(RewriterBase &rewriter, RowsOp rows,
                           ScheduleAttr schedule, const Segments &segments);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_ROWS_TRAVERSES_H
