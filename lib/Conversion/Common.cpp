// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Common.cpp - what the device finalizations share ------------------===//

#include "Common.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/Dialect/Vector/Transforms/VectorTransforms.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::rmsnorm;

//===----------------------------------------------------------------------===//
// Workgroup memory, reductions
//===----------------------------------------------------------------------===//

LLVM::GlobalOp rmsnorm::getWorkgroupBuffer(gpu::GPUModuleOp module) {
  constexpr llvm::StringLiteral name = "rmsnorm_workgroup";
  if (auto global = module.lookupSymbol<LLVM::GlobalOp>(name))
    return global;
  // External and of size 0: the launch says how large it is. A static buffer
  // would stop at 48 KB on NVIDIA chips; without an alignment vector accesses
  // would be split.
  OpBuilder b = OpBuilder::atBlockBegin(module.getBody());
  return LLVM::GlobalOp::create(
      b, module.getLoc(), LLVM::LLVMArrayType::get(b.getI8Type(), 0),
      /*isConstant=*/false, LLVM::Linkage::External, name, Attribute(),
      /*alignment=*/16, /*addrSpace=*/3);
}

Value rmsnorm::createWorkgroupAddress(ImplicitLocOpBuilder &b,
                                      gpu::GPUModuleOp module, Value offset) {
  Value base = LLVM::AddressOfOp::create(b, getWorkgroupBuffer(module));
  // A constant part becomes the immediate of the access.
  int64_t constant = peelConstant(offset);
  auto advance = [&](Value address, LLVM::GEPArg bytes) -> Value {
    return LLVM::GEPOp::create(b, base.getType(), b.getI8Type(), address,
                               ArrayRef<LLVM::GEPArg>{bytes},
                               LLVM::GEPNoWrapFlags::inbounds);
  };
  Value address = advance(base, offset);
  return constant ? advance(address, int32_t(constant)) : address;
}

/// `offset` behind an asm that does nothing, another one for each segment: the
/// optimiser does not see that segments load from the same place.
static Value hideOffset(ImplicitLocOpBuilder &b, Value offset, int64_t segment,
                        StringRef registerClass) {
  int64_t constant = peelConstant(offset);
  // A comment in the assembly of all targets.
  std::string text = "// segment " + std::to_string(segment);
  Value hidden =
      createAsm(b, offset.getType(), offset, text,
                ("=" + registerClass + ",0").str(), /*sideEffects=*/false)
          .getRes();
  if (constant == 0)
    return hidden;
  return arith::AddIOp::create(
      b, hidden, arith::ConstantOp::create(b, b.getI32IntegerAttr(constant)),
      arith::IntegerOverflowFlags::nuw);
}

void rmsnorm::lowerWorkgroupAccesses(gpu::GPUModuleOp module,
                                     StringRef registerClass) {
  // A fragment goes in accesses of up to 16 bytes, the alignment of the buffer.
  auto plan = [](Type type) -> std::optional<AccessPlan> {
    if (auto fragment = dyn_cast<VectorType>(type))
      return AccessPlan(fragment, 16);
    return std::nullopt;
  };
  auto advance = [](ImplicitLocOpBuilder &b, Value address, int64_t bytes) {
    if (bytes == 0)
      return address;
    return LLVM::GEPOp::create(b, address.getType(), b.getI8Type(), address,
                               ArrayRef<LLVM::GEPArg>{int32_t(bytes)},
                               LLVM::GEPNoWrapFlags::inbounds)
        .getResult();
  };
  module.walk([&](WorkgroupLoadOp op) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Value offset = op.getOffset();
    if (op.getSegment() > 0)
      offset = hideOffset(b, offset, op.getSegment(), registerClass);
    Value pointer = createWorkgroupAddress(b, module, offset);
    if (auto access = plan(op.getType())) {
      SmallVector<Value> pieces;
      for (int64_t i = 0; i < access->count; ++i)
        pieces.push_back(LLVM::LoadOp::create(
            b, access->piece, advance(b, pointer, i * access->bytes),
            access->bytes));
      op.replaceAllUsesWith(access->assemble(b, pieces));
    } else {
      op.replaceAllUsesWith(
          LLVM::LoadOp::create(b, op.getType(), pointer).getResult());
    }
    op.erase();
  });
  module.walk([&](WorkgroupStoreOp op) {
    ImplicitLocOpBuilder b(op.getLoc(), op);
    Value pointer = createWorkgroupAddress(b, module, op.getOffset());
    if (auto access = plan(op.getValue().getType()))
      for (int64_t i = 0; i < access->count; ++i)
        LLVM::StoreOp::create(b, access->extract(b, op.getValue(), i),
                              advance(b, pointer, i * access->bytes),
                              access->bytes);
    else
      LLVM::StoreOp::create(b, op.getValue(), pointer);
    op.erase();
  });
}

void rmsnorm::expandCopies(gpu::GPUModuleOp module,
                           function_ref<bool(AsyncCopyOp)> isPlain) {
  module.walk([&](AsyncCopyOp op) {
    if (!isPlain(op))
      return;
    OpBuilder b(op);
    Value loaded = GlobalLoadOp::create(
        b, op.getLoc(), op.getFragment(), op.getBase(), op.getRow(),
        op.getColumn(), op.getValid(), op.getAlignment());
    WorkgroupStoreOp::create(b, op.getLoc(), loaded, op.getOffset());
    op.erase();
  });
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

Value rmsnorm::createCombine(ImplicitLocOpBuilder &b, ReduceKind kind,
                             Value lhs, Value rhs) {
  switch (kind) {
  case ReduceKind::add:
    return arith::AddFOp::create(b, lhs, rhs);
  case ReduceKind::maximumf:
    return arith::MaximumFOp::create(b, lhs, rhs);
  case ReduceKind::minimumf:
    return arith::MinimumFOp::create(b, lhs, rhs);
  case ReduceKind::mul:
    return arith::MulFOp::create(b, lhs, rhs);
  }
  llvm_unreachable("all kinds handled");
}

LLVM::InlineAsmOp rmsnorm::createAsm(ImplicitLocOpBuilder &b, Type result,
                                     ValueRange operands, StringRef text,
                                     StringRef constraints, bool sideEffects) {
  return LLVM::InlineAsmOp::create(
      b, result ? TypeRange(result) : TypeRange(), operands, text, constraints,
      sideEffects, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None,
      LLVM::AsmDialectAttr::get(b.getContext(), LLVM::AsmDialect::AD_ATT),
      /*operand_attrs=*/ArrayAttr());
}

//===----------------------------------------------------------------------===//
// The rest
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

LogicalResult rmsnorm::checkDeviceCode(gpu::GPUModuleOp module) {
  WalkResult walk = module.walk([](Operation *op) -> WalkResult {
    if (!op->isRegistered())
      return op->emitError("no lowering for '")
             << op->getName() << "' in device code";
    for (Type type : op->getResultTypes())
      if (auto vector = dyn_cast<VectorType>(type))
        if (vector.getNumElements() > kMaxFragmentElements)
          return op->emitError("expected vectors of at most ")
                 << kMaxFragmentElements << " elements in device code, got "
                 << vector;
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

FailureOr<SmallVector<gpu::GPUModuleOp>>
rmsnorm::getDeviceModules(ModuleOp root, Backend backend, StringRef passName) {
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
  root.walk([&](gpu::GPUModuleOp module) { modules.push_back(module); });
  for (gpu::GPUModuleOp module : modules)
    if (failed(checkDeviceCode(module)))
      return failure();
  return modules;
}
