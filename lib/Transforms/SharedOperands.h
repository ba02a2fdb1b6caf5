// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SharedOperands.h - operands that several rows share ---------------===//

#ifndef RMSNORM_LIB_TRANSFORMS_SHAREDOPERANDS_H
#define RMSNORM_LIB_TRANSFORMS_SHAREDOPERANDS_H

#include "RowCluster.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {

/// Makes the operands that the linalg ops of `cluster` have for some of its row
/// dimensions only ([B, N] or [B, 1, N] beside rows of [B, T]) tensors of those
/// and the columns: dimensions of size 1 are dropped, and elementwise work on
/// such an operand (a scale + 1) becomes part of the op that uses it; not
/// a gather where the cluster is embedded.
void prepareSharedOperands(RewriterBase &rewriter, RowCluster &cluster,
                           bool embedded);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TRANSFORMS_SHAREDOPERANDS_H
