// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimExchange.cpp - exchanges in a simulated kernel -----------------===//
//
// The scheduler keeps the values and checks the protocol: the kernel's
// workgroup memory is not used.
//
//===----------------------------------------------------------------------===//

#include "SimBuilder.h"

#include "RMSNorm/IR/RMSNorm.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// Ends the block before `op` and goes on behind it when the scheduler wants.
void createSuspend(Operation *op, int32_t wait, SimKernel &kernel,
                   ConversionPatternRewriter &rewriter) {
  SimBuilder b{rewriter, op->getLoc(), kernel};
  Block *before = rewriter.getInsertionBlock();
  Block *resume = rewriter.splitBlock(before, op->getIterator());
  rewriter.setInsertionPointToEnd(before);
  b.suspend(wait, kernel.nextSite++, resume);
  rewriter.eraseOp(op);
}

struct Init final : SimPattern<ExchangeInitOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(ExchangeInitOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SimKernel *kernel = getKernel(op);
    if (!kernel)
      return failure();
    SimBuilder b{rewriter, op.getLoc(), *kernel};
    ExchangeAttr exchange = op.getExchange();
    SmallVector<Value> operands{kernel->thread};
    for (int64_t value :
         {exchange.getOffset(), exchange.getBytes(), exchange.getSlots(),
          exchange.getValues(), exchange.getSubgroups(), exchange.getCluster()})
      operands.push_back(b.constant(b.i32, value));
    createCheckedCall(op, offsetof(rmsnorm_sim_table, exchange_init), operands,
                      *kernel, rewriter);
    rewriter.eraseOp(op);
    return success();
  }
};

struct Ready final : SimPattern<ExchangeReadyOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(ExchangeReadyOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SimKernel *kernel = getKernel(op);
    if (!kernel)
      return failure();
    createSuspend(op, RMSNORM_SIM_READY, *kernel, rewriter);
    return success();
  }
};

struct Publish final : SimPattern<ExchangePublishOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(ExchangePublishOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SimKernel *kernel = getKernel(op);
    if (!kernel)
      return failure();
    const int64_t count = op.getValues().size();
    for (auto [index, value] : llvm::enumerate(adaptor.getValues())) {
      SimBuilder b{rewriter, op.getLoc(), *kernel};
      createCheckedCall(op, offsetof(rmsnorm_sim_table, exchange_publish),
                        {kernel->thread, adaptor.getNumber(),
                         adaptor.getSubgroup(), b.constant(b.i32, index),
                         b.constant(b.i32, count), value},
                        *kernel, rewriter);
    }
    rewriter.eraseOp(op);
    return success();
  }
};

struct Await final : SimPattern<ExchangeAwaitOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(ExchangeAwaitOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SimKernel *kernel = getKernel(op);
    if (!kernel)
      return failure();
    SimBuilder b{rewriter, op.getLoc(), *kernel};
    b.store(adaptor.getNumber(), kernel->thread,
            offsetof(rmsnorm_sim_thread, number));
    createSuspend(op, RMSNORM_SIM_AWAIT, *kernel, rewriter);
    return success();
  }
};

struct Read final : SimPattern<ExchangeReadOp> {
  using SimPattern::SimPattern;
  LogicalResult
  matchAndRewrite(ExchangeReadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    SimKernel *kernel = getKernel(op);
    if (!kernel)
      return failure();
    SimBuilder b{rewriter, op.getLoc(), *kernel};
    Value address = createCheckedCall(
        op, offsetof(rmsnorm_sim_table, exchange_read),
        {kernel->thread, adaptor.getNumber(), adaptor.getPublisher(),
         b.constant(b.i32, op.getValue())},
        *kernel, rewriter);
    rewriter.replaceOpWithNewOp<LLVM::LoadOp>(op, op.getType(), address);
    return success();
  }
};
} // namespace

void rmsnorm::populateSimExchangePatterns(const LLVMTypeConverter &converter,
                                          SimKernels &kernels,
                                          RewritePatternSet &patterns) {
  patterns.add<Init, Ready, Publish, Await, Read>(converter, kernels);
}
