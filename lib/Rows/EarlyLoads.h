// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EarlyLoads.h - loads for later segments, in the first --------------===//

#ifndef RMSNORM_LIB_ROWS_EARLYLOADS_H
#define RMSNORM_LIB_ROWS_EARLYLOADS_H

#include "Traverses.h"

namespace mlir::rmsnorm {

/// Moves loads that later segments of `program` need, from other buffers than
/// the row's, before the reduction. Per-row values go ahead of all tiles. If
/// `schedule` has column_operands = awaited, per-column operands and tiles that
/// rows share are loaded before the row is used; if there are none, nothing
/// moves.
void loadEarly(RewriterBase &rewriter, Block &program, ScheduleAttr schedule,
               Segments &segments);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_ROWS_EARLYLOADS_H
