// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TargetModel.cpp - #rmsnorm.target compiles gpu.modules ------------===//
//
// Upstream's gpu-module-to-binary asks the targets of a gpu.module for objects.
//
//===----------------------------------------------------------------------===//

#include "TargetModel.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Target/Serialize.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Target/LLVMIR/LLVMTranslationInterface.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using gpu::CompilationTarget;

/// The format of an object. Upstream's runtime wrappers load the machine code
/// of a chip, so the default ("fatbin") gives that, too.
static CompilationTarget getFormat(TargetAttr target,
                                   CompilationTarget wanted) {
  if (wanted != CompilationTarget::Fatbin)
    return wanted;
  // Without ptxas the driver compiles.
  if (target.getBackend() == Backend::nvvm && !findPtxas())
    return CompilationTarget::Assembly;
  return CompilationTarget::Binary;
}

static FailureOr<Blob> serialize(Operation *module, TargetAttr target,
                                 CompilationTarget format) {
  if (format == CompilationTarget::Assembly) {
    FailureOr<std::string> text = emitAssembly(module);
    if (failed(text))
      return failure();
    return Blob(text->begin(), text->end());
  }
  if (format != CompilationTarget::Binary)
    return module->emitError("expected the format isa, bin or fatbin for "
                             "kernels of '")
           << target.getSpelling() << "', got '"
           << gpu::stringifyCompilationTarget(format) << "'";
  switch (target.getBackend()) {
  case Backend::nvvm:
    return serializeCubin(module);
  case Backend::rocdl:
    return serializeHSACO(module);
  case Backend::sim:
    return serializeHost(module);
  }
  llvm_unreachable("all back ends are handled");
}

/// The target that the object names: one of upstream's, so that a tool without
/// our dialects can read it. No tool reads that of a simulator's object.
static Attribute getUpstreamTarget(TargetAttr target) {
  MLIRContext *context = target.getContext();
  switch (target.getBackend()) {
  case Backend::nvvm:
    return NVVM::NVVMTargetAttr::get(context, /*O=*/3, "nvptx64-nvidia-cuda",
                                     target.getChip());
  case Backend::rocdl:
    return ROCDL::ROCDLTargetAttr::get(
        context, /*O=*/3, "amdgcn-amd-amdhsa", target.getChip(),
        /*features=*/"", std::to_string(SerializeOptions().codeObjectVersion));
  case Backend::sim:
    return NVVM::NVVMTargetAttr::get(context);
  }
  llvm_unreachable("all back ends are handled");
}

namespace {
struct TargetModel
    : gpu::TargetAttrInterface::ExternalModel<TargetModel, TargetAttr> {
  std::optional<SmallVector<char, 0>>
  serializeToObject(Attribute attribute, Operation *module,
                    const gpu::TargetOptions &options) const {
    auto target = cast<TargetAttr>(attribute);
    FailureOr<Blob> object = serialize(
        module, target, getFormat(target, options.getCompilationTarget()));
    if (failed(object))
      return std::nullopt;
    return std::move(*object);
  }

  Attribute createObject(Attribute attribute, Operation *,
                         const SmallVector<char, 0> &object,
                         const gpu::TargetOptions &options) const {
    auto target = cast<TargetAttr>(attribute);
    // The simulator's assembly is text for people, never loaded.
    const CompilationTarget format =
        getFormat(target, options.getCompilationTarget());
    return gpu::ObjectAttr::get(
        getUpstreamTarget(target), format,
        StringAttr::get(target.getContext(),
                        StringRef(object.data(), object.size())));
  }
};
/// Host code that rmsnorm-embed-host has lowered has nothing of ours; upstream
/// would say that it cannot translate some op beside.
struct Translation final : LLVMTranslationDialectInterface {
  using LLVMTranslationDialectInterface::LLVMTranslationDialectInterface;

  LogicalResult amendOperation(Operation *op, ArrayRef<llvm::Instruction *>,
                               NamedAttribute attribute,
                               LLVM::ModuleTranslation &) const override {
    if (!isa<ModuleOp>(op) ||
        attribute.getName() != RMSNormDialect::kTargetAttrName)
      return success();
    return op->emitOpError("expected no '")
           << attribute.getName().getValue()
           << "' in host code: run rmsnorm-embed-host before it is lowered to "
              "LLVM";
  }
};
} // namespace

void rmsnorm::registerTargetModel(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, RMSNormDialect *dialect) {
    TargetAttr::attachInterface<TargetModel>(*context);
    dialect->addInterfaces<Translation>();
    // Of the targets that objects name.
    context->loadDialect<NVVM::NVVMDialect, ROCDL::ROCDLDialect>();
  });
}
