// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimMemory.cpp - checked accesses of simulated kernels -------------===//

#include "SimBuilder.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
//===----------------------------------------------------------------------===//
// Global memory
//===----------------------------------------------------------------------===//

/// The constant that describes the accesses of one argument by fragments of one
/// type, as in rmsnorm_sim_access.
Value getAccess(Operation *op, VectorType fragment, int64_t alignment,
                SimBuilder &b) {
  auto argument = op->getAttrOfType<IntegerAttr>(kSimArgumentAttrName);
  const int32_t fields[] = {
      int32_t(argument.getInt()), int32_t(fragment.getNumElements()),
      int32_t(fragment.getElementTypeBitWidth() / 8), int32_t(alignment)};
  std::string name = "rmsnorm.access";
  for (int32_t field : fields)
    name += "_" + std::to_string(field);
  auto module = op->getParentOfType<gpu::GPUModuleOp>();
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b.builder);
    b.builder.setInsertionPointToStart(module.getBody());
    auto type = LLVM::LLVMArrayType::get(b.i32, std::size(fields));
    LLVM::GlobalOp::create(b.builder, b.loc, type, /*isConstant=*/true,
                           LLVM::Linkage::Private, name,
                           b.builder.getI32TensorAttr(fields));
  }
  return LLVM::AddressOfOp::create(b.builder, b.loc, b.pointer, name);
}

/// Calls the function at `offset` of the table for an access. On return the
/// builder stands in a new block before `op`, reached if it is a valid one.
template <typename Op>
Value createGlobalAccess(Op op, typename Op::Adaptor adaptor,
                         VectorType fragment, int64_t offset,
                         ValueRange further, SimKernel &kernel,
                         ConversionPatternRewriter &rewriter) {
  SimBuilder b{rewriter, op.getLoc(), kernel};
  Value base =
      LLVM::PtrToIntOp::create(rewriter, op.getLoc(), b.i64, adaptor.getBase());
  Value valid = adaptor.getValid() ? adaptor.getValid()
                                   : b.constant(b.i32, RMSNORM_SIM_ALL);
  SmallVector<Value> operands{kernel.thread,
                              getAccess(op, fragment, op.getAlignment(), b),
                              base,
                              adaptor.getRow(),
                              adaptor.getColumn(),
                              valid};
  llvm::append_range(operands, further);
  return createCheckedCall(op, offset, operands, kernel, rewriter);
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
    Value address = createGlobalAccess(op, adaptor, fragment,
                                       offsetof(rmsnorm_sim_table, global_load),
                                       {}, *kernel, rewriter);
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, fragment, address,
                                              op.getAlignment());
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
    SimBuilder b{rewriter, op.getLoc(), *kernel};
    Value place = b.load(b.pointer, kernel->thread,
                         offsetof(rmsnorm_sim_thread, fragment));
    LLVM::StoreOp::create(rewriter, op.getLoc(), adaptor.getValue(), place,
                          /*alignment=*/64);
    createGlobalAccess(op, adaptor, fragment,
                       offsetof(rmsnorm_sim_table, global_store), {}, *kernel,
                       rewriter);
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

/// The checked address of an access. On return the builder stands in a new
/// block before `op`, reached if the scheduler allows the access.
static Value createWorkgroupAddress(Operation *op, Value offset, Type type,
                                    bool isStore, SimKernel &kernel,
                                    ConversionPatternRewriter &rewriter) {
  SimBuilder b{rewriter, op->getLoc(), kernel};
  return createCheckedCall(op, offsetof(rmsnorm_sim_table, workgroup_access),
                           {kernel.thread, offset,
                            b.constant(b.i32, getNumBytes(type)),
                            b.constant(b.i32, isStore)},
                           kernel, rewriter);
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
    createGlobalAccess(op, adaptor, fragment,
                       offsetof(rmsnorm_sim_table, async_copy),
                       adaptor.getOffset(), *kernel, rewriter);
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
    createCheckedCall(op, offsetof(rmsnorm_sim_table, copy_commit),
                      kernel->thread, *kernel, rewriter);
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
    createCheckedCall(op, offsetof(rmsnorm_sim_table, copy_wait),
                      {kernel->thread, b.constant(b.i32, op.getPending())},
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
