// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Parts.h - parts of rows --------------------------------------------===//

#ifndef RMSNORM_IR_PARTS_H
#define RMSNORM_IR_PARTS_H

#include "RMSNorm/IR/RMSNorm.h"

#include "llvm/ADT/DenseSet.h"

namespace mlir::rmsnorm {

/// How many columns the parts have that the body of `rows` works on: it takes
/// them out of rows, or loads or stores them as tiles. Other vectors with fewer
/// columns than a row have a value for each group of columns.
llvm::SmallDenseSet<int64_t> getParts(RowsOp rows);

/// The columns at multiples of which `rows` takes rows apart; 0 if it does not.
int64_t getPartColumns(RowsOp rows);

/// Whether `rows` takes pairs of columns apart, or puts them together.
bool hasPairs(RowsOp rows);

/// Half of the columns that `op` takes apart as pairs, or puts together of
/// them; null if it does neither.
Value getHalfOfPairs(Operation *op);

} // namespace mlir::rmsnorm

#endif // RMSNORM_IR_PARTS_H
