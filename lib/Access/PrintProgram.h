// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PrintProgram.h - ops and clusters for a checker -------------------===//

#ifndef RMSNORM_LIB_ACCESS_PRINTPROGRAM_H
#define RMSNORM_LIB_ACCESS_PRINTPROGRAM_H

#include "RMSNorm/Access/Cluster.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::rmsnorm::access {

/// The word for a kind of access.
StringRef getName(Access::Kind kind);

/// Prints a function and its clusters as JSON, in a line.
void printProgram(raw_ostream &os, func::FuncOp function,
                  ArrayRef<Cluster> clusters);

} // namespace mlir::rmsnorm::access

#endif // RMSNORM_LIB_ACCESS_PRINTPROGRAM_H
