// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimPatterns.cpp - thread-level ops in a simulated kernel ----------===//

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

//===----------------------------------------------------------------------===//
// Between threads
//===----------------------------------------------------------------------===//

static LogicalResult lowerReduce(SubgroupReduceOp op,
                                 SubgroupReduceOp::Adaptor adaptor,
                                 SimRewriter &b) {
  const int64_t value = offsetof(rmsnorm_sim_thread, value);
  b.store(adaptor.getValue(), b.kernel.thread, value);
  b.store(b.constant(b.i32, int32_t(op.getKind())), b.kernel.thread,
          offsetof(rmsnorm_sim_thread, kind));
  b.store(b.constant(b.i32, op.getWidth()), b.kernel.thread,
          offsetof(rmsnorm_sim_thread, width));
  b.suspend(RMSNORM_SIM_REDUCE);
  return b.replace(b.load(b.builder.getF32Type(), b.kernel.thread, value));
}

static LogicalResult lowerBarrier(BarrierOp, BarrierOp::Adaptor,
                                  SimRewriter &b) {
  b.suspend(RMSNORM_SIM_BARRIER);
  return b.erase();
}

static LogicalResult lowerLaunchDependents(LaunchDependentsOp,
                                           LaunchDependentsOp::Adaptor,
                                           SimRewriter &b) {
  return b.erase();
}

static LogicalResult lowerGridWait(GridWaitOp, GridWaitOp::Adaptor,
                                   SimRewriter &b) {
  b.store(b.constant(b.i32, 1), b.kernel.thread,
          offsetof(rmsnorm_sim_thread, grid_waited));
  return b.erase();
}

static LogicalResult lowerReturn(gpu::ReturnOp, gpu::ReturnOp::Adaptor,
                                 SimRewriter &b) {
  b.exit(RMSNORM_SIM_FINISHED);
  return b.erase();
}

static LogicalResult lowerKeep(KeepOp, KeepOp::Adaptor adaptor,
                               SimRewriter &b) {
  return b.replace(adaptor.getValue());
}

//===----------------------------------------------------------------------===//
// Identity
//===----------------------------------------------------------------------===//

/// A 64-bit field of the thread, or of the launch.
template <typename Op, int64_t offset>
static LogicalResult lowerToThread(Op, typename Op::Adaptor, SimRewriter &b) {
  return b.replace(b.load(b.i64, b.kernel.thread, offset));
}
template <typename Op, int64_t offset>
static LogicalResult lowerToLaunch(Op, typename Op::Adaptor, SimRewriter &b) {
  return b.replace(b.load(b.i64, b.kernel.launch, offset));
}

void rmsnorm::populateSimPatterns(const LLVMTypeConverter &converter,
                                  SimKernels &kernels,
                                  RewritePatternSet &patterns) {
  addSimPatterns(
      patterns, converter, kernels, lowerReduce, lowerBarrier,
      lowerLaunchDependents, lowerGridWait, lowerReturn, lowerKeep,
      lowerToThread<gpu::ThreadIdOp, offsetof(rmsnorm_sim_thread, thread_id)>,
      lowerToThread<gpu::BlockIdOp, offsetof(rmsnorm_sim_thread, block_id)>,
      lowerToLaunch<gpu::GridDimOp, offsetof(rmsnorm_sim_launch, grid)>,
      lowerToLaunch<gpu::BlockDimOp, offsetof(rmsnorm_sim_launch, block)>);
  populateSimMemoryPatterns(converter, kernels, patterns);
  populateSimExchangePatterns(converter, kernels, patterns);
  populateSimMathPatterns(converter, kernels, patterns);
}
