// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SizeConstraints.h - what sizes of arguments must be ---------------===//

#ifndef RMSNORM_LIB_SOURCE_SIZECONSTRAINTS_H
#define RMSNORM_LIB_SOURCE_SIZECONSTRAINTS_H

#include "ShapeSymbols.h"

namespace mlir::rmsnorm {

/// Sets `rmsnorm.sizes` of a function whose arguments have `rmsnorm.dims`: the
/// conditions on sizes that index arithmetic, reshapes and slices imply, beyond
/// equal ones. A caller chooses the sizes of the first `numGiven` arguments;
/// those of the others, which are results, follow from them. An error says
/// which size is no index arithmetic of them.
LogicalResult setSizeConstraints(func::FuncOp function, ShapeSymbols &symbols,
                                 unsigned numGiven);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_SOURCE_SIZECONSTRAINTS_H
