// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compilation.h - what the parts of norm-compile share --------------===//

#ifndef RMSNORM_LIB_PIPELINES_COMPILATION_H
#define RMSNORM_LIB_PIPELINES_COMPILATION_H

#include "RMSNorm/Pipelines/Compile.h"
#include "RMSNorm/Schedule/TuningFile.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSet.h"

#include <chrono>

namespace mlir::rmsnorm {

/// Passes that run several times. They are configured before the first.
struct WatchedPasses {
  explicit WatchedPasses(MLIRContext *context) : manager(context) {}

  PassManager manager;
  bool configured = false;
};

/// From a scheduled module to code for one target.
struct VariantPasses {
  explicit VariantPasses(MLIRContext *context)
      : scheduled(context), finalize(context) {}

  WatchedPasses scheduled, finalize;
};

/// A module on its way to code: the same for all entries, targets and variants.
struct Compilation {
  Compilation(ModuleOp source, const CompileOptions &options)
      : source(source), options(options) {}

  void record(CompileTimes times) const {
    if (options.times)
      options.times->push_back(std::move(times));
  }
  /// The options to serialize with, whose time counts for `times`.
  SerializeOptions getSerializeOptions(CompileTimes &times) const {
    SerializeOptions serialize = options.serialize;
    serialize.times = &times.serialize;
    return serialize;
  }

  /// Runs the passes that take the module of a piece to a stage, and shows it.
  LogicalResult run(WatchedPasses &passes, ModuleOp module,
                    const CompilePiece &piece, Stage stage) const;
  /// Shows a module to the callback, if there is one.
  LogicalResult show(Stage stage, const CompilePiece &piece,
                     Operation *module) const;
  /// Shows the LLVM IR and assembly of kernels.
  LogicalResult showCode(const CompilePiece &piece, Operation *kernels) const;

  ModuleOp source;
  const CompileOptions &options;
  SmallVector<TargetAttr> targets;
  bool wantsOracle = false;
  TuningTable tuning;
  /// The source after the tensor half.
  OwningOpRef<ModuleOp> tiled;
  SmallVector<func::FuncOp> entries;
  /// From there to code, for each target: made once, as it takes longer to set
  /// up a canonicalizer than to run it.
  llvm::DenseMap<TargetAttr, std::unique_ptr<VariantPasses>> variantPasses;
  /// With a schedule space: entries and the names of their candidates.
  std::vector<std::pair<std::string, std::string>> candidates;
};

/// The time since its beginning.
class Milliseconds {
public:
  double get() const {
    return std::chrono::duration<double, std::milli>(
               std::chrono::steady_clock::now() - start)
        .count();
  }

private:
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_PIPELINES_COMPILATION_H
