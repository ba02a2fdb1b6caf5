// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OracleProgram.h - the definition as a program of a module ---------===//

#ifndef RMSNORM_LIB_PIPELINES_ORACLEPROGRAM_H
#define RMSNORM_LIB_PIPELINES_ORACLEPROGRAM_H

#include "Compilation.h"

namespace mlir::rmsnorm {
class ModuleWriter;

/// The target that stands for the definition.
constexpr StringLiteral kOracleTarget = "oracle";

/// The source lowered by its definition.
struct CompiledOracle {
  OwningOpRef<ModuleOp> module;
  CompileTimes times;

  CompilePiece getPiece() const { return {"", times.target, ""}; }
};
FailureOr<CompiledOracle> compileOracle(const Compilation &compilation);

/// Adds the definition of all entries and candidates.
LogicalResult addOracle(const Compilation &compilation, ModuleWriter &writer);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_PIPELINES_ORACLEPROGRAM_H
