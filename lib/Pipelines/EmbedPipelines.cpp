// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EmbedPipelines.cpp - our passes in somebody else's pipeline -------===//

#include "ModulePipeline.h"
#include "RMSNorm/Embed/Passes.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Pipelines/Pipelines.h"
#include "RMSNorm/Rows/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::rmsnorm;

void rmsnorm::buildEmbedMemrefs(OpPassManager &manager,
                                const EmbedMemrefsOptions &options) {
  manager.addPass(createStridedBuffers());
  manager.addPass(createSplitSums());
  manager.addPass(createAttachTarget({options.target}));
  if (options.variants == EmbedVariants::guarded)
    manager.addPass(
        createSelectVariants({options.schedule, options.batchInvariant,
                              options.tuning, options.smMargin}));
  else
    manager.addPass(createSelectSchedule(
        {options.schedule, options.alignment, options.rows,
         options.batchInvariant, options.tuning, options.columns,
         options.narrowColumns, options.smMargin}));
  buildScheduledHalf(manager, options.mergeLaunches, HostCode::theirs);
  buildFinalize(manager, options.target);
}

void rmsnorm::registerEmbedPipelines() {
  registerModulePipeline<EmbedMemrefsOptions>(
      "rmsnorm-embed-memrefs",
      "From bufferized programs over rows, among other work, to finalized "
      "kernels "
      "and their launches",
      buildEmbedMemrefs);
}
