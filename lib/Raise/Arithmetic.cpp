// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Arithmetic.cpp - scalar ops as expressions ------------------------===//

#include "Expr.h"
#include "RMSNorm/IR/DimTrace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

using Kind = Expr::Kind;

/// A number converted from an integer that is a constant or the size of a
/// dimension; null if it is neither.
static Expr *readCount(ExprPool &pool, Value integer) {
  while (Operation *op = integer.getDefiningOp()) {
    if (!isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
             arith::ExtUIOp, arith::TruncIOp>(op))
      break;
    integer = op->getOperand(0);
  }
  APInt number;
  if (matchPattern(integer, m_ConstantInt(&number)))
    return pool.constant(static_cast<float>(number.getSExtValue()));
  auto dim = integer.getDefiningOp<tensor::DimOp>();
  if (!dim || !dim.getConstantIndex())
    return nullptr;
  DimSource source = traceSize(dim.getResult());
  if (source.isStatic())
    return pool.constant(static_cast<float>(source.size));
  return pool.size(Kind::Size, source.value, source.dim);
}

/// `value` to the power of `exponent`, where that is a product or a root.
static Expr *readPower(ExprPool &pool, Expr *value, double exponent) {
  if (exponent == 0.5)
    return pool.sqrt(value);
  if (exponent == -0.5)
    return pool.rsqrt(value);
  if (exponent == -1.5)
    return pool.product(ExprPool::List(3, pool.rsqrt(value)));
  if (exponent == 1 || exponent == 2 || exponent == 3 || exponent == 4)
    return pool.product(ExprPool::List(static_cast<size_t>(exponent), value));
  return nullptr;
}

/// 1 / `factor`, where that is a root or the size of a dimension, or null.
static Expr *readInverse(ExprPool &pool, Expr *factor) {
  if (factor->is(Kind::Sqrt))
    return pool.rsqrt(factor->operands.front());
  if (factor->is(Kind::Size))
    return pool.size(Kind::InverseSize, factor->value, factor->extents.front());
  return nullptr;
}

static Expr *readQuotient(ExprPool &pool, Expr *lhs, Expr *rhs) {
  double number = getNumber(rhs);
  ExprPool::List factors{lhs};
  for (Expr *factor : getFactors(rhs))
    factors.push_back(readInverse(pool, factor));
  if (!llvm::is_contained(factors, nullptr) && number != 0)
    return pool.product(factors, 1 / number);
  // Derivatives of rsqrt: v^-1/2 / v is the third power of a root.
  Expr *root = pool.rsqrt(rhs);
  if (llvm::is_contained(getFactors(lhs), root))
    return pool.product({lhs, root, root});
  return nullptr;
}

static Expr *readFloat(ExprPool &pool, Operation *op,
                       ArrayRef<Expr *> operands) {
  if (isa<arith::MulFOp>(op))
    return pool.product(operands);
  if (isa<arith::AddFOp>(op))
    return pool.add(operands[0], operands[1]);
  if (isa<arith::SubFOp>(op))
    return pool.subtract(operands[0], operands[1]);
  if (isa<arith::NegFOp>(op))
    return pool.product(operands, -1);
  if (isa<arith::DivFOp>(op))
    return readQuotient(pool, operands[0], operands[1]);
  if (isa<math::RsqrtOp>(op))
    return pool.rsqrt(operands[0]);
  if (isa<math::SqrtOp>(op))
    return pool.sqrt(operands[0]);
  if (isa<math::FmaOp>(op))
    return pool.add(pool.product(operands.take_front(2)), operands[2]);
  if (isa<math::PowFOp>(op) && operands[1]->is(Kind::Constant))
    return readPower(pool, operands[0], operands[1]->number);
  APInt exponent;
  if (isa<math::FPowIOp>(op) &&
      matchPattern(op->getOperand(1), m_ConstantInt(&exponent)) &&
      exponent.getSignificantBits() <= 32)
    return readPower(pool, operands[0], exponent.getSExtValue());
  return nullptr;
}

/// `number` rounded to `type`.
static Expr *readConstant(ExprPool &pool, APFloat number, Type type) {
  bool losesInfo;
  number.convert(cast<FloatType>(type).getFloatSemantics(),
                 APFloat::rmNearestTiesToEven, &losesInfo);
  return pool.constant(number.convertToDouble());
}

Expr *raising::readArithmetic(ExprPool &pool, Operation *op,
                              ArrayRef<Expr *> operands) {
  Type type = op->getResult(0).getType();
  auto opaque = [&] { return pool.operation(op, operands); };
  if (!isSmallFloat(type))
    return opaque();
  FloatAttr constant;
  if (matchPattern(op, m_Constant(&constant)))
    return pool.constant(constant.getValue().convertToDouble());
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op)) {
    Expr *count = readCount(pool, op->getOperand(0));
    return count ? pool.round(type, count) : opaque();
  }
  if (isa<arith::ExtFOp, arith::TruncFOp>(op)) {
    // PyTorch's epsilon is an f64.
    if (matchPattern(op->getOperand(0), m_Constant(&constant)))
      return readConstant(pool, constant.getValue(), type);
    // Only to nearest even; f64 and fp8 are no values of ours.
    auto truncf = dyn_cast<arith::TruncFOp>(op);
    bool isOther = truncf && truncf.getRoundingmode().value_or(
                                 arith::RoundingMode::to_nearest_even) !=
                                 arith::RoundingMode::to_nearest_even;
    if (isOther || !isSmallFloat(op->getOperand(0).getType()))
      return opaque();
    return pool.round(type, operands[0]);
  }
  Expr *result = readFloat(pool, op, operands);
  return result ? pool.round(type, result) : opaque();
}
