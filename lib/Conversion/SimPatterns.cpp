// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimPatterns.cpp - thread-level ops in a simulated kernel ----------===//

#include "SimPatterns.h"

#include "RMSNorm/IR/RMSNorm.h"
#include "SimABI.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static_assert(RMSNORM_SIM_ADD == int(ReduceKind::add) &&
                  RMSNORM_SIM_MAXIMUMF == int(ReduceKind::maximumf) &&
                  RMSNORM_SIM_MINIMUMF == int(ReduceKind::minimumf) &&
                  RMSNORM_SIM_MUL == int(ReduceKind::mul),
              "the scheduler reads the dialect's numbers");

Value rmsnorm::createByteOffset(OpBuilder &builder, Location loc, Value pointer,
                                int64_t offset) {
  if (offset == 0)
    return pointer;
  return LLVM::GEPOp::create(builder, loc, pointer.getType(),
                             builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

//===----------------------------------------------------------------------===//
// Building blocks
//===----------------------------------------------------------------------===//

namespace {
/// Creates LLVM dialect ops at one place of a kernel.
struct SimBuilder {
  OpBuilder &builder;
  Location loc;
  const SimKernel &kernel;
  Type i1 = builder.getI1Type();
  Type i32 = builder.getI32Type();
  Type i64 = builder.getI64Type();
  Type pointer = LLVM::LLVMPointerType::get(builder.getContext());

  Value constant(Type type, int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, type,
                                    builder.getIntegerAttr(type, value));
  }
  Value load(Type type, Value base, int64_t offset) {
    return LLVM::LoadOp::create(builder, loc, type,
                                createByteOffset(builder, loc, base, offset));
  }
  void store(Value value, Value base, int64_t offset) {
    LLVM::StoreOp::create(builder, loc, value,
                          createByteOffset(builder, loc, base, offset));
  }
  Value add(Value a, Value b) {
    return LLVM::AddOp::create(builder, loc, a, b);
  }
  Value sub(Value a, Value b) {
    return LLVM::SubOp::create(builder, loc, a, b);
  }
  Value mul(Value a, int64_t b) {
    return LLVM::MulOp::create(builder, loc, a, constant(a.getType(), b));
  }
  Value bitAnd(Value a, Value b) {
    return LLVM::AndOp::create(builder, loc, a, b);
  }
  Value bitOr(Value a, Value b) {
    return LLVM::OrOp::create(builder, loc, a, b);
  }
  Value compare(LLVM::ICmpPredicate predicate, Value a, Value b) {
    return LLVM::ICmpOp::create(builder, loc, predicate, a, b);
  }
  Value isZero(Value a) {
    return compare(LLVM::ICmpPredicate::eq, a, constant(a.getType(), 0));
  }

  /// Calls the function at `offset` of the launch's table.
  LLVM::CallOp callTable(int64_t offset, Type result, ValueRange operands) {
    Value table =
        load(pointer, kernel.launch, offsetof(rmsnorm_sim_launch, table));
    SmallVector<Value> all{load(pointer, table, offset)};
    llvm::append_range(all, operands);
    auto type = LLVM::LLVMFunctionType::get(
        result, llvm::to_vector(operands.getTypes()));
    return LLVM::CallOp::create(builder, loc, type, all);
  }

  /// Ends the block and the thread.
  void exit(int32_t wait) {
    store(constant(i32, wait), kernel.thread,
          offsetof(rmsnorm_sim_thread, wait));
    LLVM::BrOp::create(builder, loc, ValueRange{}, kernel.exit);
  }

  /// Ends the block: hands control to the scheduler and goes on at `resume`
  /// when it gives it back.
  void suspend(int32_t wait, int32_t site, Block *resume) {
    store(constant(i32, wait), kernel.thread,
          offsetof(rmsnorm_sim_thread, wait));
    store(constant(i32, site), kernel.thread,
          offsetof(rmsnorm_sim_thread, site));
    Value none = LLVM::NoneTokenOp::create(builder, loc);
    Value next = LLVM::CoroSuspendOp::create(
        builder, loc, builder.getI8Type(),
        ValueRange{none, LLVM::ConstantOp::create(builder, loc, i1,
                                                  builder.getBoolAttr(false))});
    // 0: resumed. 1: destroyed, which never happens. Else: suspended now.
    LLVM::SwitchOp::create(builder, loc, next, kernel.exit, ValueRange{},
                           ArrayRef<APInt>{APInt(8, 0), APInt(8, 1)},
                           BlockRange{resume, kernel.exit},
                           ArrayRef<ValueRange>{ValueRange{}, ValueRange{}});
  }
};

template <typename Op> struct SimPattern : ConvertOpToLLVMPattern<Op> {
  SimPattern(const LLVMTypeConverter &converter, SimKernels &kernels)
      : ConvertOpToLLVMPattern<Op>(converter, /*benefit=*/10),
        kernels(kernels) {}

  /// The coroutine `op` is in, or null.
  SimKernel *getKernel(Operation *op) const {
    auto it = kernels.find(op->getParentOfType<LLVM::LLVMFuncOp>());
    return it == kernels.end() ? nullptr : &it->second;
  }

  SimKernels &kernels;
};

//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// Where a global_load or global_store goes, after its checks.
struct CheckedAccess {
  /// The first element, a pointer of the default address space.
  Value address;
  /// The number of valid elements, 0 to V; null: all.
  Value valid;
};

/// Emits the checks of an access. On return the builder stands in a new block,
/// reached if they pass, that ends before `op`.
template <typename Op, typename Adaptor>
CheckedAccess createChecks(Op op, Adaptor adaptor, VectorType fragment,
                           SimKernel &kernel,
                           ConversionPatternRewriter &rewriter) {
  constexpr bool isStore = std::is_same_v<Op, GlobalStoreOp>;
  SimBuilder b{rewriter, op.getLoc(), kernel};
  using Predicate = LLVM::ICmpPredicate;
  Location loc = op.getLoc();
  int64_t elementBytes = fragment.getElementTypeBitWidth() / 8;
  int64_t count = fragment.getNumElements();
  int64_t alignment = op.getAlignment();
  auto argument = op->template getAttrOfType<IntegerAttr>(kSimArgumentAttrName);

  Value base =
      LLVM::PtrToIntOp::create(rewriter, loc, b.i64, adaptor.getBase());
  Value column =
      LLVM::SExtOp::create(rewriter, loc, b.i64, adaptor.getColumn());
  Value rowAddress = b.add(base, b.mul(adaptor.getRow(), elementBytes));
  Value address = b.add(rowAddress, b.mul(column, elementBytes));

  Value valid, bytes;
  if (adaptor.getValid()) {
    Value zero = b.constant(b.i32, 0);
    Value most = b.constant(b.i32, count);
    valid = LLVM::SMaxOp::create(rewriter, loc, adaptor.getValid(), zero);
    valid = LLVM::SMinOp::create(rewriter, loc, valid, most);
    bytes =
        b.mul(LLVM::ZExtOp::create(rewriter, loc, b.i64, valid), elementBytes);
  } else {
    bytes = b.constant(b.i64, count * elementBytes);
  }

  Value arguments =
      b.load(b.pointer, kernel.launch, offsetof(rmsnorm_sim_launch, arguments));
  int64_t descriptor = argument.getInt() * sizeof(rmsnorm_sim_argument);
  Value begin = b.load(b.i64, arguments,
                       descriptor + offsetof(rmsnorm_sim_argument, begin));
  Value size =
      b.load(b.i64, arguments,
             descriptor + (isStore ? offsetof(rmsnorm_sim_argument, writable)
                                   : offsetof(rmsnorm_sim_argument, readable)));
  // Unsigned, in two steps, so that no sum or difference wraps.
  auto inBounds = [&](Value first, Value length) {
    Value fits = b.compare(Predicate::ule, length, size);
    Value from = b.sub(first, begin);
    Value last = b.sub(size, length);
    Value inside = b.compare(Predicate::ule, from, last);
    return b.bitAnd(fits, inside);
  };
  Value ok = inBounds(address, bytes);
  Value lowBits = b.constant(b.i64, alignment - 1);
  Value misaligned = b.bitAnd(b.bitOr(address, bytes), lowBits);
  ok = b.bitAnd(ok, b.isZero(misaligned));
  bool hasFallback = valid && !isStore;
  if (valid)
    ok = b.bitOr(ok, b.isZero(bytes));
  if (hasFallback)
    ok = b.bitAnd(ok, inBounds(rowAddress, b.constant(b.i64, alignment)));

  Block *checks = rewriter.getInsertionBlock();
  Block *access = rewriter.splitBlock(checks, op->getIterator());
  Block *fault = rewriter.createBlock(access);
  int32_t flags = (isStore ? RMSNORM_SIM_STORE : 0) |
                  (hasFallback ? RMSNORM_SIM_HAS_FALLBACK : 0);
  b.callTable(offsetof(rmsnorm_sim_table, global_fault),
              LLVM::LLVMVoidType::get(rewriter.getContext()),
              {kernel.thread, b.constant(b.i32, argument.getInt()), address,
               bytes, rowAddress, b.constant(b.i32, alignment),
               b.constant(b.i32, flags)});
  b.exit(RMSNORM_SIM_FAILED);
  rewriter.setInsertionPointToEnd(checks);
  LLVM::CondBrOp::create(rewriter, loc, ok, access, fault);
  rewriter.setInsertionPointToStart(access);
  return {LLVM::IntToPtrOp::create(rewriter, loc, b.pointer, address), valid};
}

/// <i1 x V>: which lanes are below `valid`.
static Value createLaneMask(SimBuilder &b, Value valid, int64_t count) {
  auto lanes = VectorType::get(count, b.i32);
  SmallVector<int32_t> numbers = llvm::to_vector(llvm::seq<int32_t>(0, count));
  Value step = LLVM::ConstantOp::create(
      b.builder, b.loc, lanes,
      DenseElementsAttr::get(lanes, ArrayRef(numbers)));
  Value splat = LLVM::PoisonOp::create(b.builder, b.loc, lanes);
  splat = LLVM::InsertElementOp::create(b.builder, b.loc, splat, valid,
                                        b.constant(b.i32, 0));
  splat = LLVM::ShuffleVectorOp::create(b.builder, b.loc, splat, splat,
                                        SmallVector<int32_t>(count, 0));
  return b.compare(LLVM::ICmpPredicate::slt, step, splat);
}

struct GlobalLoad final : SimPattern<GlobalLoadOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(GlobalLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SimKernel *kernel = getKernel(op);
    auto fragment = dyn_cast_or_null<VectorType>(
        getTypeConverter()->convertType(op.getType()));
    if (!kernel || !fragment)
      return failure();
    Location loc = op.getLoc();
    CheckedAccess access =
        createChecks(op, adaptor, fragment, *kernel, rewriter);
    SimBuilder b{rewriter, loc, *kernel};
    unsigned alignment = op.getAlignment();
    if (!access.valid) {
      rewriter.replaceOp(op, LLVM::LoadOp::create(rewriter, loc, fragment,
                                                  access.address, alignment));
      return success();
    }
    // Nearly every load is of all lanes, and masked ones are slow on a CPU.
    Block *split = rewriter.getInsertionBlock();
    Block *after = rewriter.splitBlock(split, op->getIterator());
    Value result = after->addArgument(fragment, loc);
    Block *full = rewriter.createBlock(after);
    Value all = LLVM::LoadOp::create(rewriter, loc, fragment, access.address,
                                     alignment);
    LLVM::BrOp::create(rewriter, loc, ValueRange{all}, after);
    Block *part = rewriter.createBlock(after);
    int64_t count = fragment.getNumElements();
    Value zero = LLVM::ZeroOp::create(rewriter, loc, fragment);
    Value some =
        LLVM::MaskedLoadOp::create(rewriter, loc, fragment, access.address,
                                   createLaneMask(b, access.valid, count), zero,
                                   fragment.getElementTypeBitWidth() / 8);
    LLVM::BrOp::create(rewriter, loc, ValueRange{some}, after);
    rewriter.setInsertionPointToEnd(split);
    Value isFull = b.compare(LLVM::ICmpPredicate::eq, access.valid,
                             b.constant(b.i32, count));
    LLVM::CondBrOp::create(rewriter, loc, isFull, full, part);
    rewriter.replaceOp(op, result);
    return success();
  }
};

struct GlobalStore final : SimPattern<GlobalStoreOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(GlobalStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SimKernel *kernel = getKernel(op);
    auto fragment = dyn_cast<VectorType>(adaptor.getValue().getType());
    if (!kernel || !fragment)
      return failure();
    Location loc = op.getLoc();
    CheckedAccess access =
        createChecks(op, adaptor, fragment, *kernel, rewriter);
    SimBuilder b{rewriter, loc, *kernel};
    if (!access.valid) {
      LLVM::StoreOp::create(rewriter, loc, adaptor.getValue(), access.address,
                            op.getAlignment());
      rewriter.eraseOp(op);
      return success();
    }
    Block *split = rewriter.getInsertionBlock();
    Block *after = rewriter.splitBlock(split, op->getIterator());
    Block *full = rewriter.createBlock(after);
    LLVM::StoreOp::create(rewriter, loc, adaptor.getValue(), access.address,
                          op.getAlignment());
    LLVM::BrOp::create(rewriter, loc, ValueRange{}, after);
    Block *part = rewriter.createBlock(after);
    int64_t count = fragment.getNumElements();
    LLVM::MaskedStoreOp::create(rewriter, loc, adaptor.getValue(),
                                access.address,
                                createLaneMask(b, access.valid, count),
                                fragment.getElementTypeBitWidth() / 8);
    LLVM::BrOp::create(rewriter, loc, ValueRange{}, after);
    rewriter.setInsertionPointToEnd(split);
    Value isFull = b.compare(LLVM::ICmpPredicate::eq, access.valid,
                             b.constant(b.i32, count));
    LLVM::CondBrOp::create(rewriter, loc, isFull, full, part);
    rewriter.eraseOp(op);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Workgroup memory
//===----------------------------------------------------------------------===//

/// The checked address of an access. On return the builder stands in a new
/// block before `op`, reached if the scheduler allows the access.
static Value createWorkgroupAddress(Operation *op, Value offset, Type scalar,
                                    bool isStore, SimKernel &kernel,
                                    ConversionPatternRewriter &rewriter) {
  SimBuilder b{rewriter, op->getLoc(), kernel};
  Value bytes = b.constant(b.i32, scalar.getIntOrFloatBitWidth() / 8);
  Value address =
      b.callTable(offsetof(rmsnorm_sim_table, workgroup_access), b.pointer,
                  {kernel.thread, offset, bytes, b.constant(b.i32, isStore)})
          .getResult();
  Value null = LLVM::ZeroOp::create(rewriter, op->getLoc(), b.pointer);
  Value ok = b.compare(LLVM::ICmpPredicate::ne, address, null);
  Block *check = rewriter.getInsertionBlock();
  Block *access = rewriter.splitBlock(check, op->getIterator());
  Block *fault = rewriter.createBlock(access);
  b.exit(RMSNORM_SIM_FAILED);
  rewriter.setInsertionPointToEnd(check);
  LLVM::CondBrOp::create(rewriter, op->getLoc(), ok, access, fault);
  rewriter.setInsertionPointToStart(access);
  return address;
}

struct WorkgroupLoad final : SimPattern<WorkgroupLoadOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(WorkgroupLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SimKernel *kernel = getKernel(op);
    Type type = getTypeConverter()->convertType(op.getType());
    if (!kernel || !type)
      return failure();
    Value address = createWorkgroupAddress(
        op, adaptor.getOffset(), type, /*isStore=*/false, *kernel, rewriter);
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, type, address);
    return success();
  }
};

struct WorkgroupStore final : SimPattern<WorkgroupStoreOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(WorkgroupStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SimKernel *kernel = getKernel(op);
    if (!kernel)
      return failure();
    Value value = adaptor.getValue();
    Value address =
        createWorkgroupAddress(op, adaptor.getOffset(), value.getType(),
                               /*isStore=*/true, *kernel, rewriter);
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(op, value, address);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Between threads
//===----------------------------------------------------------------------===//

struct SubgroupReduce final : SimPattern<SubgroupReduceOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(SubgroupReduceOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SimKernel *kernel = getKernel(op);
    if (!kernel)
      return failure();
    SimBuilder b{rewriter, op.getLoc(), *kernel};
    b.store(adaptor.getValue(), kernel->thread,
            offsetof(rmsnorm_sim_thread, value));
    b.store(b.constant(b.i32, int32_t(op.getKind())), kernel->thread,
            offsetof(rmsnorm_sim_thread, kind));
    b.store(b.constant(b.i32, op.getWidth()), kernel->thread,
            offsetof(rmsnorm_sim_thread, width));
    Block *before = rewriter.getInsertionBlock();
    Block *resume = rewriter.splitBlock(before, op->getIterator());
    rewriter.setInsertionPointToEnd(before);
    b.suspend(RMSNORM_SIM_REDUCE, kernel->nextSite++, resume);
    rewriter.setInsertionPointToStart(resume);
    rewriter.replaceOp(op, b.load(rewriter.getF32Type(), kernel->thread,
                                  offsetof(rmsnorm_sim_thread, value)));
    return success();
  }
};

struct Barrier final : SimPattern<BarrierOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(BarrierOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SimKernel *kernel = getKernel(op);
    if (!kernel)
      return failure();
    SimBuilder b{rewriter, op.getLoc(), *kernel};
    Block *before = rewriter.getInsertionBlock();
    Block *resume = rewriter.splitBlock(before, op->getIterator());
    rewriter.setInsertionPointToEnd(before);
    b.suspend(RMSNORM_SIM_BARRIER, kernel->nextSite++, resume);
    rewriter.eraseOp(op);
    return success();
  }
};

struct Return final : SimPattern<gpu::ReturnOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(gpu::ReturnOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SimKernel *kernel = getKernel(op);
    if (!kernel)
      return failure();
    SimBuilder{rewriter, op.getLoc(), *kernel}.exit(RMSNORM_SIM_FINISHED);
    rewriter.eraseOp(op);
    return success();
  }
};

struct Keep final : SimPattern<KeepOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(KeepOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.replaceOp(op, adaptor.getValue());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Identity
//===----------------------------------------------------------------------===//

/// A 64-bit field of the launch or the thread.
template <typename Op, bool ofLaunch, int64_t offset>
struct Field final : SimPattern<Op> {
  using SimPattern<Op>::SimPattern;
  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SimKernel *kernel = this->getKernel(op);
    if (!kernel)
      return failure();
    SimBuilder b{rewriter, op.getLoc(), *kernel};
    rewriter.replaceOp(
        op, b.load(b.i64, ofLaunch ? kernel->launch : kernel->thread, offset));
    return success();
  }
};
using ThreadId =
    Field<gpu::ThreadIdOp, false, offsetof(rmsnorm_sim_thread, thread_id)>;
using BlockId =
    Field<gpu::BlockIdOp, false, offsetof(rmsnorm_sim_thread, block_id)>;
using GridDim = Field<gpu::GridDimOp, true, offsetof(rmsnorm_sim_launch, grid)>;
using BlockDim =
    Field<gpu::BlockDimOp, true, offsetof(rmsnorm_sim_launch, block)>;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

/// bf16 lives in 16-bit integers.
struct BFloat16Constant final : SimPattern<arith::ConstantOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!getElementTypeOrSelf(op.getType()).isBF16())
      return failure();
    Type type = getTypeConverter()->convertType(op.getType());
    TypedAttr bits;
    if (auto scalar = dyn_cast<FloatAttr>(op.getValue()))
      bits = rewriter.getIntegerAttr(type, scalar.getValue().bitcastToAPInt());
    else if (auto dense = dyn_cast<DenseElementsAttr>(op.getValue()))
      bits = dense.bitcast(rewriter.getI16Type());
    if (!bits)
      return failure();
    rewriter.replaceOpWithNewOp<LLVM::ConstantOp>(op, type, bits);
    return success();
  }
};

/// 1 / sqrt: upstream has no lowering without a library.
struct Rsqrt final : SimPattern<math::RsqrtOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(math::RsqrtOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = adaptor.getOperand().getType();
    Attribute one = rewriter.getFloatAttr(getElementTypeOrSelf(type), 1.0);
    if (auto vector = dyn_cast<VectorType>(type))
      one = SplatElementsAttr::get(vector, one);
    Value ones = LLVM::ConstantOp::create(rewriter, op.getLoc(), type,
                                          cast<TypedAttr>(one));
    Value root =
        LLVM::SqrtOp::create(rewriter, op.getLoc(), type, adaptor.getOperand());
    rewriter.replaceOpWithNewOp<LLVM::FDivOp>(op, ones, root);
    return success();
  }
};

/// A function of the host's libm, lane by lane.
template <typename Op> struct LibmCall final : SimPattern<Op> {
  LibmCall(const LLVMTypeConverter &converter, SimKernels &kernels, int64_t f32,
           int64_t f64)
      : SimPattern<Op>(converter, kernels), f32(f32), f64(f64) {}

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SimKernel *kernel = this->getKernel(op);
    Type type = op->getResult(0).getType();
    auto vector = dyn_cast<VectorType>(type);
    Type element = getElementTypeOrSelf(type);
    if (!kernel || !(element.isF32() || element.isF64()) ||
        (vector && vector.getRank() != 1))
      return failure();
    SimBuilder b{rewriter, op.getLoc(), *kernel};
    int64_t offset = element.isF32() ? f32 : f64;
    ValueRange operands = adaptor.getOperands();
    if (!vector) {
      rewriter.replaceOp(op, b.callTable(offset, element, operands));
      return success();
    }
    Value result = LLVM::PoisonOp::create(rewriter, op.getLoc(), type);
    for (int64_t i = 0; i < vector.getNumElements(); ++i) {
      Value lane = b.constant(b.i32, i);
      SmallVector<Value> scalars;
      for (Value operand : operands)
        scalars.push_back(LLVM::ExtractElementOp::create(rewriter, op.getLoc(),
                                                         operand, lane));
      result = LLVM::InsertElementOp::create(
          rewriter, op.getLoc(), result,
          b.callTable(offset, element, scalars).getResult(), lane);
    }
    rewriter.replaceOp(op, result);
    return success();
  }

  int64_t f32, f64;
};
} // namespace

template <typename Op>
static void addUnary(RewritePatternSet &patterns,
                     const LLVMTypeConverter &converter, SimKernels &kernels,
                     int function) {
  patterns.add<LibmCall<Op>>(
      converter, kernels,
      offsetof(rmsnorm_sim_table, unary_f32) + function * sizeof(void *),
      offsetof(rmsnorm_sim_table, unary_f64) + function * sizeof(void *));
}

template <typename Op>
static void addBinary(RewritePatternSet &patterns,
                      const LLVMTypeConverter &converter, SimKernels &kernels,
                      int function) {
  patterns.add<LibmCall<Op>>(
      converter, kernels,
      offsetof(rmsnorm_sim_table, binary_f32) + function * sizeof(void *),
      offsetof(rmsnorm_sim_table, binary_f64) + function * sizeof(void *));
}

void rmsnorm::populateSimPatterns(const LLVMTypeConverter &converter,
                                  SimKernels &kernels,
                                  RewritePatternSet &patterns) {
  patterns.add<GlobalLoad, GlobalStore, WorkgroupLoad, WorkgroupStore,
               SubgroupReduce, Barrier, Return, Keep, ThreadId, BlockId,
               GridDim, BlockDim, BFloat16Constant, Rsqrt>(converter, kernels);
  addUnary<math::AcosOp>(patterns, converter, kernels, RMSNORM_SIM_ACOS);
  addUnary<math::AsinOp>(patterns, converter, kernels, RMSNORM_SIM_ASIN);
  addUnary<math::AtanOp>(patterns, converter, kernels, RMSNORM_SIM_ATAN);
  addUnary<math::CbrtOp>(patterns, converter, kernels, RMSNORM_SIM_CBRT);
  addUnary<math::CosOp>(patterns, converter, kernels, RMSNORM_SIM_COS);
  addUnary<math::CoshOp>(patterns, converter, kernels, RMSNORM_SIM_COSH);
  addUnary<math::ErfOp>(patterns, converter, kernels, RMSNORM_SIM_ERF);
  addUnary<math::ErfcOp>(patterns, converter, kernels, RMSNORM_SIM_ERFC);
  addUnary<math::ExpOp>(patterns, converter, kernels, RMSNORM_SIM_EXP);
  addUnary<math::Exp2Op>(patterns, converter, kernels, RMSNORM_SIM_EXP2);
  addUnary<math::ExpM1Op>(patterns, converter, kernels, RMSNORM_SIM_EXPM1);
  addUnary<math::LogOp>(patterns, converter, kernels, RMSNORM_SIM_LOG);
  addUnary<math::Log10Op>(patterns, converter, kernels, RMSNORM_SIM_LOG10);
  addUnary<math::Log1pOp>(patterns, converter, kernels, RMSNORM_SIM_LOG1P);
  addUnary<math::Log2Op>(patterns, converter, kernels, RMSNORM_SIM_LOG2);
  addUnary<math::SinOp>(patterns, converter, kernels, RMSNORM_SIM_SIN);
  addUnary<math::SinhOp>(patterns, converter, kernels, RMSNORM_SIM_SINH);
  addUnary<math::TanOp>(patterns, converter, kernels, RMSNORM_SIM_TAN);
  addUnary<math::TanhOp>(patterns, converter, kernels, RMSNORM_SIM_TANH);
  addBinary<math::Atan2Op>(patterns, converter, kernels, RMSNORM_SIM_ATAN2);
  addBinary<math::PowFOp>(patterns, converter, kernels, RMSNORM_SIM_POW);
  addBinary<arith::RemFOp>(patterns, converter, kernels, RMSNORM_SIM_FMOD);
}
