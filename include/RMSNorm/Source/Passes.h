// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - constructors, options and registration -----------------===//

#ifndef RMSNORM_SOURCE_PASSES_H
#define RMSNORM_SOURCE_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::rmsnorm {

#define GEN_PASS_DECL
#include "RMSNorm/Source/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "RMSNorm/Source/Passes.h.inc"

} // namespace mlir::rmsnorm

#endif // RMSNORM_SOURCE_PASSES_H
