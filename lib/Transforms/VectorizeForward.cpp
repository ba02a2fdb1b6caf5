// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorizeForward.cpp - the tile program of rmsnorm.forward --------===//

#include "VectorizeForward.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::rmsnorm;

Value rmsnorm::broadcastTo(OpBuilder &builder, Location loc, Value value,
                           ArrayRef<int64_t> shape) {
  auto type = cast<VectorType>(value.getType());
  if (type.getShape() == shape)
    return value;
  return vector::BroadcastOp::create(
      builder, loc, VectorType::get(shape, type.getElementType()), value);
}

namespace {
/// Arithmetic on vectors of one row, in f32.
class RowMath {
public:
  RowMath(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  Value extend(Value value) {
    auto type = cast<VectorType>(value.getType());
    if (type.getElementType().isF32())
      return value;
    return arith::ExtFOp::create(builder, loc, type.clone(builder.getF32Type()),
                                 value);
  }
  Value truncate(Value value, Type elementType) {
    if (elementType.isF32())
      return value;
    auto type = cast<VectorType>(value.getType());
    return arith::TruncFOp::create(builder, loc, type.clone(elementType),
                                   value);
  }
  /// The nearest value of `elementType`, as f32.
  Value round(Value value, Type elementType) {
    return extend(truncate(value, elementType));
  }
  Value constant(float value, Value like) {
    auto type = cast<VectorType>(like.getType());
    return arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type, builder.getF32FloatAttr(value)));
  }
  Value add(Value a, Value b) {
    return arith::AddFOp::create(builder, loc, a, b);
  }
  /// The product; a per-row factor is repeated along the row.
  Value mul(Value a, Value b) {
    auto shape = cast<VectorType>(a.getType()).getShape();
    return arith::MulFOp::create(builder, loc, a,
                                 broadcastTo(builder, loc, b, shape));
  }
  Value rsqrt(Value a) { return math::RsqrtOp::create(builder, loc, a); }

  Value sum(Value value, Value columns) {
    auto type = cast<VectorType>(value.getType());
    auto kind = ReduceKindAttr::get(builder.getContext(), ReduceKind::add);
    return RowReduceOp::create(
               builder, loc,
               VectorType::get({type.getDimSize(0), 1}, type.getElementType()),
               builder.getArrayAttr(kind), value, columns)
        .getResult(0);
  }
  /// `sum` / N.
  Value divideByColumns(Value sum, int64_t staticColumns, Value columns) {
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

private:
  OpBuilder &builder;
  Location loc;
};
} // namespace

ForwardRow rmsnorm::vectorizeForward(OpBuilder &builder, ForwardOp op,
                                     Value input, Value columns,
                                     llvm::function_ref<Value()> loadWeight) {
  RowMath math(builder, op.getLoc());
  auto inputType = cast<VectorType>(input.getType());
  Type inputElement = inputType.getElementType();
  Type outputElement =
      cast<ShapedType>(op.getOutput().getType()).getElementType();
  Casting casting = op.getCasting();
  bool roundsAll = casting == Casting::none;
  auto maybeRound = [&](Value value, bool rounds) {
    return rounds ? math.round(value, inputElement) : value;
  };

  Value x = math.extend(input);
  Value square = maybeRound(math.mul(x, x), roundsAll);
  Value mean = math.divideByColumns(math.sum(square, columns),
                                    inputType.getDimSize(1), columns);
  mean = maybeRound(mean, roundsAll);
  Value meanSquare =
      math.add(mean, math.constant(op.getEps().convertToFloat(), mean));
  meanSquare = maybeRound(meanSquare, roundsAll);
  Value rstd = maybeRound(math.rsqrt(meanSquare), roundsAll);

  Value y = maybeRound(math.mul(x, rstd), casting != Casting::gemma);
  if (op.getWeight()) {
    Value weight = math.extend(loadWeight());
    float offset = op.getOffset().convertToFloat();
    if (offset != 0.0f)
      weight = math.add(weight, math.constant(offset, weight));
    y = math.mul(y, maybeRound(weight, roundsAll));
    if (roundsAll && inputElement != outputElement)
      y = math.round(y, inputElement);
  }
  return {math.truncate(y, outputElement), rstd};
}
