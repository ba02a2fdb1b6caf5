// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FinalizeSim.cpp - rmsnorm-finalize-sim ----------------------------===//

#include "DeviceModules.h"
#include "DeviceOps.h"
#include "ExpandFloat8.h"
#include "ExpandFunctions.h"
#include "RMSNorm/Conversion/Passes.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "SimBuilder.h"

#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/IndexToLLVM/IndexToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Conversion/UBToLLVM/UBToLLVM.h"
#include "mlir/Conversion/VectorToLLVM/ConvertVectorToLLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/LoweringPatterns.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_FINALIZESIM
#include "RMSNorm/Conversion/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

//===----------------------------------------------------------------------===//
// What a kernel may be
//===----------------------------------------------------------------------===//

/// The kernel argument that `pointer` is computed from; none if it comes from
/// elsewhere.
static std::optional<int32_t> traceToArgument(Value pointer,
                                              gpu::GPUFuncOp kernel) {
  while (auto element = pointer.getDefiningOp<LLVM::GEPOp>())
    pointer = element.getBase();
  auto argument = dyn_cast<BlockArgument>(pointer);
  if (!argument || argument.getOwner() != &kernel.getBody().front())
    return std::nullopt;
  return argument.getArgNumber();
}

static LogicalResult checkArgument(gpu::GPUFuncOp kernel, unsigned number) {
  Type type = kernel.getArgumentTypes()[number];
  if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(type))
    if (pointer.getAddressSpace() == 1)
      return success();
  if (type.isSignlessInteger() && type.getIntOrFloatBitWidth() <= 64)
    return success();
  if (type.isIndex() || type.isF32())
    return success();
  return kernel.emitError("expected kernel arguments of type !llvm.ptr<1>, "
                          "integer, index or f32, got ")
         << type << " for argument " << number;
}

/// Checks the assumptions of the conversion and marks each access with its
/// argument.
static LogicalResult checkKernel(gpu::GPUFuncOp kernel) {
  if (kernel.getNumResults() != 0)
    return kernel.emitError("expected a kernel without results");
  if (kernel.getNumWorkgroupAttributions() + kernel.getNumPrivateAttributions())
    return kernel.emitError("expected workgroup memory to be the launch's "
                            "dynamic one, got memory attributions");
  for (unsigned i = 0, e = kernel.getNumArguments(); i < e; ++i)
    if (failed(checkArgument(kernel, i)))
      return failure();
  WalkResult result = kernel.walk([&](Operation *op) -> WalkResult {
    Value base;
    if (auto load = dyn_cast<GlobalLoadOp>(op))
      base = load.getBase();
    else if (auto store = dyn_cast<GlobalStoreOp>(op))
      base = store.getBase();
    else if (auto copy = dyn_cast<AsyncCopyOp>(op))
      base = copy.getBase();
    if (base) {
      std::optional<int32_t> argument = traceToArgument(base, kernel);
      if (!argument)
        return op->emitOpError("expected a base pointer computed from a "
                               "kernel argument");
      op->setAttr(RMSNormDialect::kSimArgumentAttrName,
                  Builder(op->getContext()).getI32IntegerAttr(*argument));
    }
    std::optional<gpu::Dimension> dimension;
    if (auto id = dyn_cast<gpu::ThreadIdOp>(op))
      dimension = id.getDimension();
    else if (auto id = dyn_cast<gpu::BlockIdOp>(op))
      dimension = id.getDimension();
    else if (auto dim = dyn_cast<gpu::GridDimOp>(op))
      dimension = dim.getDimension();
    else if (auto dim = dyn_cast<gpu::BlockDimOp>(op))
      dimension = dim.getDimension();
    if (dimension && *dimension != gpu::Dimension::x)
      return op->emitOpError("expected dimension x, got ")
             << stringifyDimension(*dimension) << ": kernels are 1-D";
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// Conversions of bf16
//===----------------------------------------------------------------------===//

/// Makes conversions of vectors from and to bf16, up to ten instructions each
/// on integers, calls of a function for each type of vector. LLVM selects those
/// instructions once then, and inlines them when it optimises.
static void outlineBF16Conversions(gpu::GPUModuleOp module) {
  auto create = [&](OpBuilder &builder, Value value, Type type) -> Value {
    if (value.getType() == type)
      return value;
    return arith::BitcastOp::create(builder, value.getLoc(), type, value);
  };
  // As LLVM has it.
  auto getStored = [](Type type) -> Type {
    if (!getElementTypeOrSelf(type).isBF16())
      return type;
    return cast<VectorType>(type).cloneWith(
        std::nullopt, IntegerType::get(type.getContext(), 16));
  };
  SymbolTable symbols(module);
  auto outline = [&](Operation *op, VectorType from, VectorType to) {
    if (from.getRank() != 1 ||
        !(from.getElementType().isBF16() || to.getElementType().isBF16()))
      return;
    std::string name = ("rmsnorm." + op->getName().stripDialect() + "_" +
                        Twine(from.getElementTypeBitWidth()) + "_" +
                        Twine(to.getElementTypeBitWidth()) + "_" +
                        Twine(from.getNumElements()))
                           .str();
    auto function = symbols.lookup<LLVM::LLVMFuncOp>(name);
    if (!function) {
      auto builder = OpBuilder::atBlockBegin(module.getBody());
      function = LLVM::LLVMFuncOp::create(
          builder, module.getLoc(), name,
          LLVM::LLVMFunctionType::get(getStored(to), getStored(from)),
          LLVM::Linkage::Internal);
      symbols.insert(function);
      builder.setInsertionPointToStart(function.addEntryBlock(builder));
      Value argument = create(builder, function.getArgument(0), from);
      Operation *inside = builder.clone(*op);
      inside->setOperand(0, argument);
      LLVM::ReturnOp::create(
          builder, module.getLoc(),
          create(builder, inside->getResult(0), getStored(to)));
    }
    OpBuilder builder(op);
    auto call = LLVM::CallOp::create(
        builder, op->getLoc(), function,
        create(builder, op->getOperand(0), getStored(from)));
    op->getResult(0).replaceAllUsesWith(create(builder, call.getResult(), to));
    op->erase();
  };
  for (auto kernel : module.getOps<gpu::GPUFuncOp>())
    kernel.walk([&](Operation *op) {
      auto truncation = dyn_cast<arith::TruncFOp>(op);
      if (!isa<arith::ExtFOp>(op) &&
          (!truncation || truncation.getRoundingmode()))
        return;
      if (auto to = dyn_cast<VectorType>(op->getResult(0).getType()))
        outline(op, cast<VectorType>(op->getOperand(0).getType()), to);
    });
}

//===----------------------------------------------------------------------===//
// Divisions of integers
//===----------------------------------------------------------------------===//

/// What a division of integers gives where it is undefined is any number, and
/// GPUs go on; CPUs trap. Divides by 1 there.
static void guardDivisions(gpu::GPUModuleOp module) {
  module.walk([](Operation *op) {
    const bool isSigned = isa<arith::DivSIOp, arith::RemSIOp>(op);
    if (!isSigned && !isa<arith::DivUIOp, arith::RemUIOp>(op))
      return;
    Value divisor = op->getOperand(1);
    APInt known;
    if (matchPattern(divisor, m_ConstantInt(&known)) && !known.isZero() &&
        !known.isAllOnes())
      return;
    ImplicitLocOpBuilder b(op->getLoc(), op);
    Type type = divisor.getType();
    auto is = [&](Value value, APInt number) -> Value {
      TypedAttr attribute =
          b.getIntegerAttr(getElementTypeOrSelf(type), number);
      if (auto vector = dyn_cast<VectorType>(type))
        attribute = SplatElementsAttr::get(vector, attribute);
      return arith::CmpIOp::create(
          b, arith::CmpIPredicate::eq, value,
          arith::ConstantOp::create(b, type, attribute));
    };
    const unsigned width =
        getElementTypeOrSelf(type).isIndex()
            ? IndexType::kInternalStorageBitWidth
            : getElementTypeOrSelf(type).getIntOrFloatBitWidth();
    Value isUndefined = is(divisor, APInt::getZero(width));
    if (isSigned) {
      Value overflows = arith::AndIOp::create(
          b, is(op->getOperand(0), APInt::getSignedMinValue(width)),
          is(divisor, APInt::getAllOnes(width)));
      isUndefined = arith::OrIOp::create(b, isUndefined, overflows);
    }
    TypedAttr one = b.getOneAttr(type);
    op->setOperand(1, arith::SelectOp::create(b, isUndefined,
                                              arith::ConstantOp::create(b, one),
                                              divisor));
  });
}

//===----------------------------------------------------------------------===//
// The coroutine around a kernel's body
//===----------------------------------------------------------------------===//

/// The value of a kernel argument, from its slot.
static Value loadArgument(OpBuilder &builder, Location loc, Value arguments,
                          unsigned number, Type type) {
  Value slot =
      createByteOffset(builder, loc, arguments, number * sizeof(uint64_t));
  Type loaded = type.isIndex() ? builder.getI64Type() : type;
  Value value = LLVM::LoadOp::create(builder, loc, loaded, slot);
  if (type.isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  return value;
}

/// Replaces `kernel` by an llvm.func that makes the coroutine and, resumed,
/// loads the arguments and continues with the kernel's body.
static LLVM::LLVMFuncOp createCoroutine(gpu::GPUFuncOp kernel,
                                        SimKernels &kernels) {
  OpBuilder builder(kernel);
  Location loc = kernel.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto function = LLVM::LLVMFuncOp::create(
      builder, loc, kernel.getName(),
      LLVM::LLVMFunctionType::get(pointer, {pointer, pointer}));
  // Without no-builtins LLVM turns loops into calls of memset and memcpy.
  function.setPassthroughAttr(
      builder.getStrArrayAttr({"presplitcoroutine", "no-builtins"}));
  function.setNoUnwind(true);
  // gpu.launch_func demands this attribute of the function that it names.
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());

  Region &body = function.getBody();
  body.takeBody(kernel.getBody());
  Block *start = &body.front();
  Block *entry =
      builder.createBlock(&body, body.begin(), {pointer, pointer}, {loc, loc});
  SimKernel &sim = kernels[function];
  sim.launch = entry->getArgument(0);
  sim.thread = entry->getArgument(1);
  sim.exit = builder.createBlock(&body, body.end());

  builder.setInsertionPointToEnd(entry);
  // The table's allocator returns memory for any vector type, so the frame
  // needs no alignment at run time.
  Value align = LLVM::ConstantOp::create(builder, loc, builder.getI32Type(),
                                         builder.getI32IntegerAttr(64));
  Value null = LLVM::ZeroOp::create(builder, loc, pointer);
  Value id = LLVM::CoroIdOp::create(
      builder, loc, LLVM::LLVMTokenType::get(builder.getContext()),
      ValueRange{align, null, null, null});
  Value size = LLVM::CoroSizeOp::create(builder, loc, builder.getI64Type());
  SimBuilder b{builder, loc, sim};
  sim.table = b.load(pointer, sim.launch, offsetof(rmsnorm_sim_launch, table));
  Value memory = b.callTable(offsetof(rmsnorm_sim_table, allocate_frame),
                             pointer, {sim.thread, size})
                     .getResult();
  Value handle =
      LLVM::CoroBeginOp::create(builder, loc, pointer, ValueRange{id, memory});
  // If the ops before the first wait were part of the start, they would be
  // there twice: in the loop over the tiles they also come after the last wait.
  Block *begin = builder.createBlock(start);
  builder.setInsertionPointToEnd(entry);
  b.suspend(begin);
  builder.setInsertionPointToEnd(begin);
  Value arguments =
      b.load(pointer, sim.launch, offsetof(rmsnorm_sim_launch, arguments));
  for (auto [i, argument] : llvm::enumerate(start->getArguments()))
    argument.replaceAllUsesWith(
        loadArgument(builder, loc, arguments, i, argument.getType()));
  start->eraseArguments(0, start->getNumArguments());
  LLVM::BrOp::create(builder, loc, ValueRange{}, start);

  builder.setInsertionPointToEnd(sim.exit);
  Value no = LLVM::ConstantOp::create(builder, loc, builder.getI1Type(),
                                      builder.getBoolAttr(false));
  Value none = LLVM::NoneTokenOp::create(builder, loc);
  LLVM::CoroEndOp::create(builder, loc, builder.getI1Type(),
                          ValueRange{handle, no, none});
  LLVM::ReturnOp::create(builder, loc, handle);

  kernel.erase();
  return function;
}

/// Lets the runtime refuse code made for other layouts.
static void createABIVersion(gpu::GPUModuleOp module) {
  auto builder = OpBuilder::atBlockBegin(module.getBody());
  LLVM::GlobalOp::create(builder, module.getLoc(), builder.getI32Type(),
                         /*isConstant=*/true, LLVM::Linkage::External,
                         RMSNORM_SIM_ABI_SYMBOL,
                         builder.getI32IntegerAttr(RMSNORM_SIM_ABI_VERSION));
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

namespace {
struct FinalizeSim final : rmsnorm::impl::FinalizeSimBase<FinalizeSim> {
  using FinalizeSimBase::FinalizeSimBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<RMSNormDialect, arith::ArithDialect, cf::ControlFlowDialect,
                    LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect,
                    vector::VectorDialect>();
  }

  void runOnOperation() override {
    TargetAttr target = TargetAttr::lookup(getOperation());
    if (target && target.getBackend() != Backend::sim) {
      getOperation().emitError("rmsnorm-finalize-sim: expected a sim target, "
                               "got '")
          << target.getSpelling() << "'";
      return signalPassFailure();
    }
    WalkResult walk =
        getOperation().walk([&](gpu::GPUModuleOp module) -> WalkResult {
          return getKernelTarget(module) ? finalize(module) : success();
        });
    if (walk.wasInterrupted())
      signalPassFailure();
  }

private:
  LogicalResult finalize(gpu::GPUModuleOp module);
  LogicalResult simplify(gpu::GPUModuleOp module);
  LogicalResult convertToLLVM(gpu::GPUModuleOp module, SimKernels &kernels);
};
} // namespace

LogicalResult FinalizeSim::finalize(gpu::GPUModuleOp module) {
  if (failed(prepareDeviceCode(module)))
    return failure();
  for (Operation &op : *module.getBody()) {
    auto kernel = dyn_cast<gpu::GPUFuncOp>(op);
    if (!kernel)
      return op.emitError("expected only gpu.func in a gpu.module, got ")
             << op.getName();
    if (failed(checkKernel(kernel)))
      return failure();
  }
  if (failed(simplify(module)))
    return failure();
  SimKernels kernels;
  for (auto kernel :
       llvm::make_early_inc_range(module.getOps<gpu::GPUFuncOp>()))
    createCoroutine(kernel, kernels);
  if (failed(convertToLLVM(module, kernels)))
    return failure();
  createABIVersion(module);
  return success();
}

/// Reduces the kernels to ops that have a direct translation: no structured
/// control flow, no arithmetic on narrow floats, no bf16 conversions.
LogicalResult FinalizeSim::simplify(gpu::GPUModuleOp module) {
  if (failed(lowerFloat8(module, /*instructions=*/std::nullopt)))
    return failure();
  widenPairs(module);
  if (failed(expandFunctions(module)))
    return failure();
  guardDivisions(module);
  OpPassManager narrow(module->getName());
  narrow.addPass(math::createMathExtendToSupportedTypes());
  if (failed(runPipeline(narrow, module)) ||
      failed(computeInF32(module, BFloat16Type::get(&getContext()))))
    return failure();
  outlineBF16Conversions(module);

  RewritePatternSet expand(&getContext());
  arith::populateExpandBFloat16Patterns(expand);
  vector::populateVectorBitCastLoweringPatterns(expand);
  vector::populateVectorBroadcastLoweringPatterns(expand);
  vector::populateVectorShapeCastLoweringPatterns(expand);
  vector::populateVectorStepLoweringPatterns(expand);
  vector::populateVectorInsertExtractStridedSliceTransforms(expand);
  // Keeps the kernel's blocks as they are.
  GreedyRewriteConfig config;
  config.setRegionSimplificationLevel(GreedySimplifyRegionLevel::Disabled);
  if (failed(applyPatternsGreedily(module, std::move(expand), config)))
    return module.emitError("expected the expansion of bf16 and vector ops to "
                            "end");

  RewritePatternSet flatten(&getContext());
  populateSCFToControlFlowConversionPatterns(flatten);
  ConversionTarget flat(getContext());
  flat.addIllegalDialect<scf::SCFDialect>();
  flat.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
  return applyPartialConversion(module, flat, std::move(flatten));
}

LogicalResult FinalizeSim::convertToLLVM(gpu::GPUModuleOp module,
                                         SimKernels &kernels) {
  LowerToLLVMOptions options(&getContext());
  options.overrideIndexBitwidth(64);
  LLVMTypeConverter converter(&getContext(), options);
  Type i16 = IntegerType::get(&getContext(), 16);
  converter.addConversion([=](BFloat16Type) { return i16; });
  converter.addConversion([&](VectorType type) -> std::optional<Type> {
    if (!type.getElementType().isBF16())
      return std::nullopt;
    return converter.convertType(type.cloneWith(std::nullopt, i16));
  });

  RewritePatternSet patterns(&getContext());
  populateSimPatterns(converter, kernels, patterns);
  arith::populateArithToLLVMConversionPatterns(converter, patterns);
  cf::populateControlFlowToLLVMConversionPatterns(converter, patterns);
  index::populateIndexToLLVMConversionPatterns(converter, patterns);
  populateMathToLLVMConversionPatterns(converter, patterns);
  populateVectorToLLVMConversionPatterns(converter, patterns);
  ub::populateUBToLLVMConversionPatterns(converter, patterns);

  LLVMConversionTarget target(getContext());
  target.addLegalOp<gpu::GPUModuleOp>();
  return applyFullConversion(module, target, std::move(patterns));
}
