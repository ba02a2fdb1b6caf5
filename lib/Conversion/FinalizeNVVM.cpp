// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FinalizeNVVM.cpp - rmsnorm-finalize-nvvm --------------------------===//

#include "DeviceModules.h"
#include "DeviceOps.h"
#include "ExpandFloat8.h"
#include "ExpandMath.h"
#include "Fragments.h"
#include "NVVM.h"
#include "RMSNorm/Conversion/Passes.h"
#include "WorkgroupMemory.h"

#include "mlir/Conversion/GPUToNVVM/GPUToNVVMPass.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_FINALIZENVVM
#include "RMSNorm/Conversion/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {

//===----------------------------------------------------------------------===//
// Between threads
//===----------------------------------------------------------------------===//

LogicalResult lowerReduce(SubgroupReduceOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  int64_t width = op.getWidth();
  if (width > 32)
    return op.emitError("expected a width up to the subgroup size 32, got ")
           << width;
  auto constant = [&](int32_t value) -> Value {
    return LLVM::ConstantOp::create(b, b.getI32IntegerAttr(value));
  };
  // A block of less than a subgroup: name the threads there are.
  int64_t threads = 32;
  if (auto size = op->getParentOfType<gpu::GPUFuncOp>().getKnownBlockSize())
    threads = std::min<int64_t>(threads, size->front());
  Value mask = constant(static_cast<int32_t>((uint64_t(1) << threads) - 1));
  Value clamp = constant(31);
  Value value = op.getValue();
  for (int64_t step = 1; step < width; step *= 2) {
    Value other = NVVM::ShflOp::create(
        b, value.getType(), mask, value, constant(step), clamp,
        NVVM::ShflKindAttr::get(b.getContext(), NVVM::ShflKind::bfly),
        /*return_value_and_is_valid=*/UnitAttr());
    value = createCombine(b, op.getKind(), value, other);
  }
  op.replaceAllUsesWith(value);
  op.erase();
  return success();
}

/// The intrinsics are said not to touch memory, so that LLVM could move a load
/// above the wait; an asm that clobbers memory is passed by none.
void lowerGridDependency(Operation *op, StringRef text) {
  ImplicitLocOpBuilder b(op->getLoc(), op);
  createAsm(b, Type(), {}, text, "~{memory}", /*sideEffects=*/true);
  op->erase();
}

//===----------------------------------------------------------------------===//
// Keep
//===----------------------------------------------------------------------===//

/// A zero that only the hardware knows: grids are one-dimensional.
Value createRunTimeZero(ImplicitLocOpBuilder &b) {
  return createAsm(b, b.getI32Type(), {}, "mov.u32 $0, %ctaid.z;", "=r",
                   /*sideEffects=*/false)
      .getRes();
}

/// Up to this many registers a thread ptxas sees through an empty asm, keeps
/// the extensions to f32 alive and spills, as seen in its output: it needs an
/// instruction, an xor with a zero it cannot know. Above, the empty asm is free
/// and suffices, except in persistent blocks: beside the sums over rows they
/// carry, 128 registers spilt 72 bytes (backward, rows of 1024 bf16).
constexpr int64_t kTightRegisters = 64;

void lowerKeep(KeepOp op, Value runTimeZero) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<VectorType>(op.getType());
  Value after = op.getAfter();
  if (isLoadedBits(after.getType())) {
    // For ptxas this is an instruction that needs both.
    SmallVector<Value> words = toWords(b, op.getValue());
    Value none =
        arith::AndIOp::create(b, toWords(b, after).front(), runTimeZero);
    words.front() = arith::XOrIOp::create(b, words.front(), none);
    op.replaceAllUsesWith(fromWords(b, words, type));
    op.erase();
    return;
  }
  const char *constraint = after.getType().isF32() ? "f" : "r";
  SmallVector<Value> words = toWords(b, op.getValue());
  for (Value &word : words) {
    word = createAsm(b, word.getType(), {word, after}, "",
                     std::string("=r,0,") + constraint, false)
               .getRes();
    if (runTimeZero)
      word = arith::XOrIOp::create(b, word, runTimeZero);
  }
  op.replaceAllUsesWith(fromWords(b, words, type));
  op.erase();
}

void lowerKeeps(gpu::GPUFuncOp function, int64_t registers) {
  int64_t threads = 1024;
  if (auto size = function.getKnownBlockSize())
    threads = size->front();
  Value zero;
  function.walk([&](KeepOp op) {
    const bool isTight =
        function->hasAttr(RMSNormDialect::kMinBlocksAttrName) ||
        registers / threads <= kTightRegisters;
    const bool needsZero = isTight || isLoadedBits(op.getAfter().getType());
    if (!zero && needsZero) {
      auto b = ImplicitLocOpBuilder::atBlockBegin(op.getLoc(),
                                                  &function.getBody().front());
      zero = createRunTimeZero(b);
    }
    lowerKeep(op, needsZero ? zero : Value());
  });
}

/// Whether low bits of `value`, an integer or a vector of them, may be those of
/// a number in f32. A shift to the right stays an integer instruction. Of other
/// integer operations LLVM may find that they change higher bits only.
bool mayBeBitsOfF32(Value value) {
  SetVector<Value> values;
  values.insert(value);
  for (size_t i = 0; i < values.size(); ++i) {
    Operation *op = values[i].getDefiningOp();
    if (getElementTypeOrSelf(values[i]).isF32())
      return true;
    if (isa_and_present<LLVM::AddOp, LLVM::AndOp, LLVM::BitcastOp,
                        LLVM::ExtractElementOp, LLVM::InsertElementOp,
                        LLVM::OrOp, LLVM::SelectOp, LLVM::ShlOp,
                        LLVM::ShuffleVectorOp, LLVM::SubOp, LLVM::TruncOp,
                        LLVM::XOrOp, LLVM::ZExtOp>(op))
      values.insert_range(op->getOperands());
  }
  return false;
}

/// Stores bits of numbers in f32 out of 16-bit registers where they are 1 or 2
/// bytes. LLVM stores the low bits of the 32-bit register as soon as it sees
/// that the others are cut off. If an instruction on f32 wrote that register,
/// ptxas 13.0 converts the number to u8 or u16, and saturates, where PTX says
/// that bits are stored. LLVM sees no bits through an asm.
void narrowStoredRegisters(gpu::GPUModuleOp module) {
  module.walk([](LLVM::StoreOp store) {
    Value value = store.getValue();
    auto vector = dyn_cast<VectorType>(value.getType());
    if (!getElementTypeOrSelf(value).isIntOrFloat())
      return;
    const int64_t bits = (vector ? vector.getNumElements() : 1) *
                         getElementTypeOrSelf(value).getIntOrFloatBitWidth();
    if ((bits != 8 && bits != 16) || !mayBeBitsOfF32(value))
      return;
    ImplicitLocOpBuilder b(store.getLoc(), store);
    Type integer = b.getIntegerType(bits);
    if (value.getType() != integer)
      value = LLVM::BitcastOp::create(b, integer, value);
    value = createAsm(b, integer, value, "mov.b16 $0, $1;", "=h,h",
                      /*sideEffects=*/false)
                .getRes();
    store.getValueMutable().assign(value);
  });
}

/// The block size is known, not just bounded.
void requireBlockSizes(gpu::GPUModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    if (auto blocks = function->getAttrOfType<IntegerAttr>(
            RMSNormDialect::kMinBlocksAttrName))
      function->setAttr(NVVM::NVVMDialect::getMinctasmAttrName(),
                        OpBuilder(function).getI32IntegerAttr(blocks.getInt()));
    if (Attribute size =
            function->removeAttr(NVVM::NVVMDialect::getMaxntidAttrName()))
      function->setAttr(NVVM::NVVMDialect::getReqntidAttrName(), size);
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

// Their errors: PTX ISA, "Floating Point Instructions".
constexpr F32Intrinsics nvvmIntrinsics = {
    "llvm.nvvm.rsqrt.approx.f", "llvm.nvvm.ex2.approx.ftz.f32",
    "llvm.nvvm.rcp.approx.ftz.f", "llvm.nvvm.div.full"};

struct FinalizeNVVM final : rmsnorm::impl::FinalizeNVVMBase<FinalizeNVVM> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                    LLVM::LLVMDialect, math::MathDialect, NVVM::NVVMDialect,
                    scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    if (failed(finalizeModules(getOperation(), Backend::nvvm, getArgument(),
                               finalize)))
      signalPassFailure();
  }

  static LogicalResult finalize(gpu::GPUModuleOp module, const ChipInfo &chip) {
    if (failed(checkExchanges(module, chip)) ||
        failed(lowerFloat8(module, getFloat8Instructions(chip))))
      return failure();
    lowerGlobalMemoryToPTX(module, chip);
    lowerExchangesToMBarriers(module);
    lowerWorkgroupAccesses(module, "r");
    module.walk([](BarrierOp op) {
      OpBuilder b(op);
      NVVM::BarrierOp::create(b, op.getLoc());
      op.erase();
    });
    module.walk([](Operation *op) {
      if (isa<LaunchDependentsOp>(op))
        lowerGridDependency(op, "griddepcontrol.launch_dependents;");
      else if (isa<GridWaitOp>(op))
        lowerGridDependency(op, "griddepcontrol.wait;");
    });
    WalkResult walk = module.walk(
        [](SubgroupReduceOp op) -> WalkResult { return lowerReduce(op); });
    if (walk.wasInterrupted())
      return failure();
    for (auto function : module.getOps<gpu::GPUFuncOp>())
      lowerKeeps(function, chip.registersPerMultiprocessor);
    if (failed(expandMath(module, nvvmIntrinsics)))
      return failure();
    widenPairs(module);
    if (failed(lowerToLLVM(module, [](LLVMTypeConverter &converter,
                                      RewritePatternSet &patterns) {
          configureGpuToNVVMTypeConverter(converter);
          populateGpuToNVVMConversionPatterns(converter, patterns);
        })))
      return failure();
    narrowStoredRegisters(module);
    requireBlockSizes(module);
    return success();
  }
};

} // namespace
