// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reshapes.h - reshapes of arguments and results --------------------===//

#ifndef RMSNORM_LIB_SOURCE_RESHAPES_H
#define RMSNORM_LIB_SOURCE_RESHAPES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::rmsnorm {

/// Whether `op`, which may be null, is a tensor.collapse_shape or expand_shape.
bool isReshape(Operation *op);

/// Whether dimensions of `argument` are used as one, or its rows are taken for
/// columns in groups, or the other way round: it must lie packed.
bool isReshaped(BlockArgument argument);

/// Whether the result `tensor` must lie packed: dimensions of what is computed,
/// but the last ones, are one of it; or parts of a row have a dimension, where
/// all of it is computed (`isWhole`).
bool mustBePacked(Value tensor, bool isWhole);

/// Whether anything but the size of `tensor` is read.
bool isRead(Value tensor);

/// `tensor`, of the shape of the result of `reshape`, in the shape of `source`,
/// that of its operand.
Value undoReshape(OpBuilder &builder, Operation *reshape, Value tensor,
                  Value source);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_SOURCE_RESHAPES_H
