// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowsProgram.h - what the passes on rmsnorm.rows share -------------===//

#ifndef RMSNORM_ROWS_ROWSPROGRAM_H
#define RMSNORM_ROWS_ROWSPROGRAM_H

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/IR/TileTypes.h"
#include "RMSNorm/Schedule/ProgramFacts.h"

namespace mlir::rmsnorm {

/// The rmsnorm.rows of `root`.
SmallVector<RowsOp> getRows(Operation *root);

/// Whether the last elements of a buffer of `type`, `columns` in a row, are not
/// known to lie side by side.
bool liesApart(MemRefType type, int64_t columns);

/// Refuses `rows` if rmsnorm-place-tiles has seen it: what a pass that works on
/// straight-line programs wants.
LogicalResult verifyNotPlaced(RowsOp rows);

/// What the schedule of `rows` depends on, of a straight-line program.
ProgramFacts getProgramFacts(RowsOp rows);

/// The op of a straight-line program that divides columns into the largest
/// groups; null if none does.
Operation *findLargestGroups(RowsOp rows);

/// Why some chip cannot hold the groups of columns of `rows`, or all of its
/// program, to follow "it "; empty if all can.
std::string whyNoGroups(RowsOp rows);
std::string whyNotOnAllChips(RowsOp rows);

/// The sums over rows (rmsnorm.accumulate) of a straight-line program that have
/// a value for each column, not one of a row that has more.
SmallVector<AccumulateOp> getColumnSums(Block &program);

/// Whether nothing is done column by column after `op`: what it reduces only
/// leaves the program.
bool isLastReduction(RowReduceOp op);
/// Moves reductions of which that can be true to the end, with what uses them.
void sinkLastReductions(Block &program);

/// The last reduction of `program` that `load` does not need, null if there is
/// none. Threads of a row that have loaded a value of the row ahead of it may
/// write that value's buffer after it.
RowReduceOp getReductionAfter(TileLoadOp load);

/// Whether `op` computes of each column what takes many instructions: exp and
/// the like, a division.
bool isFunction(Operation *op);

/// What the sums over rows of a straight-line program (getColumnSums) are
/// computed from: what stays if they are split off.
struct SumsSlice {
  /// The ops, short of `saved`.
  DenseSet<Operation *> needed;
  /// Per-row values that a reduction leads to.
  SetVector<Value> saved;
};
SumsSlice getSumsSlice(Block &program);

/// Whether `rows` stores to a buffer that its sums, `slice`, are loaded from.
bool overwritesWhatSumsRead(RowsOp rows, const SumsSlice &slice);

/// Rows of `rows`, a straight-line program, have no segments if no sum over
/// them keeps any.
void dropSegments(RowsOp rows);

/// Moves the sums over rows of `rows`, a straight-line program, that keep the
/// leading sizes `dims` to an op of their own, which computes again what they
/// need: in front of `rows` if that overwrites what they are loaded from, or
/// else after it. Fails, with a message, if neither is right.
FailureOr<RowsOp> moveSums(RewriterBase &rewriter, RowsOp rows,
                           ArrayRef<int64_t> dims);

/// Says of `rows`, whose N only a call knows, that it has at most `columns`.
void setColumns(RowsOp rows, int64_t columns);

/// A rmsnorm.rows that does `kinds` with `buffers`. The body of its
/// rmsnorm.tiles is an empty block with the tile's number.
RowsOp createRows(OpBuilder &builder, Location loc, TypeRange results,
                  ArrayRef<OpFoldResult> sizes, Value dynamicColumns,
                  ArrayRef<int64_t> digits, ValueRange buffers,
                  ArrayRef<AccessKind> kinds, ScheduleAttr schedule = {},
                  ArrayRef<int64_t> segments = {});

/// Adds a buffer to the operands of `rows`, the `index`-th then; returns what
/// its body calls it.
Value addBuffer(RewriterBase &rewriter, RowsOp rows, Value buffer,
                AccessKind kind, unsigned index);

/// Drops buffers and scalars that the body does not use, and says anew what it
/// does with the others.
void pruneOperands(RewriterBase &rewriter, RowsOp rows);

/// Erases what nobody uses in a program, single results of row_reduce and what
/// only they need included.
void eraseDeadOps(RewriterBase &rewriter, Block &program);

/// Says where a tile_load or tile_store accesses its base. The plain map of its
/// kind is not written.
template <typename OpTy> void setAccess(OpTy op, AffineMap map) {
  op.removeMapAttr();
  if (op.getAccess().getMap() != map)
    op.setMap(map);
}

} // namespace mlir::rmsnorm

#endif // RMSNORM_ROWS_ROWSPROGRAM_H
