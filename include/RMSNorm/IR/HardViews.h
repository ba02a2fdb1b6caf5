// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ExpandShapes.h - dimensions with several unknown parts ------------===//

#ifndef RMSNORM_IR_EXPANDSHAPES_H
#define RMSNORM_IR_EXPANDSHAPES_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::rmsnorm {

/// Makes memref.reinterpret_cast of each memref.expand_shape in `function` that
/// divides a dimension into several of unknown size. MLIR's own pattern knows
/// one of them at most and crashes (ExpandStridedMetadata.cpp,
/// getExpandedStrides). Needs the affine dialect.
void expandSeveralSizes(FunctionOpInterface function);

} // namespace mlir::rmsnorm

#endif // RMSNORM_IR_EXPANDSHAPES_H
