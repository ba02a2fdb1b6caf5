// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TargetPipelines.cpp - from the ops to a target's LLVM dialect -----===//

#include "ModulePipeline.h"
#include "RMSNorm/Conversion/Passes.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Pipelines/Pipelines.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::rmsnorm;

void rmsnorm::buildFinalize(OpPassManager &manager, Backend backend) {
  switch (backend) {
  case Backend::nvvm:
    return manager.addPass(createFinalizeNVVM());
  case Backend::rocdl:
    return manager.addPass(createFinalizeROCDL());
  case Backend::sim:
    return manager.addPass(createFinalizeSim());
  }
}

namespace {

struct TargetPipelineOptions : VariantOptions<TargetPipelineOptions> {
  PassOptions::Option<std::string> chip{
      *this, "chip",
      llvm::cl::desc("a chip, see RMSNorm/Target/Targets.h; default: sm_90, "
                     "gfx942. For the simulator the chip whose kernels are "
                     "run, or sim32 (the default) or sim64: generic ones with "
                     "subgroups of that size")};
};

} // namespace

/// Registers the pipeline whose targets are written `prefix` + chip.
static void registerOne(StringRef name, StringRef description, Backend backend,
                        StringRef prefix, StringRef defaultChip) {
  registerModulePipeline<TargetPipelineOptions>(
      name, description,
      [=](OpPassManager &manager, const TargetPipelineOptions &options) {
        MemrefHalfOptions memref;
        memref.target =
            (prefix +
             (options.chip.empty() ? defaultChip : StringRef(options.chip)))
                .str();
        memref.copyFrom(options);
        buildTensorHalf(manager);
        buildMemrefHalf(manager, memref);
        buildFinalize(manager, backend);
      });
}

void rmsnorm::registerTargetPipelines() {
  registerOne("rmsnorm-to-nvvm",
              "From the ops to NVVM dialect kernels for one chip",
              Backend::nvvm, "", "sm_90");
  registerOne("rmsnorm-to-rocdl",
              "From the ops to ROCDL dialect kernels for one chip",
              Backend::rocdl, "", "gfx942");
  registerOne("rmsnorm-to-sim",
              "From the ops to kernels for the SIMT simulator", Backend::sim,
              "sim:", "sim32");
}
