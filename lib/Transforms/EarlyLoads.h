// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EarlyLoads.h - loads for later segments, in the first --------------===//

#ifndef RMSNORM_LIB_TRANSFORMS_EARLYLOADS_H
#define RMSNORM_LIB_TRANSFORMS_EARLYLOADS_H

#include "Traverses.h"

namespace mlir::rmsnorm {

/// Has what later segments of `program` need of other buffers than the row's
/// loaded before the reduction: per-row values ahead of all tiles, and, where
/// `schedule` says column_operands = awaited, per-column operands, and tiles
/// that rows share, before the row is used. If it says so and there are none,
/// nothing moves.
void loadEarly(RewriterBase &rewriter, Block &program, ScheduleAttr schedule,
               Segments &segments);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TRANSFORMS_EARLYLOADS_H
