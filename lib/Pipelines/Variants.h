// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Variants.h - the code of a variant --------------------------------===//

#ifndef RMSNORM_LIB_PIPELINES_VARIANTS_H
#define RMSNORM_LIB_PIPELINES_VARIANTS_H

#include "HostImages.h"
#include "Planning.h"

namespace mlir::rmsnorm {

/// A variant between the memref half and serialization.
struct CompiledVariant {
  OwningOpRef<ModuleOp> module;
  CompileTimes times;

  CompilePiece getPiece() const {
    return {times.entry, times.target, times.variant};
  }
  func::FuncOp getHost(StringRef entry) {
    return module->lookupSymbol<func::FuncOp>(entry);
  }
  gpu::GPUModuleOp getKernels() {
    auto kernels = module->getOps<gpu::GPUModuleOp>();
    return kernels.empty() ? gpu::GPUModuleOp() : *kernels.begin();
  }
};

/// A copy of `module` whose only public function with a body is `entry`.
OwningOpRef<ModuleOp> cloneWithEntry(ModuleOp module, StringRef entry);

/// Compiles `entry` with the schedules of `plan`, up to the stage `last`;
/// chooses none.
FailureOr<CompiledVariant> compileVariant(Compilation &compilation,
                                          func::FuncOp entry, TargetAttr target,
                                          const VariantPlan &plan,
                                          Stage last = Stage::Finalized);

/// The properties of a variant in a module, beside its code.
struct VariantNames {
  /// The entry it is a variant of.
  std::string entry;
  std::string schedule;
  std::string tuningKey = "";
};

/// Serializes `variant` and adds it to the module. Kernels for the simulator
/// go to `hostImages`.
LogicalResult addVariant(const Compilation &compilation, ModuleWriter &writer,
                         HostImages &hostImages, func::FuncOp entry,
                         TargetAttr target, CompiledVariant variant,
                         const VariantPlan &plan, const VariantNames &names);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_PIPELINES_VARIANTS_H
