// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - constructors, options and registration -----------------===//

#ifndef RMSNORM_CONVERSION_PASSES_H
#define RMSNORM_CONVERSION_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::rmsnorm {

/// The functions of the runtime that rmsnorm-to-intervals calls begin so.
inline constexpr llvm::StringLiteral kOracleFunctionPrefix = "rmsnorm_oracle_";

#define GEN_PASS_DECL
#include "RMSNorm/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "RMSNorm/Conversion/Passes.h.inc"

} // namespace mlir::rmsnorm

#endif // RMSNORM_CONVERSION_PASSES_H
