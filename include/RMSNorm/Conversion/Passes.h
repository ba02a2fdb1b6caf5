// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Passes.h - constructors, options and registration -----------------===//

#ifndef RMSNORM_CONVERSION_PASSES_H
#define RMSNORM_CONVERSION_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace mlir::rmsnorm {

/// A function with this attribute gets a companion from
/// rmsnorm-add-magnitudes, of the name that getMagnitudesName gives.
inline constexpr llvm::StringLiteral kMagnitudesAttrName = "rmsnorm.magnitudes";
inline std::string getMagnitudesName(llvm::StringRef function) {
  return (function + ".magnitudes").str();
}

#define GEN_PASS_DECL
#include "RMSNorm/Conversion/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "RMSNorm/Conversion/Passes.h.inc"

} // namespace mlir::rmsnorm

#endif // RMSNORM_CONVERSION_PASSES_H
