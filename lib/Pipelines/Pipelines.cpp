// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pipelines.cpp - the passes in their order -------------------------===//

#include "RMSNorm/Pipelines/Pipelines.h"
#include "ModulePipeline.h"
#include "RMSNorm/Distribution/Passes.h"
#include "RMSNorm/Embed/Passes.h"
#include "RMSNorm/Raise/Passes.h"
#include "RMSNorm/Rows/Passes.h"
#include "RMSNorm/Source/Passes.h"
#include "RMSNorm/Tiling/Passes.h"

#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::rmsnorm;

void rmsnorm::buildTensorHalf(OpPassManager &manager) {
  // Private functions nobody calls are no entries.
  manager.addPass(createSymbolDCEPass());
  manager.addNestedPass<func::FuncOp>(createGeneralizeElementwise());
  manager.addNestedPass<func::FuncOp>(createGeneralizeGathers());
  manager.addPass(createComputeInPlace());
  // On plain tensor IR: the oracle binds its arguments the same way.
  manager.addPass(createBindArguments());
  manager.addNestedPass<func::FuncOp>(createTileClusters());
  manager.addPass(createOrderRows());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addNestedPass<func::FuncOp>(createFactorSums());
  manager.addNestedPass<func::FuncOp>(createFuseReductions());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  manager.addPass(bufferization::createOneShotBufferizePass(bufferize));
  manager.addPass(createResolveDims());
  // The results must be seen to be arguments before they can be dropped.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addNestedPass<func::FuncOp>(createDropResults());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addNestedPass<func::FuncOp>(createCheckBuffers());
  manager.addPass(createStridedBuffers());
  manager.addPass(createSplitSums());
}

void rmsnorm::buildEmbedTensors(OpPassManager &manager,
                                const EmbedTensorsOptions &options) {
  manager.addPass(createWrapMemRefs());
  manager.addPass(createGeneralizeElementwise({/*restorable=*/true}));
  manager.addNestedPass<func::FuncOp>(
      createGeneralizeGathers({/*scattersOnly=*/true}));
  manager.addPass(createTileClusters({/*required=*/false, options.remarks}));
  manager.addPass(createOrderRows());
  manager.addPass(createRestoreElementwise());
  // Nobody else has a lowering of a scatter.
  manager.addPass(createDecompose({/*scattersOnly=*/!options.decomposeRest}));
  manager.addPass(createSimplifyOurs({/*canonicalize=*/true}));
  manager.addPass(createFactorSums());
  manager.addPass(createFuseReductions());
}

void rmsnorm::buildRaise(OpPassManager &manager, Roundings roundings,
                         RowWise rowWise) {
  manager.addPass(createLinalgGeneralizeNamedOpsPass());
  auto simplify = [&] {
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
  };
  simplify();
  manager.addPass(createRaise({roundings, rowWise}));
  simplify();
}

void rmsnorm::buildOutline(OpPassManager &manager,
                           const OutlineOptions &options) {
  manager.addPass(createGeneralizeElementwise({/*restorable=*/true}));
  manager.addNestedPass<func::FuncOp>(
      createGeneralizeGathers({/*scattersOnly=*/true}));
  manager.addPass(createOutlineClusters({options.report, options.dropRest}));
  manager.addPass(createRestoreElementwise());
}

void rmsnorm::buildMemrefHalf(OpPassManager &manager,
                              const MemrefHalfOptions &options) {
  manager.addPass(createAttachTarget({options.target}));
  manager.addPass(createSelectSchedule(
      {options.schedule, options.alignment, options.rows,
       options.batchInvariant, options.tuning, options.columns,
       options.narrowColumns, options.smMargin}));
  buildScheduledHalf(manager, options.mergeLaunches);
}

void rmsnorm::buildScheduledHalf(OpPassManager &manager, bool mergeLaunches,
                                 HostCode host) {
  auto simplify = [&](bool canonicalize) {
    if (host == HostCode::theirs) {
      manager.addPass(createSimplifyOurs({canonicalize}));
      return;
    }
    if (canonicalize)
      manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
  };
  manager.addPass(createSplitStrips());
  manager.addPass(createPackRows());
  manager.addPass(createCarrySums());
  simplify(/*canonicalize=*/false);
  manager.addPass(createPlaceTiles());
  manager.addPass(createSplitReductions());
  manager.addPass(createDistribute());
  if (mergeLaunches)
    manager.addPass(createMergeLaunches());
  simplify(/*canonicalize=*/true);
}

void rmsnorm::registerPipelines() {
  registerModulePipeline(
      "rmsnorm-tensor-half",
      "From norms on tensors to programs over the rows of buffers",
      buildTensorHalf);
  PassPipelineRegistration<EmbedTensorsOptions>(
      "rmsnorm-embed-tensors",
      "From norms among other work to programs over rows, on tensors",
      buildEmbedTensors);
  registerModulePipeline<OutlineOptions>(
      "rmsnorm-outline",
      "From norms among other work to functions that norm-compile compiles",
      buildOutline);
  registerModulePipeline<MemrefHalfOptions>(
      "rmsnorm-memref-half",
      "From programs over rows to thread-level kernels, for one target",
      buildMemrefHalf);
  registerModulePipeline(
      "rmsnorm-to-oracle",
      "From programs on tensors to scalar loops in interval arithmetic",
      buildToOracle);
}
