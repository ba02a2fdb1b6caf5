// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ModulePipeline.h - registers a pipeline that runs on a module -----===//

#ifndef RMSNORM_LIB_PIPELINES_MODULEPIPELINE_H
#define RMSNORM_LIB_PIPELINES_MODULEPIPELINE_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

namespace mlir::rmsnorm {

/// As PassPipelineRegistration, but a pipeline that is nested under another op
/// is an error with a message. Upstream's ends the process.
template <typename Options = EmptyPipelineOptions, typename Builder>
void registerModulePipeline(StringRef name, StringRef description,
                            Builder build) {
  auto add =
      [name, build](
          OpPassManager &manager, StringRef text,
          function_ref<LogicalResult(const Twine &)> error) -> LogicalResult {
    if (manager.getNesting() == OpPassManager::Nesting::Explicit &&
        manager.getOpAnchorName() != ModuleOp::getOperationName())
      // A PassManager is one for any op unless it is told.
      return error("'" + name + "' expected to run on 'builtin.module', got '" +
                   manager.getOpAnchorName() +
                   "' (in C++: PassManager::on<ModuleOp>)");
    Options options;
    if (failed(options.parseFromString(text)))
      return failure();
    if constexpr (std::is_invocable_v<Builder, OpPassManager &>)
      build(manager);
    else
      build(manager, options);
    return success();
  };
  registerPassPipeline(
      name, description, add,
      [](function_ref<void(const mlir::detail::PassOptions &)> handle) {
        handle(Options());
      });
}

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_PIPELINES_MODULEPIPELINE_H
