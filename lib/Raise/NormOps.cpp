// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NormOps.cpp - norms that were recognised, as ops ------------------===//

#include "NormOps.h"
#include "Emit.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

static APFloat toF32(double number) {
  return APFloat(static_cast<float>(number));
}

/// Those of `indices` that are loops.
static SmallVector<AffineExpr> getLoops(ArrayRef<AffineExpr> indices) {
  return SmallVector<AffineExpr>(
      llvm::make_filter_range(indices, llvm::IsaPred<AffineDimExpr>));
}

/// The sizes but 1 of a tensor, in which reshaping leaves it.
static SmallVector<int64_t> getWideSizes(Type type) {
  return SmallVector<int64_t>(
      llvm::make_filter_range(cast<RankedTensorType>(type).getShape(),
                              [](int64_t size) { return size != 1; }));
}

/// `expr`, an operand of `norm` or null, as a tensor whose element at `indices`
/// it is.
Value NormOps::getOperand(const Norm &norm, Expr *expr,
                          ArrayRef<AffineExpr> indices) {
  if (!expr)
    return Value();
  const Placed &placed = norm.operands.find(expr)->second;
  if (!placed.tensor)
    return emit(norm.host, expr, indices, context.pool.getType(expr));
  if (ArrayRef(placed.indices) == indices)
    return placed.tensor;
  auto type = cast<RankedTensorType>(placed.tensor.getType());
  if (getLoops(placed.indices) != getLoops(indices))
    return emit(norm.host, context.pool.element(placed.tensor, placed.indices),
                indices, type.getElementType());
  SmallVector<int64_t> shape, sizes = getWideSizes(type);
  auto next = sizes.begin();
  for (AffineExpr index : indices)
    shape.push_back(isa<AffineDimExpr>(index) ? *next++ : 1);
  ImplicitLocOpBuilder builder(norm.host->getLoc(), norm.host);
  setInsertionPoint(builder, norm.host, placed.tensor);
  return reshape(builder, placed.tensor, type.clone(shape));
}

/// Where exporters extend before they reshape, x is there in its own type, but
/// not in its shape: `tensor`, wider than `type`, reshaped from that, or null.
Value NormOps::getNarrow(Value tensor, Type type) {
  auto expand = tensor.getDefiningOp<tensor::ExpandShapeOp>();
  if (!expand)
    return Value();
  for (Value source : context.tensors.getEqual(expand.getSrc())) {
    auto sourceType = cast<RankedTensorType>(source.getType());
    if (sourceType != expand.getSrcType().clone(type) ||
        !context.tensors.dominates(source, expand))
      continue;
    OpBuilder builder(expand);
    return tensor::ExpandShapeOp::create(
        builder, expand.getLoc(), expand.getResultType().clone(type), source,
        expand.getReassociationIndices(), expand.getMixedOutputShape());
  }
  return Value();
}

/// x as a tensor. Where rounding goes by its type, exactly of that.
Value NormOps::getInput(const Norm &norm) {
  const Placed &input = norm.operands.find(norm.x)->second;
  Value tensor = input.tensor;
  if (tensor && getElementTypeOrSelf(tensor.getType()) != norm.inputType)
    if (Value narrow = getNarrow(tensor, norm.inputType))
      return narrow;
  if (tensor && (norm.casting == Casting::gemma ||
                 getElementTypeOrSelf(tensor.getType()) == norm.inputType))
    return tensor;
  Expr *x = tensor ? context.pool.element(tensor, input.indices) : norm.x;
  tensor = emit(norm.host, x, input.indices, norm.inputType);
  // The next norm of it finds it.
  context.tensors.add(tensor);
  return tensor;
}

void NormOps::createForward(Value scalar, const Norm &norm) {
  Value input = getInput(norm);
  Value weight = getOperand(norm, norm.weight, context.pool.dim(norm.column));
  ImplicitLocOpBuilder builder(scalar.getLoc(), norm.host);
  Value output = tensor::EmptyOp::create(
      builder, tensor::getMixedSizes(builder, scalar.getLoc(), input),
      norm.outputType);
  auto op = ForwardOp::create(builder, output.getType(), input, weight, output,
                              /*rstd=*/Value(), toF32(norm.eps),
                              toF32(norm.offset), norm.casting);
  Substitution names;
  for (auto [i, loop] : llvm::enumerate(getLoops(norm.getIndices())))
    names[loop] = context.pool.dim(i);
  forwards.push_back({op, context.pool.substitute(norm.rstd, names)});
  rewriter.replaceScalar(scalar, op.getResult(0), norm.getIndices());
  rewriter.takeLocations(op);
}

void NormOps::createBackward(Value scalar, const Gradient &gradient) {
  const Norm &norm = gradient.norm;
  linalg::LinalgOp host = norm.host;
  ArrayRef<AffineExpr> indices = norm.getIndices();
  Location loc = scalar ? scalar.getLoc() : host.getLoc();
  Value x = getInput(norm);
  Value weight = getOperand(norm, norm.weight, context.pool.dim(norm.column));
  Value dy = getOperand(norm, gradient.dy, indices);
  Value rstd =
      getOperand(norm, norm.isSaved ? norm.rstd : nullptr, indices.drop_back());
  Value rest = getOperand(norm, gradient.rest, indices);

  // As far up as can be: a user of dw may stand in front of the host.
  ImplicitLocOpBuilder builder(loc, host);
  if (scalar)
    setInsertionPoint(builder, host, {dy, x, weight, rstd});
  Operation *next = &*builder.getInsertionPoint();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, x);
  const int64_t columns = cast<RankedTensorType>(x.getType()).getShape().back();
  SmallVector<Value> weightGradients;
  for (Value tensor : gradient.weightGradients)
    if (!tensor.use_empty() && precedesUsers(next, tensor) &&
        getWideSizes(tensor.getType()) == SmallVector<int64_t>{columns})
      weightGradients.push_back(tensor);

  Value dw, dx = tensor::EmptyOp::create(builder, sizes, norm.outputType);
  SmallVector<Type> types{dx.getType()};
  if (!weightGradients.empty()) {
    Type type = getElementTypeOrSelf(weightGradients.front().getType());
    if (weight && type != getElementTypeOrSelf(weight.getType()))
      type = builder.getF32Type();
    dw = tensor::EmptyOp::create(builder, sizes.back(), type);
    types.push_back(dw.getType());
    // Any weight has this gradient; the op wants one to be given.
    if (!weight) {
      Value one =
          arith::ConstantOp::create(builder, builder.getFloatAttr(type, 1));
      weight = linalg::FillOp::create(builder, one, dw).getResult(0);
    }
  }
  auto op =
      BackwardOp::create(builder, types, dy, x, weight, rstd, dx, dw,
                         toF32(norm.eps), toF32(norm.offset), norm.casting);
  // First, as nobody may use dx: then the op would be gone with its host.
  for (Value tensor : weightGradients) {
    builder.setInsertionPointAfter(op); // What stood there may have gone.
    auto type = cast<RankedTensorType>(tensor.getType());
    // One may have been computed from another, and be gone with it.
    if (context.tensors.isLive(tensor) &&
        type.getElementType() == getElementTypeOrSelf(types.back()))
      rewriter.replaceTensor(tensor, reshape(builder, op.getResult(1), type));
  }
  if (scalar && context.tensors.isLive(scalar)) {
    SmallVector<Value> summands{op.getResult(0)};
    if (rest)
      summands.push_back(rest);
    rewriter.replaceScalar(scalar, summands, indices);
  }
  rewriter.takeLocations(op);
}

/// True if `next`, and so an op in front of it, precedes all users of `tensor`.
bool NormOps::precedesUsers(Operation *next, Value tensor) const {
  return llvm::all_of(tensor.getUsers(), [&](Operation *user) {
    return user == next || context.tensors.precedes(next, user);
  });
}

//===----------------------------------------------------------------------===//
// rstd for others
//===----------------------------------------------------------------------===//

void NormOps::returnStatistics() {
  for (Forward &forward : forwards)
    for (Value tensor : context.tensors.lookup(forward.rstd))
      if (context.tensors.isLive(forward.op) && !tensor.use_empty())
        returnStatistics(forward, tensor);
}

/// `tensor` holds the rstd of `forward`.
void NormOps::returnStatistics(Forward &forward, Value tensor) {
  ForwardOp op = forward.op;
  auto type = cast<RankedTensorType>(tensor.getType());
  auto shape = cast<RankedTensorType>(op.getInput().getType()).getShape();
  auto rows = RankedTensorType::get(shape.drop_back(), type.getElementType());
  if (!type.getElementType().isF32() ||
      getWideSizes(type) != getWideSizes(rows))
    return;

  // As far up as its operands allow, in front of the users of rstd.
  ImplicitLocOpBuilder builder(op.getLoc(), op);
  setInsertionPoint(builder, op, {op.getInput(), op.getWeight()});
  if (!precedesUsers(&*builder.getInsertionPoint(), tensor))
    return;
  if (!op.getRstd()) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, op.getLoc(), op.getInput());
    Value output = tensor::EmptyOp::create(
        builder, sizes, getElementTypeOrSelf(op.getOutput()));
    sizes.pop_back();
    Value init = tensor::EmptyOp::create(builder, sizes, builder.getF32Type());
    forward.op = ForwardOp::create(
        builder, TypeRange({output.getType(), init.getType()}), op.getInput(),
        op.getWeight(), output, init, op.getEps(), op.getOffset(),
        op.getCasting());
    rewriter.replaceTensor(op.getResult(0), forward.op.getResult(0));
  }
  Value rstd = forward.op.getResult(1);
  builder.setInsertionPointAfterValue(rstd);
  rewriter.replaceTensor(tensor, reshape(builder, rstd, type));
  rewriter.takeLocations(forward.op);
}
