// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - constructors and registration --------------------------===//

#ifndef RMSNORM_ACCESS_PASSES_H
#define RMSNORM_ACCESS_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::rmsnorm {

#define GEN_PASS_DECL
#include "RMSNorm/Access/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "RMSNorm/Access/Passes.h.inc"

} // namespace mlir::rmsnorm

#endif // RMSNORM_ACCESS_PASSES_H
