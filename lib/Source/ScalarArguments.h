// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarArguments.h - numbers among the arguments -------------------===//

#ifndef RMSNORM_LIB_SOURCE_SCALARARGUMENTS_H
#define RMSNORM_LIB_SOURCE_SCALARARGUMENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::rmsnorm {

/// Makes tensors of rank 0 of the numbers among the arguments of `function`: a
/// caller has tensors only. Linalg ops use them, as operands or in their body;
/// any other use is an error.
LogicalResult bindScalars(func::FuncOp function);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_SOURCE_SCALARARGUMENTS_H
