// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TargetPipelines.cpp - from the ops to a target's LLVM dialect -----===//

#include "RMSNorm/Conversion/Passes.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Pipelines/Pipelines.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static void addFinalize(OpPassManager &manager, Backend backend) {
  switch (backend) {
  case Backend::nvvm:
    return manager.addPass(createFinalizeNVVM());
  case Backend::rocdl:
    return manager.addPass(createFinalizeROCDL());
  case Backend::sim:
    return manager.addPass(createFinalizeSim());
  }
}

void rmsnorm::buildFinalize(OpPassManager &manager, TargetAttr target) {
  addFinalize(manager, target.getBackend());
}

namespace {

struct TargetPipelineOptions : PassPipelineOptions<TargetPipelineOptions> {
  PassOptions::Option<std::string> chip{
      *this, "chip",
      llvm::cl::desc("a chip, see RMSNorm/Target/Targets.h; default: sm_90, "
                     "gfx942. For the simulator the chip whose kernels are "
                     "run, or sim32 (the default) or sim64: generic ones with "
                     "subgroups of that size")};
  PassOptions::Option<std::string> schedule{
      *this, "schedule",
      llvm::cl::desc("overrides of the selector's choice: a mode and "
                     "field=value items, separated by commas")};
  PassOptions::Option<int64_t> alignment{
      *this, "alignment",
      llvm::cl::desc("bytes all rows are aligned to: 16, or 1 for the variant "
                     "that takes any pointer and stride"),
      llvm::cl::init(16)};
  PassOptions::Option<int64_t> rows{
      *this, "rows",
      llvm::cl::desc("the most rows that a call will have; -1: any number"),
      llvm::cl::init(-1)};
  PassOptions::Option<bool> batchInvariant{
      *this, "batch-invariant",
      llvm::cl::desc("a row is summed in the same order whatever the number of "
                     "rows"),
      llvm::cl::init(false)};
  PassOptions::Option<int64_t> columns{
      *this, "columns",
      llvm::cl::desc("the most columns that a call will have, where N is known "
                     "only then; -1: any number"),
      llvm::cl::init(-1)};
  PassOptions::Option<int64_t> smMargin{
      *this, "sm-margin",
      llvm::cl::desc("multiprocessors to leave to other work"),
      llvm::cl::init(0)};
  PassOptions::Option<std::string> tuning{
      *this, "tuning",
      llvm::cl::desc("a file of norm-tune, whose records replace the choice")};
};

} // namespace

/// Registers the pipeline whose targets are written `prefix` + chip.
static void registerOne(StringRef name, StringRef description, Backend backend,
                        StringRef prefix, StringRef defaultChip) {
  PassPipelineRegistration<TargetPipelineOptions>(
      name, description,
      [=](OpPassManager &manager, const TargetPipelineOptions &options) {
        MemrefHalfOptions memref;
        memref.target =
            (prefix +
             (options.chip.empty() ? defaultChip : StringRef(options.chip)))
                .str();
        memref.schedule = options.schedule;
        memref.alignment = options.alignment;
        memref.rows = options.rows;
        memref.batchInvariant = options.batchInvariant;
        memref.columns = options.columns;
        memref.smMargin = options.smMargin;
        memref.tuning = options.tuning;
        buildTensorHalf(manager);
        buildMemrefHalf(manager, memref);
        addFinalize(manager, backend);
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
