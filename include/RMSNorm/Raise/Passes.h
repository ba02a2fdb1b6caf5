// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - constructors and registration --------------------------===//

#ifndef RMSNORM_RAISE_PASSES_H
#define RMSNORM_RAISE_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::rmsnorm {

/// Whether a gradient may have fewer roundings as an op than in the program.
enum class Roundings { exact, fewer };

/// Which reductions of rows that are left may begin kernels: none, those of
/// norms in functions that hold one of ours, or all.
enum class RowWise { none, norms, all };

#define GEN_PASS_DECL
#include "RMSNorm/Raise/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "RMSNorm/Raise/Passes.h.inc"

} // namespace mlir::rmsnorm

#endif // RMSNORM_RAISE_PASSES_H
