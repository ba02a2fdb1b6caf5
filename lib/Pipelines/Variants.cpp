// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Variants.cpp - the code of a variant ------------------------------===//

#include "Variants.h"
#include "RMSNorm/Pipelines/Pipelines.h"

#include "mlir/Pass/PassManager.h"

using namespace mlir;
using namespace mlir::rmsnorm;

OwningOpRef<ModuleOp> rmsnorm::cloneWithEntry(ModuleOp module,
                                              StringRef entry) {
  OwningOpRef<ModuleOp> clone(cast<ModuleOp>(module->cloneWithoutRegions()));
  clone->getBodyRegion().emplaceBlock();
  for (Operation &op : *module.getBody()) {
    auto function = dyn_cast<func::FuncOp>(op);
    if (!function || function.getName() == entry || !function.isPublic())
      clone->push_back(op.clone());
  }
  return clone;
}

static VariantPasses &getPasses(Compilation &compilation, TargetAttr target) {
  std::unique_ptr<VariantPasses> &passes = compilation.variantPasses[target];
  if (!passes) {
    passes = std::make_unique<VariantPasses>(target.getContext());
    buildScheduledHalf(passes->scheduled.manager,
                       compilation.options.mergeLaunches);
    buildFinalize(passes->finalize.manager, target.getSpelling());
    // norm-opt verifies between passes. Here that would take longer than the
    // passes. Distribution verifies its input, and the resulting LLVM IR is
    // verified.
    passes->scheduled.manager.enableVerifier(false);
    passes->finalize.manager.enableVerifier(false);
  }
  return *passes;
}

/// Takes a scheduled module through the stages up to `last`.
static LogicalResult advance(Compilation &compilation, ModuleOp module,
                             TargetAttr target, const CompilePiece &piece,
                             Stage last) {
  VariantPasses &passes = getPasses(compilation, target);
  if (failed(compilation.show(Stage::Scheduled, piece, module)))
    return failure();
  if (last == Stage::Scheduled)
    return success();
  if (failed(
          compilation.run(passes.scheduled, module, piece, Stage::MemrefHalf)))
    return failure();
  if (last == Stage::MemrefHalf)
    return success();
  return compilation.run(passes.finalize, module, piece, Stage::Finalized);
}

FailureOr<CompiledVariant> rmsnorm::compileVariant(Compilation &compilation,
                                                   func::FuncOp entry,
                                                   TargetAttr target,
                                                   const VariantPlan &plan,
                                                   Stage last) {
  CompiledVariant variant;
  variant.times.entry = entry.getName().str();
  variant.times.target = target.getSpelling();
  variant.times.variant = plan.name;
  Milliseconds time;
  variant.module = cloneWithEntry(compilation.tiled.get(), entry.getName());
  (*variant.module)->setAttr(RMSNormDialect::kTargetAttrName, target);
  setSchedules(variant.getHost(entry.getName()), plan.schedules,
               plan.columns.last);
  if (failed(advance(compilation, *variant.module, target, variant.getPiece(),
                     last)))
    return failure();
  if (last != Stage::Scheduled && !variant.getKernels())
    return entry.emitError("expected a norm to make a kernel of, got none in '")
           << entry.getName() << "'";
  variant.times.passes = time.get();
  return variant;
}

/// The code of a variant for a GPU.
static FailureOr<SmallVector<ModuleBinary>>
serialize(const Compilation &compilation, CompiledVariant &variant,
          TargetAttr target) {
  const SerializeOptions options =
      compilation.getSerializeOptions(variant.times);
  gpu::GPUModuleOp kernels = variant.getKernels();
  SmallVector<ModuleBinary> binaries;
  auto add = [&](BinaryKind kind, FailureOr<Blob> bytes) {
    if (succeeded(bytes))
      binaries.push_back({kind, std::string(bytes->begin(), bytes->end())});
    return LogicalResult(bytes);
  };
  switch (target.getBackend()) {
  case Backend::nvvm: {
    FailureOr<std::string> ptx = serializePTX(kernels, options);
    if (failed(ptx))
      return failure();
    // Without ptxas the driver compiles the PTX when the module is prepared.
    if (!getPtxas(options).empty() &&
        failed(add(BinaryKind::Cubin, assemblePTX(kernels, *ptx, options))))
      return failure();
    binaries.push_back({BinaryKind::PTX, std::move(*ptx)});
    break;
  }
  case Backend::rocdl:
    if (failed(add(BinaryKind::HSACO, serializeHSACO(kernels, options))))
      return failure();
    break;
  case Backend::sim:
    llvm_unreachable("is code for the CPU");
  }
  return binaries;
}

/// The number of the image that the code of a variant is in. Takes it out of
/// the variant.
static FailureOr<unsigned>
addImage(const Compilation &compilation, ModuleWriter &writer,
         HostImages &hostImages, CompiledVariant &variant, TargetAttr target) {
  if (target.getBackend() == Backend::sim)
    return hostImages.add(variant.getKernels());
  FailureOr<SmallVector<ModuleBinary>> binaries =
      serialize(compilation, variant, target);
  if (failed(binaries))
    return failure();
  return writer.addImage(target, std::move(*binaries));
}

LogicalResult rmsnorm::addVariant(const Compilation &compilation,
                                  ModuleWriter &writer, HostImages &hostImages,
                                  func::FuncOp entry, TargetAttr target,
                                  CompiledVariant variant,
                                  const VariantPlan &plan,
                                  const VariantNames &names) {
  if (failed(compilation.showCode(variant.getPiece(), variant.getKernels())))
    return failure();
  FailureOr<unsigned> image =
      addImage(compilation, writer, hostImages, variant, target);
  if (failed(image))
    return failure();
  ModuleWriter::VariantOptions options;
  options.name = plan.name;
  options.schedule = names.schedule;
  options.tuningKey = names.tuningKey;
  options.guards = plan.guards;
  options.ranges = plan.ranges;
  if (failed(writer.addVariant(
          variant.getHost(entry.getName()), std::move(options),
          [&](StringRef) { return *image; }, names.entry)))
    return failure();
  compilation.record(std::move(variant.times));
  return success();
}
