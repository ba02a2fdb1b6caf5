// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileParts.h - parts of rows in a loop over rows -------------------===//

#ifndef RMSNORM_LIB_TRANSFORMS_TILEPARTS_H
#define RMSNORM_LIB_TRANSFORMS_TILEPARTS_H

#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {

/// What `op`, a slice that takes columns out of rows or puts them in, is for
/// one row: `source` in place of its source and `row` of its destination.
Value tilePart(RewriterBase &rewriter, Operation *op, Value source, Value row);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TRANSFORMS_TILEPARTS_H
