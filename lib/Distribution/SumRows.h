// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SumRows.h - the second half of a sum over rows --------------------===//

#ifndef RMSNORM_LIB_DISTRIBUTION_SUMROWS_H
#define RMSNORM_LIB_DISTRIBUTION_SUMROWS_H

#include "RMSNorm/IR/RMSNorm.h"

namespace mlir::rmsnorm {

/// Makes the kernel of `op` and its launch in the place of `op`.
LogicalResult distributeSumRows(SumRowsOp op, SymbolTable &symbols);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_SUMROWS_H
