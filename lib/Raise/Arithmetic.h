// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Arithmetic.h - scalar ops as expressions --------------------------===//

#ifndef RMSNORM_LIB_RAISE_ARITHMETIC_H
#define RMSNORM_LIB_RAISE_ARITHMETIC_H

#include "Expr.h"

namespace mlir::rmsnorm::raising {

/// What `op`, which has one result, no regions and no effects, computes of
/// `operands`. Each op of a type narrower than f32 rounds.
Expr *readArithmetic(ExprPool &pool, Operation *op, ArrayRef<Expr *> operands);

} // namespace mlir::rmsnorm::raising

#endif // RMSNORM_LIB_RAISE_ARITHMETIC_H
