// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimMath.cpp - functions and constants in simulated kernels --------===//

#include "SimBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
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

void rmsnorm::populateSimMathPatterns(const LLVMTypeConverter &converter,
                                      SimKernels &kernels,
                                      RewritePatternSet &patterns) {
  patterns.add<BFloat16Constant, Rsqrt>(converter, kernels);
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
