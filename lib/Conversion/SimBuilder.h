// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimBuilder.h - what the patterns of simulated kernels share -------===//

#ifndef RMSNORM_LIB_CONVERSION_SIMBUILDER_H
#define RMSNORM_LIB_CONVERSION_SIMBUILDER_H

#include "SimABI.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace mlir::rmsnorm {

/// A kernel's coroutine. The blocks and values that its ops refer to.
struct SimKernel {
  Value launch;
  Value thread;
  /// The functions of the scheduler.
  Value table;
  /// Leaves the coroutine: to the scheduler, for now or for good.
  Block *exit = nullptr;
  /// The number of the next waiting op.
  int32_t nextSite = 0;
};

using SimKernels = llvm::DenseMap<Operation *, SimKernel>;

/// `pointer` + `offset` bytes.
Value createByteOffset(OpBuilder &builder, Location loc, Value pointer,
                       int64_t offset);

/// Creates LLVM dialect ops at one place of a kernel.
struct SimBuilder {
  OpBuilder &builder;
  Location loc;
  SimKernel &kernel;
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

  /// Calls the function at `offset` of the launch's table.
  LLVM::CallOp callTable(int64_t offset, Type result, ValueRange operands) {
    SmallVector<Value> all{load(pointer, kernel.table, offset)};
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
  void suspend(Block *resume) {
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

/// Rewrites one op of a kernel.
struct SimRewriter : SimBuilder {
  SimRewriter(Operation *op, SimKernel &kernel,
              const LLVMTypeConverter &converter,
              ConversionPatternRewriter &rewriter)
      : SimBuilder{rewriter, op->getLoc(), kernel}, op(op),
        converter(converter), rewriter(rewriter) {}

  /// Hands control to the scheduler before the op, for the reason `wait`, and
  /// goes on there.
  void suspend(int32_t wait) {
    Block *before = rewriter.getInsertionBlock();
    Block *resume = rewriter.splitBlock(before, op->getIterator());
    rewriter.setInsertionPointToEnd(before);
    store(constant(i32, wait), kernel.thread,
          offsetof(rmsnorm_sim_thread, wait));
    store(constant(i32, kernel.nextSite++), kernel.thread,
          offsetof(rmsnorm_sim_thread, site));
    SimBuilder::suspend(resume);
    rewriter.setInsertionPointToStart(resume);
  }

  LogicalResult replace(Value value) {
    rewriter.replaceOp(op, value);
    return success();
  }
  LogicalResult erase() {
    rewriter.eraseOp(op);
    return success();
  }

  Operation *op;
  const LLVMTypeConverter &converter;
  ConversionPatternRewriter &rewriter;
};

template <typename Op>
using SimLowering = LogicalResult (*)(Op, typename Op::Adaptor, SimRewriter &);

/// Lowers an op of a kernel by a function.
template <typename Op> struct SimPattern final : ConvertOpToLLVMPattern<Op> {
  SimPattern(const LLVMTypeConverter &converter, SimKernels &kernels,
             SimLowering<Op> lower)
      : ConvertOpToLLVMPattern<Op>(converter, /*benefit=*/10), kernels(kernels),
        lower(lower) {}

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Operation *function =
        op->template getParentOfType<LLVM::LLVMFuncOp>().getOperation();
    auto kernel = kernels.find(function);
    if (kernel == kernels.end())
      return failure();
    SimRewriter b(op, kernel->second, *this->getTypeConverter(), rewriter);
    return lower(op, adaptor, b);
  }

  SimKernels &kernels;
  SimLowering<Op> lower;
};

/// Adds a pattern for each function.
template <typename... Ops>
void addSimPatterns(RewritePatternSet &patterns,
                    const LLVMTypeConverter &converter, SimKernels &kernels,
                    LogicalResult (*...lower)(Ops, typename Ops::Adaptor,
                                              SimRewriter &)) {
  (patterns.add<SimPattern<Ops>>(converter, kernels, lower), ...);
}

/// The thread-level ops, gpu ids, math functions and bf16 constants, in the
/// bodies of the functions in `kernels`.
void populateSimPatterns(const LLVMTypeConverter &converter,
                         SimKernels &kernels, RewritePatternSet &patterns);

/// The parts of populateSimPatterns.
void populateSimMemoryPatterns(const LLVMTypeConverter &converter,
                               SimKernels &kernels,
                               RewritePatternSet &patterns);
void populateSimExchangePatterns(const LLVMTypeConverter &converter,
                                 SimKernels &kernels,
                                 RewritePatternSet &patterns);
void populateSimMathPatterns(const LLVMTypeConverter &converter,
                             SimKernels &kernels, RewritePatternSet &patterns);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_CONVERSION_SIMBUILDER_H
