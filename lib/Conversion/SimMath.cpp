// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimMath.cpp - functions and constants in simulated kernels --------===//

#include "SimBuilder.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// bf16 lives in 16-bit integers.
static LogicalResult lowerConstant(arith::ConstantOp op,
                                   arith::ConstantOp::Adaptor, SimRewriter &b) {
  if (!getElementTypeOrSelf(op.getType()).isBF16())
    return failure();
  Type type = b.converter.convertType(op.getType());
  TypedAttr bits;
  if (auto scalar = dyn_cast<FloatAttr>(op.getValue()))
    bits = b.builder.getIntegerAttr(type, scalar.getValue().bitcastToAPInt());
  else if (auto dense = dyn_cast<DenseElementsAttr>(op.getValue()))
    bits = dense.bitcast(b.builder.getI16Type());
  if (!bits)
    return failure();
  return b.replace(LLVM::ConstantOp::create(b.builder, b.loc, type, bits));
}

/// 1 / sqrt: upstream has no lowering without a library.
static LogicalResult lowerRsqrt(math::RsqrtOp, math::RsqrtOp::Adaptor adaptor,
                                SimRewriter &b) {
  Type type = adaptor.getOperand().getType();
  Attribute one = b.builder.getFloatAttr(getElementTypeOrSelf(type), 1.0);
  if (auto vector = dyn_cast<VectorType>(type))
    one = SplatElementsAttr::get(vector, one);
  Value ones =
      LLVM::ConstantOp::create(b.builder, b.loc, type, cast<TypedAttr>(one));
  Value root =
      LLVM::SqrtOp::create(b.builder, b.loc, type, adaptor.getOperand());
  return b.replace(LLVM::FDivOp::create(b.builder, b.loc, ones, root));
}

/// The function of the table, lane by lane.
static LogicalResult lowerExp2(math::Exp2Op op, math::Exp2Op::Adaptor adaptor,
                               SimRewriter &b) {
  constexpr int64_t offset = offsetof(rmsnorm_sim_table, exp2);
  Type type = op.getType();
  auto vector = dyn_cast<VectorType>(type);
  Type element = getElementTypeOrSelf(type);
  if (!element.isF32() || (vector && vector.getRank() != 1))
    return failure();
  Value operand = adaptor.getOperand();
  if (!vector)
    return b.replace(b.callTable(offset, element, operand).getResult());
  Value result = LLVM::PoisonOp::create(b.builder, b.loc, type);
  for (int64_t i = 0; i < vector.getNumElements(); ++i) {
    Value lane = b.constant(b.i32, i);
    Value scalar =
        LLVM::ExtractElementOp::create(b.builder, b.loc, operand, lane);
    result = LLVM::InsertElementOp::create(
        b.builder, b.loc, result,
        b.callTable(offset, element, scalar).getResult(), lane);
  }
  return b.replace(result);
}

void rmsnorm::populateSimMathPatterns(const LLVMTypeConverter &converter,
                                      SimKernels &kernels,
                                      RewritePatternSet &patterns) {
  addSimPatterns(patterns, converter, kernels, lowerConstant, lowerRsqrt,
                 lowerExp2);
}
