// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileProgram.h - what the memref half asks of a tile program -------===//
//
// After bufferization a tile program is the straight-line body of an
// scf.forall over rows, later of the scf.for a block walks its tiles with.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_LIB_TRANSFORMS_TILEPROGRAM_H
#define RMSNORM_LIB_TRANSFORMS_TILEPROGRAM_H

#include "RMSNorm/Schedule/ProgramFacts.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::rmsnorm {

/// Whether threads of a row hold different parts of `type`: RxN, 1xN, N > 1.
inline bool isPerColumn(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() == 2 && vector.getDimSize(1) != 1;
}

/// The foralls of `root` whose body is a tile program.
SmallVector<scf::ForallOp> getRowLoops(Operation *root);

/// The schedule of `forall`; emits an error naming the pass that sets it if
/// there is none.
FailureOr<ScheduleAttr> getSchedule(scf::ForallOp forall);

/// The target of the module; emits an error naming the pass that sets it.
FailureOr<TargetAttr> getTarget(Operation *op);

/// The block that holds the tile program: the body of the forall, or of the
/// loop over the block's tiles in it.
Block *getProgramBlock(scf::ForallOp forall);

/// The strips of `schedule` (column_sums = strips) in a row of `columns`
/// columns, or of `dynamicColumns` if that is not null: index.
Value createStripCount(OpBuilder &builder, Location loc, ScheduleAttr schedule,
                       int64_t columns, Value dynamicColumns);

/// Collects the facts of `forall`'s program; emits an error if its tiles
/// disagree on the number of columns.
FailureOr<ProgramFacts> getProgramFacts(scf::ForallOp forall);

/// Erases what nobody uses in a tile program, single results of row_reduce and
/// what only they need included.
void eraseDeadOps(RewriterBase &rewriter, Block &program);

/// The buffer that `buffer` is a view of.
Value getRootBuffer(Value buffer);

/// The number of columns, an index, where it is known only at a call, else
/// null.
Value getDynamicColumns(Block &program);

/// Whether `buffer` is an argument that the user declared rmsnorm.constant.
bool isConstantArgument(Value buffer);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TRANSFORMS_TILEPROGRAM_H
