// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - constructors and registration --------------------------===//

#ifndef RMSNORM_EMBED_PASSES_H
#define RMSNORM_EMBED_PASSES_H

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::rmsnorm {

/// Who launches kernels: calls of our runtime, or upstream's gpu dialect.
enum class HostLaunches { direct, gpu };

#define GEN_PASS_DECL
#include "RMSNorm/Embed/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "RMSNorm/Embed/Passes.h.inc"

} // namespace mlir::rmsnorm

#endif // RMSNORM_EMBED_PASSES_H
