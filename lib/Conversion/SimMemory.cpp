// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimMemory.cpp - checked accesses of simulated kernels -------------===//

#include "SimBuilder.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
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
  // Before the wait for earlier kernels there is less to read and nothing to
  // write.
  Value early =
      isStore ? b.constant(b.i64, 0)
              : b.load(b.i64, arguments,
                       descriptor + offsetof(rmsnorm_sim_argument, early));
  Value waiting = b.isZero(
      b.load(b.i32, kernel.thread, offsetof(rmsnorm_sim_thread, grid_waited)));
  size = LLVM::SelectOp::create(rewriter, loc, waiting, early, size);
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

static int64_t getElementBytes(Type type) {
  return getElementTypeOrSelf(type).getIntOrFloatBitWidth() / 8;
}

static int64_t getNumBytes(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return (vector ? vector.getNumElements() : 1) * getElementBytes(type);
}

/// Goes on in a new block before `op` if `ok`, else ends the thread.
static void createCheck(Operation *op, Value ok, SimKernel &kernel,
                        ConversionPatternRewriter &rewriter) {
  SimBuilder b{rewriter, op->getLoc(), kernel};
  Block *check = rewriter.getInsertionBlock();
  Block *access = rewriter.splitBlock(check, op->getIterator());
  Block *fault = rewriter.createBlock(access);
  b.exit(RMSNORM_SIM_FAILED);
  rewriter.setInsertionPointToEnd(check);
  LLVM::CondBrOp::create(rewriter, op->getLoc(), ok, access, fault);
  rewriter.setInsertionPointToStart(access);
}

/// The checked address of an access. On return the builder stands in a new
/// block before `op`, reached if the scheduler allows the access.
static Value createWorkgroupAddress(Operation *op, Value offset, Type type,
                                    bool isStore, SimKernel &kernel,
                                    ConversionPatternRewriter &rewriter) {
  SimBuilder b{rewriter, op->getLoc(), kernel};
  Value bytes = b.constant(b.i32, getNumBytes(type));
  Value address =
      b.callTable(offsetof(rmsnorm_sim_table, workgroup_access), b.pointer,
                  {kernel.thread, offset, bytes, b.constant(b.i32, isStore)})
          .getResult();
  Value null = LLVM::ZeroOp::create(rewriter, op->getLoc(), b.pointer);
  createCheck(op, b.compare(LLVM::ICmpPredicate::ne, address, null), kernel,
              rewriter);
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
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, type, address,
                                              getElementBytes(type));
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
    rewriter.replaceOpWithNewOp<LLVM::StoreOp>(
        op, value, address, getElementBytes(value.getType()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

struct AsyncCopy final : SimPattern<AsyncCopyOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(AsyncCopyOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SimKernel *kernel = getKernel(op);
    auto fragment = dyn_cast_or_null<VectorType>(
        getTypeConverter()->convertType(op.getFragment()));
    if (!kernel || !fragment)
      return failure();
    CheckedAccess access =
        createChecks(op, adaptor, fragment, *kernel, rewriter);
    SimBuilder b{rewriter, op.getLoc(), *kernel};
    Value bytes = b.constant(b.i32, getNumBytes(fragment));
    Value valid = bytes;
    if (access.valid)
      valid = b.mul(access.valid, getElementBytes(fragment));
    Value done = b.callTable(offsetof(rmsnorm_sim_table, async_copy), b.i32,
                             {kernel->thread, adaptor.getOffset(), bytes,
                              access.address, valid})
                     .getResult();
    createCheck(op,
                b.compare(LLVM::ICmpPredicate::ne, done, b.constant(b.i32, 0)),
                *kernel, rewriter);
    rewriter.eraseOp(op);
    return success();
  }
};

struct CopyCommit final : SimPattern<CopyCommitOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(CopyCommitOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SimKernel *kernel = getKernel(op);
    if (!kernel)
      return failure();
    SimBuilder{rewriter, op.getLoc(), *kernel}.callTable(
        offsetof(rmsnorm_sim_table, copy_commit),
        LLVM::LLVMVoidType::get(rewriter.getContext()), {kernel->thread});
    rewriter.eraseOp(op);
    return success();
  }
};

struct CopyWait final : SimPattern<CopyWaitOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(CopyWaitOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SimKernel *kernel = getKernel(op);
    if (!kernel)
      return failure();
    SimBuilder b{rewriter, op.getLoc(), *kernel};
    Value done =
        b.callTable(offsetof(rmsnorm_sim_table, copy_wait), b.i32,
                    {kernel->thread, b.constant(b.i32, op.getPending())})
            .getResult();
    createCheck(op,
                b.compare(LLVM::ICmpPredicate::ne, done, b.constant(b.i32, 0)),
                *kernel, rewriter);
    rewriter.eraseOp(op);
    return success();
  }
};
} // namespace

void rmsnorm::populateSimMemoryPatterns(const LLVMTypeConverter &converter,
                                        SimKernels &kernels,
                                        RewritePatternSet &patterns) {
  patterns.add<GlobalLoad, GlobalStore, WorkgroupLoad, WorkgroupStore,
               AsyncCopy, CopyCommit, CopyWait>(converter, kernels);
}
