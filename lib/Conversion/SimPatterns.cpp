// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimPatterns.cpp - thread-level ops in a simulated kernel ----------===//

#include "SimPatterns.h"

#include "RMSNorm/IR/RMSNorm.h"
#include "SimBuilder.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static_assert(RMSNORM_SIM_ADD == int(ReduceKind::add) &&
                  RMSNORM_SIM_MAXIMUMF == int(ReduceKind::maximumf) &&
                  RMSNORM_SIM_MINIMUMF == int(ReduceKind::minimumf) &&
                  RMSNORM_SIM_MUL == int(ReduceKind::mul) &&
                  RMSNORM_SIM_MAXNUMF == int(ReduceKind::maxnumf) &&
                  RMSNORM_SIM_MINNUMF == int(ReduceKind::minnumf),
              "the scheduler reads the dialect's numbers");

Value rmsnorm::createByteOffset(OpBuilder &builder, Location loc, Value pointer,
                                int64_t offset) {
  if (offset == 0)
    return pointer;
  return LLVM::GEPOp::create(builder, loc, pointer.getType(),
                             builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{int32_t(offset)});
}

namespace {
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

struct LaunchDependents final : SimPattern<LaunchDependentsOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(LaunchDependentsOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    rewriter.eraseOp(op);
    return success();
  }
};

struct GridWait final : SimPattern<GridWaitOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(GridWaitOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SimKernel *kernel = getKernel(op);
    if (!kernel)
      return failure();
    SimBuilder b{rewriter, op.getLoc(), *kernel};
    b.store(b.constant(b.i32, 1), kernel->thread,
            offsetof(rmsnorm_sim_thread, grid_waited));
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
} // namespace

void rmsnorm::populateSimPatterns(const LLVMTypeConverter &converter,
                                  SimKernels &kernels,
                                  RewritePatternSet &patterns) {
  patterns.add<SubgroupReduce, Barrier, LaunchDependents, GridWait, Return,
               Keep, ThreadId, BlockId, GridDim, BlockDim>(converter, kernels);
  populateSimMemoryPatterns(converter, kernels, patterns);
  populateSimExchangePatterns(converter, kernels, patterns);
  populateSimMathPatterns(converter, kernels, patterns);
}
