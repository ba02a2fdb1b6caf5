// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pipelines.cpp - the passes in their order -------------------------===//

#include "RMSNorm/Pipelines/Pipelines.h"
#include "RMSNorm/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::rmsnorm;

void rmsnorm::buildTensorHalf(OpPassManager &manager) {
  // Private functions nobody calls are no entries.
  manager.addPass(createSymbolDCEPass());
  // First, on plain tensor IR: the oracle binds its arguments the same way.
  manager.addPass(createBindArguments());
  manager.addNestedPass<func::FuncOp>(createTileRows());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addNestedPass<func::FuncOp>(createDecompose());
  manager.addNestedPass<func::FuncOp>(createVectorize());
  manager.addPass(createCanonicalizerPass());
  manager.addNestedPass<func::FuncOp>(createFactorSums());
  manager.addNestedPass<func::FuncOp>(createFuseReductions());
  bufferization::OneShotBufferizePassOptions bufferize;
  bufferize.bufferizeFunctionBoundaries = true;
  manager.addPass(bufferization::createOneShotBufferizePass(bufferize));
  // The results must be seen to be arguments before they can be dropped.
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addNestedPass<func::FuncOp>(createDropResults());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
  manager.addNestedPass<func::FuncOp>(createCheckBuffers());
}

void rmsnorm::buildMemrefHalf(OpPassManager &manager,
                              const MemrefHalfOptions &options) {
  manager.addPass(createAttachTarget({options.target}));
  manager.addPass(createSelectSchedule({options.schedule, options.alignment,
                                        options.rows, options.batchInvariant,
                                        options.tuning, options.columns}));
  manager.addPass(createSplitStrips());
  manager.addPass(createPackRows());
  manager.addPass(createWalkRows({options.smMargin}));
  manager.addPass(createCSEPass());
  // Repeats loads and arithmetic on purpose: no CSE between it and the point
  // where repeated loads carry their segment to the thread level.
  manager.addPass(createPlaceTiles());
  manager.addPass(createPipelineRows());
  manager.addPass(createDistribute());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

void rmsnorm::registerPipelines() {
  PassPipelineRegistration<>(
      "rmsnorm-tensor-half",
      "From norms on tensors to bufferized tile programs on arguments",
      buildTensorHalf);
  PassPipelineRegistration<MemrefHalfOptions>(
      "rmsnorm-memref-half",
      "From bufferized tile programs to thread-level kernels, for one target",
      buildMemrefHalf);
  PassPipelineRegistration<>(
      "rmsnorm-to-oracle",
      "From norms on tensors to their definition in f64 scalar loops",
      buildToOracle);
}
