// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Emit.h - expressions as ops ---------------------------------------===//

#ifndef RMSNORM_LIB_RAISE_EMIT_H
#define RMSNORM_LIB_RAISE_EMIT_H

#include "Tensors.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::rmsnorm::raising {

/// True if `expr` can be computed by one elementwise op: it has no sums in it,
/// no scalars of other bodies, and nothing that is gone.
bool canEmit(Expr *expr, const Tensors &tensors);

/// `value` as a `type`; only floats are converted.
Value convert(ImplicitLocOpBuilder &builder, Value value, Type type);

/// Computes `expr`, which can be, as a tensor of `type` whose element at
/// `indices` it is: each is a loop of `host`, or 0 for a dimension of size 1.
/// It stands as far up in the block of `host` as it can.
Value emit(linalg::LinalgOp host, Expr *expr, ArrayRef<AffineExpr> indices,
           Type type);

/// `tensor` with dimensions of size 1 added and taken out so that it is a
/// `type`.
Value reshape(ImplicitLocOpBuilder &builder, Value tensor,
              RankedTensorType type);

/// Where ops may stand that use `operands`, those that are there, and that
/// `host` uses: in its block, as far up as they can.
void setInsertionPoint(OpBuilder &builder, Operation *host,
                       ArrayRef<Value> operands);

} // namespace mlir::rmsnorm::raising

#endif // RMSNORM_LIB_RAISE_EMIT_H
