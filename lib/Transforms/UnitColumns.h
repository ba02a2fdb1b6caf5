// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- UnitColumns.h - one value a row with a dimension of size 1 --------===//

#ifndef RMSNORM_LIB_TRANSFORMS_UNITCOLUMNS_H
#define RMSNORM_LIB_TRANSFORMS_UNITCOLUMNS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::rmsnorm {

/// Drops the last dimension, of size 1, that exporters keep behind a reduction,
/// and what they reduce to besides and do not use (the place of a maximum):
/// one value a row has no columns. Where all columns of a row are one group,
/// drops the groups: a scale for each 128 columns of a head of 128.
void dropUnitColumns(Operation *root);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TRANSFORMS_UNITCOLUMNS_H
