// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Pipelines.cpp - the passes in their order -------------------------===//

#include "RMSNorm/Pipelines/Pipelines.h"
#include "RMSNorm/Transforms/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace mlir::rmsnorm;

void rmsnorm::buildMemrefHalf(OpPassManager &manager,
                              const MemrefHalfOptions &options) {
  manager.addPass(createAttachTarget({options.target}));
  manager.addPass(createSelectSchedule({options.schedule, options.alignment}));
  manager.addPass(createPackRows());
  manager.addPass(createWalkRows());
  manager.addPass(createCSEPass());
  // Repeats loads and arithmetic on purpose: no CSE between it and the point
  // where repeated loads carry their segment to the thread level.
  manager.addPass(createPlaceTiles());
  manager.addPass(createDistribute());
  manager.addPass(createCanonicalizerPass());
  manager.addPass(createCSEPass());
}

void rmsnorm::registerPipelines() {
  PassPipelineRegistration<MemrefHalfOptions>(
      "rmsnorm-memref-half",
      "From bufferized tile programs to thread-level kernels, for one target",
      buildMemrefHalf);
}
