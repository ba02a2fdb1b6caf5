// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowMath.cpp - arithmetic on the vectors of one row ----------------===//

#include "RowMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static ArrayRef<int64_t> getShape(Value value) {
  return cast<VectorType>(value.getType()).getShape();
}

Value rmsnorm::broadcastTo(OpBuilder &builder, Location loc, Value value,
                           ArrayRef<int64_t> shape) {
  auto type = cast<VectorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  return vector::BroadcastOp::create(
      builder, loc, VectorType::get(shape, type.getElementType()), value);
}

Value RowMath::extend(Value value) {
  auto type = cast<VectorType>(value.getType());
  if (type.getElementType().isF32())
    return value;
  return arith::ExtFOp::create(builder, loc, type.clone(builder.getF32Type()),
                               value);
}

Value RowMath::truncate(Value value, Type elementType) {
  if (elementType.isF32())
    return value;
  auto type = cast<VectorType>(value.getType());
  return arith::TruncFOp::create(builder, loc, type.clone(elementType), value);
}

Value RowMath::round(Value value, Type elementType) {
  return extend(truncate(value, elementType));
}

Value RowMath::constant(float value, Value like) {
  auto type = cast<VectorType>(like.getType());
  return arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(type, builder.getF32FloatAttr(value)));
}

Value RowMath::add(Value a, Value b) {
  return arith::AddFOp::create(builder, loc, a, b);
}

Value RowMath::sub(Value a, Value b) {
  return arith::SubFOp::create(builder, loc, a,
                               broadcastTo(builder, loc, b, getShape(a)));
}

Value RowMath::mul(Value a, Value b) {
  return arith::MulFOp::create(builder, loc, a,
                               broadcastTo(builder, loc, b, getShape(a)));
}

Value RowMath::sum(Value value, Value columns) {
  auto type = cast<VectorType>(value.getType());
  auto kind = ReduceKindAttr::get(builder.getContext(), ReduceKind::add);
  return RowReduceOp::create(
             builder, loc,
             VectorType::get({type.getDimSize(0), 1}, type.getElementType()),
             builder.getArrayAttr(kind), value, columns)
      .getResult(0);
}

Value RowMath::divideByColumns(Value sum, int64_t staticColumns,
                               Value columns) {
  if (!columns)
    return mul(sum, constant(1.0f / static_cast<float>(staticColumns), sum));
  Value integer =
      arith::IndexCastOp::create(builder, loc, builder.getI32Type(), columns);
  Value number =
      arith::SIToFPOp::create(builder, loc, builder.getF32Type(), integer);
  Value divisor =
      vector::BroadcastOp::create(builder, loc, sum.getType(), number);
  return arith::DivFOp::create(builder, loc, sum, divisor);
}

Value RowMath::rstd(Value x, Value columns, const APFloat &eps, Type rounding) {
  Value square = maybeRound(mul(x, x), rounding);
  Value mean = divideByColumns(sum(square, columns), getShape(x)[1], columns);
  mean = maybeRound(mean, rounding);
  Value meanSquare = add(mean, constant(eps.convertToFloat(), mean));
  meanSquare = maybeRound(meanSquare, rounding);
  return maybeRound(math::RsqrtOp::create(builder, loc, meanSquare), rounding);
}

Value RowMath::weight(Value weight, const APFloat &offset, Type rounding) {
  Value value = extend(weight);
  if (!offset.isZero())
    value = add(value, constant(offset.convertToFloat(), value));
  return maybeRound(value, rounding);
}
