// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Emit.cpp - expressions as ops -------------------------------------===//

#include "Emit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

using Kind = Expr::Kind;

/// True if `value` is a scalar that a body of linalg computes or is given.
static bool isInBody(Value value) {
  return isa<linalg::LinalgOp>(value.getParentBlock()->getParentOp());
}

bool raising::canEmit(Expr *expr, const Tensors &tensors) {
  return llvm::all_of(getParts(expr), [&](Expr *part) {
    switch (part->kind) {
    case Kind::Sum:
    case Kind::Size:
    case Kind::InverseSize:
    case Kind::Index:
      return false;
    case Kind::Element:
      return tensors.isLive(part->value) && !isInBody(part->value) &&
             part->freeSymbols.empty();
    default:
      return true;
    }
  });
}

void raising::setInsertionPoint(OpBuilder &builder, Operation *host,
                                ArrayRef<Value> operands) {
  Block *block = host->getBlock();
  Operation *last = nullptr;
  for (Value operand : operands)
    if (Operation *op = operand ? operand.getDefiningOp() : nullptr;
        op && op->getBlock() == block && (!last || last->isBeforeInBlock(op)))
      last = op;
  if (last)
    builder.setInsertionPointAfter(last);
  else
    builder.setInsertionPointToStart(block);
}

Value raising::convert(ImplicitLocOpBuilder &builder, Value value, Type type) {
  if (value.getType() == type || !isSmallFloat(type) ||
      !isSmallFloat(value.getType()))
    return value;
  Type f32 = builder.getF32Type();
  if (value.getType() != f32)
    value = arith::ExtFOp::create(builder, f32, value);
  if (type != f32)
    value = arith::TruncFOp::create(builder, type, value);
  return value;
}

namespace {
/// Writes the body of an op that computes an expression.
class BodyBuilder final : public ImplicitLocOpBuilder {
public:
  using ImplicitLocOpBuilder::ImplicitLocOpBuilder;

  void map(Expr *leaf, Value value) { values[leaf] = value; }

  /// `expr`, in f32 if it is a small float.
  Value build(Expr *expr) {
    if (Value known = values.lookup(expr))
      return known;
    Value value = compute(expr);
    return values[expr] = convert(*this, value, getF32Type());
  }

private:
  Value constant(double number) {
    return arith::ConstantOp::create(
        *this, getF32FloatAttr(static_cast<float>(number)));
  }

  Value compute(Expr *expr) {
    switch (expr->kind) {
    case Kind::Constant:
      return constant(expr->number);
    case Kind::Product:
      return computeProduct(expr);
    case Kind::Add: {
      Value lhs = build(expr->operands[0]), rhs = build(expr->operands[1]);
      return arith::AddFOp::create(*this, lhs, rhs);
    }
    case Kind::Round:
      return convert(*this, build(expr->operands.front()), expr->type);
    case Kind::Rsqrt:
      return math::RsqrtOp::create(*this, build(expr->operands.front()));
    case Kind::Sqrt:
      return math::SqrtOp::create(*this, build(expr->operands.front()));
    case Kind::Op: {
      auto type = cast<FunctionType>(expr->type);
      SmallVector<Value> operands;
      for (auto [part, operandType] :
           llvm::zip(expr->operands, type.getInputs()))
        operands.push_back(convert(*this, build(part), operandType));
      OperationState state(getLoc(), *expr->name, operands, type.getResults(),
                           expr->attributes.getValue());
      return create(state)->getResult(0);
    }
    default: // A scalar from outside.
      return expr->value;
    }
  }

  Value computeProduct(Expr *expr) {
    Value product;
    for (Expr *factor : expr->operands) {
      Value value = build(factor);
      product = product ? arith::MulFOp::create(*this, product, value) : value;
    }
    if (expr->number == -1)
      return arith::NegFOp::create(*this, product);
    if (expr->number == 1)
      return product;
    return arith::MulFOp::create(*this, product, constant(expr->number));
  }

  DenseMap<Expr *, Value> values;
};
} // namespace

/// A dimension that `dim` walks, of one of `values`, which have `maps`; null if
/// there is none.
static std::pair<Value, int64_t> getWalked(AffineExpr dim, ValueRange values,
                                           ArrayRef<AffineMap> maps) {
  for (auto [value, map] : llvm::zip(values, maps))
    if (std::optional<unsigned> position = map.getResultPosition(dim))
      return {value, *position};
  return {};
}

Value raising::emit(linalg::LinalgOp host, Expr *expr,
                    ArrayRef<AffineExpr> indices, Type type) {
  MLIRContext *context = host.getContext();
  Location loc = host.getLoc();
  OpBuilder builder(host);
  const unsigned rank = indices.size();
  SmallVector<Value> operands, inputs;
  SmallVector<Expr *> leaves;
  SmallVector<AffineMap> maps;
  Substitution names;
  for (auto [i, index] : llvm::enumerate(indices))
    if (isa<AffineDimExpr>(index))
      names[index] = getAffineDimExpr(i, context);
  for (Expr *part : getParts(expr)) {
    if (!part->is(Kind::Element))
      continue;
    operands.push_back(part->value);
    if (!isa<ShapedType>(part->value.getType()))
      continue;
    leaves.push_back(part);
    inputs.push_back(part->value);
    maps.push_back(AffineMap::get(host.getNumLoops(), 0, part->indices, context)
                       .replace(names, rank, 0));
  }

  // Sizes: of the tensors that are read where these have them, otherwise of
  // those that the host walks.
  SmallVector<std::pair<Value, int64_t>> walked;
  SmallVector<int64_t> extents;
  for (auto [i, index] : llvm::enumerate(indices)) {
    auto loop = dyn_cast<AffineDimExpr>(index);
    extents.push_back(loop ? host.getStaticLoopRanges()[loop.getPosition()]
                           : 1);
    walked.push_back(getWalked(getAffineDimExpr(i, context), inputs, maps));
    if (!walked.back().first && ShapedType::isDynamic(extents.back())) {
      walked.back() =
          getWalked(loop, host->getOperands(), host.getIndexingMapsArray());
      operands.push_back(walked.back().first);
    }
  }
  setInsertionPoint(builder, host, operands);
  SmallVector<OpFoldResult> sizes;
  for (auto [extent, source] : llvm::zip(extents, walked))
    sizes.push_back(
        ShapedType::isDynamic(extent)
            ? tensor::getMixedSize(builder, loc, source.first, source.second)
            : builder.getIndexAttr(extent));
  Value init = tensor::EmptyOp::create(builder, loc, sizes, type);
  maps.push_back(builder.getMultiDimIdentityMap(rank));
  SmallVector<utils::IteratorType> iterators(rank,
                                             utils::IteratorType::parallel);
  auto op = linalg::GenericOp::create(
      builder, loc, init.getType(), inputs, init, maps, iterators,
      [&](OpBuilder &nested, Location nestedLoc, ValueRange arguments) {
        BodyBuilder body(nestedLoc, nested);
        for (auto [leaf, argument] : llvm::zip(leaves, arguments))
          body.map(leaf, convert(body, argument, body.getF32Type()));
        Value result = convert(body, body.build(expr), type);
        linalg::YieldOp::create(body, result);
      });
  return op.getResult(0);
}

Value raising::reshape(ImplicitLocOpBuilder &builder, Value tensor,
                       RankedTensorType type) {
  auto source = cast<RankedTensorType>(tensor.getType());
  if (source == type)
    return tensor;
  SmallVector<int64_t> shape(source.getShape());
  llvm::erase(shape, 1);
  RankedTensorType wide = source.clone(shape);
  if (source != wide)
    tensor = tensor::CollapseShapeOp::create(
        builder, wide, tensor,
        *getReassociationIndicesForReshape(source, wide));
  if (type != wide)
    tensor = tensor::ExpandShapeOp::create(
        builder, type, tensor, *getReassociationIndicesForReshape(wide, type));
  return tensor;
}
