// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndexArguments.h - arguments that index tables ---------------------===//

#ifndef RMSNORM_LIB_SOURCE_INDEXARGUMENTS_H
#define RMSNORM_LIB_SOURCE_INDEXARGUMENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::rmsnorm {

/// An argument of a function whose elements say, as they are, clamped or
/// divided, which index of dimension `dim` of `table` is read or written.
struct IndexArgument {
  BlockArgument argument;
  Value table;
  int64_t dim;
  /// Whether no two elements may be the same: rows are stored there.
  bool isDistinct;
};
SmallVector<IndexArgument> getIndexArguments(func::FuncOp function);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_SOURCE_INDEXARGUMENTS_H
