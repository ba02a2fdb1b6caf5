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

static LogicalResult lowerInit(ExchangeInitOp op, ExchangeInitOp::Adaptor,
                               SimRewriter &b) {
  ExchangeAttr exchange = op.getExchange();
  SmallVector<Value> operands{b.kernel.thread};
  for (int64_t value :
       {exchange.getOffset(), exchange.getBytes(), exchange.getSlots(),
        exchange.getValues(), exchange.getSubgroups(), exchange.getCluster()})
    operands.push_back(b.constant(b.i32, value));
  b.callTable(offsetof(rmsnorm_sim_table, exchange_init), b.pointer, operands);
  return b.erase();
}

static LogicalResult lowerReady(ExchangeReadyOp, ExchangeReadyOp::Adaptor,
                                SimRewriter &b) {
  b.suspend(RMSNORM_SIM_READY);
  return b.erase();
}

static LogicalResult lowerPublish(ExchangePublishOp op,
                                  ExchangePublishOp::Adaptor adaptor,
                                  SimRewriter &b) {
  const int64_t count = op.getValues().size();
  for (auto [index, value] : llvm::enumerate(adaptor.getValues()))
    b.callTable(offsetof(rmsnorm_sim_table, exchange_publish), b.pointer,
                {b.kernel.thread, adaptor.getNumber(), adaptor.getSubgroup(),
                 b.constant(b.i32, index), b.constant(b.i32, count), value});
  return b.erase();
}

static LogicalResult
lowerAwait(ExchangeAwaitOp, ExchangeAwaitOp::Adaptor adaptor, SimRewriter &b) {
  b.store(adaptor.getNumber(), b.kernel.thread,
          offsetof(rmsnorm_sim_thread, number));
  b.suspend(RMSNORM_SIM_AWAIT);
  return b.erase();
}

static LogicalResult
lowerRead(ExchangeReadOp op, ExchangeReadOp::Adaptor adaptor, SimRewriter &b) {
  Value address =
      b.callTable(offsetof(rmsnorm_sim_table, exchange_read), b.pointer,
                  {b.kernel.thread, adaptor.getNumber(), adaptor.getPublisher(),
                   b.constant(b.i32, op.getValue())})
          .getResult();
  return b.replace(b.load(op.getType(), address, 0));
}

void rmsnorm::populateSimExchangePatterns(const LLVMTypeConverter &converter,
                                          SimKernels &kernels,
                                          RewritePatternSet &patterns) {
  addSimPatterns(patterns, converter, kernels, lowerInit, lowerReady,
                 lowerPublish, lowerAwait, lowerRead);
}
