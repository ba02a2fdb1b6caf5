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

/// Whether dimensions of what is computed, but the last ones, are one of
/// `tensor`: it must lie packed.
bool mergesRows(Value tensor);

/// Whether anything but the size of `tensor` is read.
bool isRead(Value tensor);

/// `tensor`, of the shape of the result of `reshape`, in the shape of `source`,
/// that of its operand.
Value undoReshape(OpBuilder &builder, Operation *reshape, Value tensor,
                  Value source);

/// Parts of rows become columns of them: what is inserted into [.., K, N] at
/// [.., k, 0] or [.., 0, n], halves or pairs as exporters stack them, goes into
/// [.., K * N], which is expanded in the end; what is taken there out of an
/// expanded tensor is taken out of that.
void flattenParts(func::FuncOp function);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_SOURCE_RESHAPES_H
