// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - constructors, options and registration -----------------===//

#ifndef RMSNORM_TILING_PASSES_H
#define RMSNORM_TILING_PASSES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::rmsnorm {

#define GEN_PASS_DECL
#include "RMSNorm/Tiling/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "RMSNorm/Tiling/Passes.h.inc"

} // namespace mlir::rmsnorm

#endif // RMSNORM_TILING_PASSES_H
