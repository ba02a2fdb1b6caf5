// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorArguments.h - which arguments rows are read of --------------===//

#ifndef RMSNORM_MODULE_VECTORARGUMENTS_H
#define RMSNORM_MODULE_VECTORARGUMENTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::rmsnorm {

/// The arguments that are or hold the buffers of getVectorBuffers, in order.
SmallVector<unsigned> getVectorArguments(func::FuncOp function);

} // namespace mlir::rmsnorm

#endif // RMSNORM_MODULE_VECTORARGUMENTS_H
