// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DeviceModules.cpp - the device code of a module --------------------===//

#include "DeviceModules.h"

#include "RMSNorm/IR/ElementOps.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorTransforms.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::rmsnorm;

//===----------------------------------------------------------------------===//
// Before
//===----------------------------------------------------------------------===//

/// A type of f64 that `op` has. Constants may be written in it, to be rounded.
static Type getF64(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return Type();
  SmallVector<Type> types(op->getOperandTypes());
  llvm::append_range(types, op->getResultTypes());
  auto *it = llvm::find_if(
      types, [](Type type) { return getElementTypeOrSelf(type).isF64(); });
  return it == types.end() ? Type() : *it;
}

LogicalResult rmsnorm::prepareDeviceCode(gpu::GPUModuleOp module) {
  WalkResult walk = module.walk([](Operation *op) -> WalkResult {
    if (!op->isRegistered())
      return op->emitError("no lowering for '")
             << op->getName() << "' in device code";
    if (isa_and_present<arith::ArithDialect, math::MathDialect>(
            op->getDialect())) {
      // Of addresses, not of elements.
      if (isa<arith::MulUIExtendedOp>(op) ||
          (isa<arith::SelectOp>(op) &&
           isa<LLVM::LLVMPointerType>(op->getResult(0).getType())))
        return WalkResult::advance();
      if (std::string reason = whyNotComputable(op); !reason.empty())
        return op->emitOpError(reason);
    } else if (Type type = getF64(op)) {
      return op->emitError("expected floats of at most 32 bits, in which "
                           "kernels compute, got ")
             << type << " in '" << op->getName() << "'";
    }
    for (Type type : op->getResultTypes())
      if (auto vector = dyn_cast<VectorType>(type))
        if (vector.getNumElements() > kMaxFragmentElements)
          return op->emitError("expected vectors of at most ")
                 << kMaxFragmentElements << " elements in device code, got "
                 << vector;
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  module.walk([](arith::TruncFOp op) {
    if (!isa<Float8E8M0FNUType>(getElementTypeOrSelf(op.getType())))
      op.removeRoundingmodeAttr();
  });
  return success();
}

LogicalResult rmsnorm::checkExchanges(gpu::GPUModuleOp module,
                                      const ChipInfo &chip) {
  WalkResult walk = module.walk([&](ExchangeInitOp op) -> WalkResult {
    const int64_t cluster = op.getExchange().getCluster();
    if (cluster <= chip.maxClusterSize)
      return WalkResult::advance();
    return op.emitError("expected an exchange between at most ")
           << chip.maxClusterSize << " blocks on " << chip.name << ", got "
           << cluster;
  });
  return failure(walk.wasInterrupted());
}

LogicalResult rmsnorm::finalizeModules(
    ModuleOp root, Backend backend, StringRef passName,
    function_ref<LogicalResult(gpu::GPUModuleOp, const ChipInfo &)> finalize) {
  TargetAttr target = TargetAttr::lookup(root);
  if (!target)
    return root.emitError() << passName << ": expected a module with '"
                            << RMSNormDialect::kTargetAttrName
                            << "' (run rmsnorm-attach-target), got none";
  if (target.getBackend() != backend)
    return root.emitError()
           << passName << ": expected an " << stringifyBackend(backend)
           << " target, got '" << target.getSpelling() << "'";
  SmallVector<gpu::GPUModuleOp> modules;
  root.walk([&](gpu::GPUModuleOp module) {
    if (getKernelTarget(module))
      modules.push_back(module);
  });
  for (gpu::GPUModuleOp module : modules)
    if (failed(prepareDeviceCode(module)))
      return failure();
  for (gpu::GPUModuleOp module : modules)
    if (failed(finalize(module, target.getChipInfo())))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// To LLVM
//===----------------------------------------------------------------------===//

/// Upstream's conversion takes few forms of some vector ops: bring the others
/// into those.
static LogicalResult prepareVectors(gpu::GPUModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  vector::populateVectorBroadcastLoweringPatterns(patterns);
  vector::populateVectorShapeCastLoweringPatterns(patterns);
  vector::populateVectorInsertExtractStridedSliceTransforms(patterns);
  vector::populateVectorStepLoweringPatterns(patterns);
  vector::populateVectorRankReducingFMAPattern(patterns);
  return applyPatternsGreedily(module, std::move(patterns));
}

static LogicalResult lowerLoops(gpu::GPUModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  populateSCFToControlFlowConversionPatterns(patterns);
  ConversionTarget target(*module.getContext());
  target.addIllegalDialect<scf::SCFDialect>();
  target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(module, target, std::move(patterns));
}

/// Nothing but LLVM dialects is left, and nothing outside is called: there is
/// no device library to link with.
static LogicalResult verifySelfContained(gpu::GPUModuleOp module) {
  WalkResult walk = module.walk([&](Operation *op) -> WalkResult {
    if (auto call = dyn_cast<LLVM::CallOp>(op)) {
      std::optional<StringRef> callee = call.getCallee();
      auto function =
          callee ? module.lookupSymbol<LLVM::LLVMFuncOp>(*callee) : nullptr;
      if (function && !function.isExternal())
        return WalkResult::advance();
      return op->emitError("expected device code without library calls, got a "
                           "call to '")
             << callee.value_or("<indirect>") << "'";
    }
    StringRef dialect = op->getName().getDialectNamespace();
    if (op == module || dialect == "llvm" || dialect == "nvvm" ||
        dialect == "rocdl")
      return WalkResult::advance();
    return op->emitError("no lowering for '")
           << op->getName() << "' in device code";
  });
  if (walk.wasInterrupted())
    return failure();
  for (auto function :
       llvm::make_early_inc_range(module.getOps<LLVM::LLVMFuncOp>()))
    if (function.isExternal())
      return function.emitError("expected device code without declared "
                                "functions, got '")
             << function.getSymName() << "'";
  return success();
}

LogicalResult rmsnorm::computeInF32(gpu::GPUModuleOp module,
                                    ArrayRef<Type> types) {
  MLIRContext *context = module.getContext();
  TypeConverter converter;
  arith::populateEmulateUnsupportedFloatsConversions(converter, types,
                                                     Float32Type::get(context));
  RewritePatternSet patterns(context);
  arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
  ConversionTarget target(*context);
  arith::populateEmulateUnsupportedFloatsLegality(target, converter);
  if (failed(applyPartialConversion(module, target, std::move(patterns))))
    return failure();
  // The conversions are marked `contract`, and folders would drop them: but
  // each operation rounds.
  module.walk([](Operation *op) {
    if (auto extend = dyn_cast<arith::ExtFOp>(op))
      extend.setFastmath(arith::FastMathFlags::none);
    else if (auto truncate = dyn_cast<arith::TruncFOp>(op))
      truncate.setFastmath(arith::FastMathFlags::none);
  });
  return success();
}

LogicalResult rmsnorm::lowerToLLVM(
    gpu::GPUModuleOp module,
    function_ref<void(LLVMTypeConverter &, RewritePatternSet &)> populate) {
  if (failed(prepareVectors(module)) || failed(lowerLoops(module)))
    return failure();
  MLIRContext *context = module.getContext();
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter converter(context, options);
  auto convert = [&](function_ref<void(RewritePatternSet &)> addPatterns,
                     function_ref<void(ConversionTarget &)> addIllegal) {
    RewritePatternSet patterns(context);
    addPatterns(patterns);
    ConversionTarget target(*context);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    addIllegal(target);
    return applyPartialConversion(module, target, std::move(patterns));
  };
  // Everything but gpu first: the targets' own patterns would turn some of
  // arith and math into calls of device libraries.
  if (failed(convert(
          [&](RewritePatternSet &patterns) {
            arith::populateArithToLLVMConversionPatterns(converter, patterns);
            cf::populateControlFlowToLLVMConversionPatterns(converter,
                                                            patterns);
            populateMathToLLVMConversionPatterns(converter, patterns);
            populateVectorToLLVMConversionPatterns(converter, patterns);
          },
          [](ConversionTarget &target) {
            target
                .addIllegalDialect<arith::ArithDialect, cf::ControlFlowDialect,
                                   math::MathDialect, vector::VectorDialect>();
          })))
    return failure();
  if (failed(convert(
          [&](RewritePatternSet &patterns) { populate(converter, patterns); },
          [](ConversionTarget &target) {
            target.addIllegalDialect<gpu::GPUDialect>();
            target.addLegalOp<gpu::GPUModuleOp>();
          })))
    return failure();
  // index is gone: its casts cancel.
  SmallVector<UnrealizedConversionCastOp> casts;
  module.walk([&](UnrealizedConversionCastOp op) { casts.push_back(op); });
  reconcileUnrealizedCasts(casts);
  return verifySelfContained(module);
}
