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

static void buildFinalize(OpPassManager &manager, Backend backend) {
  switch (backend) {
  case Backend::nvvm:
    return manager.addPass(createFinalizeNVVM());
  case Backend::rocdl:
    return manager.addPass(createFinalizeROCDL());
  case Backend::sim:
    return manager.addPass(createFinalizeSim());
  }
}

void rmsnorm::buildFinalize(OpPassManager &manager, StringRef target) {
  const ChipInfo *chip = lookupChip(target);
  ::buildFinalize(manager, !chip                            ? Backend::sim
                           : chip->vendor == Vendor::Nvidia ? Backend::nvvm
                                                            : Backend::rocdl);
}

/// Registers the pipeline to `backend`, to `defaultTarget` if none is said.
static void registerOne(StringRef name, StringRef description, Backend backend,
                        StringRef defaultTarget) {
  registerModulePipeline<MemrefHalfOptions>(
      name, description,
      [=](OpPassManager &manager, const MemrefHalfOptions &options) {
        MemrefHalfOptions memref;
        memref.copyOptionValuesFrom(options);
        if (options.target.empty())
          memref.target = defaultTarget.str();
        buildTensorHalf(manager);
        buildMemrefHalf(manager, memref);
        ::buildFinalize(manager, backend);
      });
}

void rmsnorm::registerTargetPipelines() {
  registerOne("rmsnorm-to-nvvm",
              "From the ops to NVVM dialect kernels for one chip",
              Backend::nvvm, "sm_90");
  registerOne("rmsnorm-to-rocdl",
              "From the ops to ROCDL dialect kernels for one chip",
              Backend::rocdl, "gfx942");
  registerOne("rmsnorm-to-sim",
              "From the ops to kernels for the SIMT simulator", Backend::sim,
              "sim");
}
