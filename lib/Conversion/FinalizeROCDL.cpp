// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FinalizeROCDL.cpp - rmsnorm-finalize-rocdl ------------------------===//

#include "DeviceModules.h"
#include "DeviceOps.h"
#include "ExpandFloat8.h"
#include "ExpandMath.h"
#include "Fragments.h"
#include "RMSNorm/Conversion/Passes.h"
#include "RMSNorm/Target/Instructions.h"
#include "WorkgroupMemory.h"

#include "mlir/Conversion/GPUToROCDL/GPUToROCDLPass.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/AMDGPU/Utils/Chipset.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/ROCDLDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Transforms/DialectConversion.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_FINALIZEROCDL
#include "RMSNorm/Conversion/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {

Value llvmConstantI32(ImplicitLocOpBuilder &b, int64_t value) {
  return LLVM::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// Base pointers hidden from the optimiser, so that a later segment's loads
/// are not merged with an earlier one's: one per base, segment and block.
class Launderer {
public:
  Value get(ImplicitLocOpBuilder &b, GlobalLoadOp op) {
    if (op.getSegment() == 0)
      return op.getBase();
    Value &pointer = pointers[{op.getBase(), op->getBlock(), op.getSegment()}];
    // Kernel arguments are scalar; anything else might differ by thread.
    const char *constraints =
        isa<BlockArgument>(op.getBase()) ? "=s,0" : "=v,0";
    if (!pointer)
      pointer = createAsm(b, op.getBase().getType(), op.getBase(), "",
                          constraints, /*sideEffects=*/false)
                    .getRes();
    return pointer;
  }

private:
  llvm::DenseMap<std::tuple<Value, Block *, int64_t>, Value> pointers;
};

void lowerLoad(GlobalLoadOp op, Launderer &launderer) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  AccessPlan plan(op.getType(), op.getAlignment());
  FragmentAddress address(b, launderer.get(b, op), op.getRow(), op.getColumn(),
                          op.getType().getElementType(), /*inBounds=*/true);
  Value zero;
  SmallVector<Value> pieces;
  for (int64_t i = 0; i < plan.count; ++i) {
    Value predicate;
    if (op.getValid())
      predicate = plan.predicate(b, op.getValid(), i);
    Value piece = LLVM::LoadOp::create(
        b, plan.piece, address.get(b, i * plan.bytes, predicate), plan.bytes,
        /*isVolatile=*/false,
        /*isNonTemporal=*/op.getPolicy() == CachePolicy::evict_first);
    if (predicate) {
      if (!zero)
        zero =
            arith::ConstantOp::create(b, plan.piece, b.getZeroAttr(plan.piece));
      piece = arith::SelectOp::create(b, predicate, piece, zero);
    }
    pieces.push_back(piece);
  }
  op.replaceAllUsesWith(plan.assemble(b, pieces));
  op.erase();
}

void lowerStore(GlobalStoreOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto type = cast<VectorType>(op.getValue().getType());
  AccessPlan plan(type, op.getAlignment());
  FragmentAddress address(b, op.getBase(), op.getRow(), op.getColumn(),
                          type.getElementType(), /*inBounds=*/!op.getValid());
  auto store = [&](ImplicitLocOpBuilder &b, int64_t i) {
    Value pointer = address.get(b, i * plan.bytes);
    LLVM::StoreOp::create(
        b, plan.extract(b, op.getValue(), i), pointer, plan.bytes,
        /*isVolatile=*/false,
        /*isNonTemporal=*/op.getPolicy() == CachePolicy::evict_first);
  };
  auto storeAll = [&](ImplicitLocOpBuilder &b) {
    for (int64_t i = 0; i < plan.count; ++i)
      store(b, i);
  };
  Value valid = op.getValid();
  if (!valid) {
    storeAll(b);
    op.erase();
    return;
  }
  // One branch where all elements are valid; only a row's last fragment takes
  // the other path, access by access.
  Value all = arith::CmpIOp::create(
      b, arith::CmpIPredicate::sgt, valid,
      llvmConstantI32(b, (plan.count - 1) * plan.elements()));
  auto branch = scf::IfOp::create(b, all, /*withElseRegion=*/plan.count > 1);
  auto inside =
      ImplicitLocOpBuilder::atBlockBegin(op.getLoc(), branch.thenBlock());
  storeAll(inside);
  if (plan.count > 1) {
    inside.setInsertionPointToStart(branch.elseBlock());
    for (int64_t i = 0; i + 1 < plan.count; ++i) {
      auto single =
          scf::IfOp::create(inside, plan.predicate(inside, valid, i), false);
      auto nested =
          ImplicitLocOpBuilder::atBlockBegin(op.getLoc(), single.thenBlock());
      store(nested, i);
    }
  }
  op.erase();
}

//===----------------------------------------------------------------------===//
// Between threads
//===----------------------------------------------------------------------===//

/// `value` of another thread of the same 16, through DPP.
Value createDpp(ImplicitLocOpBuilder &b, Value value, uint32_t control) {
  Value unused = LLVM::PoisonOp::create(b, value.getType());
  return ROCDL::DPPUpdateOp::create(b, value.getType(), unused, value, control,
                                    /*rowMask=*/0xf, /*bankMask=*/0xf,
                                    /*boundCtrl=*/true);
}

/// The exchange of step `step`: `value` of the thread whose number differs in
/// that bit. Below it the threads of each part hold equal values already, so
/// that any thread of the other half will do: mirrors, not exact exchanges.
Value createExchange(ImplicitLocOpBuilder &b, Value value, int64_t step,
                     bool hasPermlane) {
  constexpr uint32_t quadPermXor1 = 0xb1, quadPermXor2 = 0x4e;
  constexpr uint32_t rowMirror = 0x140, rowHalfMirror = 0x141;
  switch (step) {
  case 1:
    return createDpp(b, value, quadPermXor1);
  case 2:
    return createDpp(b, value, quadPermXor2);
  case 4:
    return createDpp(b, value, rowHalfMirror);
  case 8:
    return createDpp(b, value, rowMirror);
  }
  assert(step == 16 && "a step beyond is done by createWholeWave");
  Value bits = LLVM::BitcastOp::create(b, b.getI32Type(), value);
  if (hasPermlane) {
    // Thread i of a row reads thread i of the other row of its 32.
    Value low = llvmConstantI32(b, 0x76543210),
          high = llvmConstantI32(b, 0xfedcba98);
    bits = ROCDL::PermlaneX16Op::create(b, bits.getType(), bits, bits, low,
                                        high, /*fi=*/false,
                                        /*boundControl=*/true);
  } else {
    // Bit mode: and 0x1f, or 0, xor 0x10.
    bits = ROCDL::DsSwizzleOp::create(b, bits.getType(), bits,
                                      llvmConstantI32(b, 0x401f));
  }
  return LLVM::BitcastOp::create(b, value.getType(), bits);
}

/// The last two steps over all 64 threads, each 16 of which hold one value:
/// four scalar reads are cheaper than two trips through LDS.
Value createWholeWave(ImplicitLocOpBuilder &b, ReduceKind kind, Value value) {
  Value rows[4];
  for (int64_t i = 0; i < 4; ++i)
    rows[i] = ROCDL::ReadlaneOp::create(b, value.getType(), value,
                                        llvmConstantI32(b, 16 * i));
  // In an order that is not the compiler's to choose: it is in the kernel.
  Value upper = createCombine(b, kind, rows[2], rows[3]);
  Value lower = createCombine(b, kind, rows[0], rows[1]);
  return createCombine(b, kind, lower, upper);
}

LogicalResult lowerReduce(SubgroupReduceOp op, const ChipInfo &chip) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  int64_t width = op.getWidth();
  if (width > chip.subgroupSize)
    return op.emitError("expected a width up to the subgroup size ")
           << chip.subgroupSize << ", got " << width;
  bool wholeWave = width == 64;
  const bool hasPermlane = getInstructions(chip).hasPermlaneX16;
  Value value = op.getValue();
  for (int64_t step = 1; step < (wholeWave ? 16 : width); step *= 2)
    value = createCombine(b, op.getKind(), value,
                          createExchange(b, value, step, hasPermlane));
  if (wholeWave)
    value = createWholeWave(b, op.getKind(), value);
  op.replaceAllUsesWith(value);
  op.erase();
  return success();
}

void lowerBarrier(BarrierOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  // Ordering workgroup memory alone leaves global loads in flight.
  auto fence = [&](LLVM::AtomicOrdering ordering) {
    auto fence = LLVM::FenceOp::create(b, ordering, StringRef("workgroup"));
    fence->setDiscardableAttr(LLVM::LLVMDialect::getMmraAttrName(),
                              LLVM::MMRATagAttr::get(b.getContext(),
                                                     "amdgpu-synchronize-as",
                                                     "local"));
  };
  fence(LLVM::AtomicOrdering::release);
  ROCDL::SBarrierOp::create(b);
  fence(LLVM::AtomicOrdering::acquire);
  op.erase();
}

void lowerKeep(KeepOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  Value after = op.getAfter();
  if (isLoadedBits(after.getType())) {
    // LLVM orders loads as they are written.
    op.replaceAllUsesWith(op.getValue());
    op.erase();
    return;
  }
  SmallVector<Value> words = toWords(b, op.getValue());
  for (Value &word : words)
    word = createAsm(b, word.getType(), {word, after}, "", "=v,0,v", false)
               .getRes();
  op.replaceAllUsesWith(fromWords(b, words, cast<VectorType>(op.getType())));
  op.erase();
}

/// Blocks of the grid: the first hidden argument of a kernel. Upstream's
/// lowering calls a device library.
void lowerGridDim(gpu::GridDimOp op) {
  ImplicitLocOpBuilder b(op.getLoc(), op);
  auto constantSpace = LLVM::LLVMPointerType::get(b.getContext(), 4);
  Value hidden =
      createIntrinsic(b, constantSpace, "llvm.amdgcn.implicitarg.ptr", {});
  Value count = LLVM::LoadOp::create(b, b.getI32Type(), hidden, 4,
                                     /*isVolatile=*/false,
                                     /*isNonTemporal=*/false,
                                     /*isInvariant=*/true);
  op.replaceAllUsesWith(
      arith::IndexCastUIOp::create(b, b.getIndexType(), count).getResult());
  op.erase();
}

/// Upstream only says which size is required: the back end then still assumes
/// up to 256 threads, in registers and in the metadata drivers check.
void setBlockSizes(gpu::GPUModuleOp module) {
  for (auto function : module.getOps<LLVM::LLVMFuncOp>()) {
    auto size = function->getAttrOfType<DenseI32ArrayAttr>(
        gpu::GPUDialect::KnownBlockSizeAttrHelper(module.getContext())
            .getName());
    if (!size)
      continue;
    std::string threads = std::to_string(size[0]);
    function->setAttr(
        ROCDL::ROCDLDialect::FlatWorkGroupSizeAttrHelper(module.getContext())
            .getName(),
        StringAttr::get(module.getContext(), threads + "," + threads));
  }
}

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

// Their errors: LLVM's AMDGPU usage guide and the ISA manuals, 1 ulp each;
// fdiv.fast 2.5.
constexpr F32Intrinsics rocdlIntrinsics = {
    "llvm.amdgcn.rsq.f32", "llvm.amdgcn.exp2.f32", "llvm.amdgcn.rcp.f32",
    "llvm.amdgcn.fdiv.fast"};

struct FinalizeROCDL final : rmsnorm::impl::FinalizeROCDLBase<FinalizeROCDL> {
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, cf::ControlFlowDialect,
                    LLVM::LLVMDialect, math::MathDialect, ROCDL::ROCDLDialect,
                    scf::SCFDialect, ub::UBDialect, vector::VectorDialect>();
  }

  void runOnOperation() override {
    if (failed(finalizeModules(getOperation(), Backend::rocdl, getArgument(),
                               finalize)))
      signalPassFailure();
  }

  static LogicalResult finalize(gpu::GPUModuleOp module, const ChipInfo &chip) {
    FailureOr<amdgpu::Chipset> chipset = amdgpu::Chipset::parse(chip.name);
    if (failed(chipset))
      return module.emitError("expected an AMD chip, got '")
             << chip.name << "'";
    // All of them, as no AMD chip has clusters.
    if (failed(checkExchanges(module, chip)) ||
        failed(lowerFloat8(module, getFloat8Instructions(chip))))
      return failure();
    expandAllCopies(module);
    Launderer launderer;
    module.walk([&](GlobalLoadOp op) { lowerLoad(op, launderer); });
    module.walk([](GlobalStoreOp op) { lowerStore(op); });
    lowerWorkgroupAccesses(module, "v");
    module.walk([](BarrierOp op) { lowerBarrier(op); });
    // Kernels of a stream never overlap.
    module.walk([](Operation *op) {
      if (isa<LaunchDependentsOp, GridWaitOp>(op))
        op->erase();
    });
    module.walk([](gpu::GridDimOp op) {
      if (op.getDimension() == gpu::Dimension::x)
        lowerGridDim(op);
    });
    module.walk([](KeepOp op) { lowerKeep(op); });
    WalkResult walk = module.walk([&](SubgroupReduceOp op) -> WalkResult {
      return lowerReduce(op, chip);
    });
    if (walk.wasInterrupted())
      return failure();
    if (failed(expandMath(module, rocdlIntrinsics)))
      return failure();
    if (failed(lowerToLLVM(module, [&](LLVMTypeConverter &converter,
                                       RewritePatternSet &patterns) {
          populateGpuToROCDLConversionPatterns(
              converter, patterns, gpu::amd::Runtime::HIP, *chipset);
        })))
      return failure();
    setBlockSizes(module);
    return success();
  }
};

} // namespace
