// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimBuilder.h - what the patterns of simulated kernels share -------===//

#ifndef RMSNORM_LIB_CONVERSION_SIMBUILDER_H
#define RMSNORM_LIB_CONVERSION_SIMBUILDER_H

#include "SimABI.h"
#include "SimPatterns.h"

#include "mlir/Conversion/LLVMCommon/Pattern.h"

namespace mlir::rmsnorm {

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
  void suspend(int32_t wait, int32_t site, Block *resume) {
    store(constant(i32, wait), kernel.thread,
          offsetof(rmsnorm_sim_thread, wait));
    store(constant(i32, site), kernel.thread,
          offsetof(rmsnorm_sim_thread, site));
    suspend(resume);
  }
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

/// Calls the function at `offset` of the table, which returns null after it has
/// reported an error: the thread then ends. On return the builder stands in a
/// new block before `op`, reached otherwise.
inline Value createCheckedCall(Operation *op, int64_t offset,
                               ValueRange operands, SimKernel &kernel,
                               ConversionPatternRewriter &rewriter) {
  SimBuilder b{rewriter, op->getLoc(), kernel};
  Value result = b.callTable(offset, b.pointer, operands).getResult();
  Value null = LLVM::ZeroOp::create(rewriter, op->getLoc(), b.pointer);
  Value failed = LLVM::ICmpOp::create(rewriter, op->getLoc(),
                                      LLVM::ICmpPredicate::eq, result, null);
  Block *call = rewriter.getInsertionBlock();
  Block *next = rewriter.splitBlock(call, op->getIterator());
  rewriter.setInsertionPointToEnd(call);
  LLVM::CondBrOp::create(rewriter, op->getLoc(), failed, kernel.exit, next);
  rewriter.setInsertionPointToStart(next);
  return result;
}

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
