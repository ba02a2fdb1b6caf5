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

/// The non-negative ones of `loops`.
static SmallVector<int> getWalked(ArrayRef<int> loops) {
  return SmallVector<int>(
      llvm::make_filter_range(loops, [](int loop) { return loop >= 0; }));
}

/// `placed` with its dimensions in the order of `loops`, -1 for size 1.
Value NormOps::fit(linalg::GenericOp host, const Placed &placed,
                   ArrayRef<int> loops) {
  auto type = cast<RankedTensorType>(placed.tensor.getType());
  if (ArrayRef(placed.loops) == loops)
    return placed.tensor;
  if (getWalked(placed.loops) != getWalked(loops))
    return emit(host, getElement(placed), loops, type.getElementType());
  SmallVector<int64_t> shape, sizes;
  llvm::copy_if(type.getShape(), std::back_inserter(sizes),
                [](int64_t size) { return size != 1; });
  auto next = sizes.begin();
  for (int loop : loops)
    shape.push_back(loop < 0 ? 1 : *next++);
  OpBuilder builder(host);
  setInsertionPoint(builder, host, placed.tensor);
  return reshape(builder, host.getLoc(), placed.tensor, type.clone(shape));
}

Expr *NormOps::getElement(const Placed &placed) {
  SmallVector<AffineExpr> indices;
  for (int loop : placed.loops)
    indices.push_back(loop < 0 ? context.pool.zero() : context.pool.dim(loop));
  return context.pool.element(placed.tensor, indices);
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
Value NormOps::getInput(linalg::GenericOp host, const Norm &norm) {
  Value tensor = norm.input.tensor;
  if (tensor && getElementTypeOrSelf(tensor.getType()) != norm.inputType)
    if (Value narrow = getNarrow(tensor, norm.inputType))
      return narrow;
  if (tensor && (norm.casting == Casting::gemma ||
                 getElementTypeOrSelf(tensor.getType()) == norm.inputType))
    return tensor;
  Expr *x = tensor ? getElement(norm.input) : norm.x;
  tensor = emit(host, x, norm.input.loops, norm.inputType);
  // The next norm of it finds it.
  context.tensors.add(tensor);
  return tensor;
}

/// The weight as a tensor of rank 1; null if there is none.
Value NormOps::getWeight(linalg::GenericOp host, const Norm &norm) {
  if (!norm.weight)
    return Value();
  int column = norm.column;
  if (norm.weights.tensor)
    return fit(host, norm.weights, column);
  return emit(host, norm.weight, column, context.pool.getType(norm.weight));
}

/// `expr` as a tensor of the shape of x.
Value NormOps::getLike(linalg::GenericOp host, Expr *expr, const Norm &norm) {
  Placed placed = findLike(context, host, expr, norm);
  if (placed.tensor)
    return fit(host, placed, norm.input.loops);
  return emit(host, expr, norm.input.loops, context.pool.getType(expr));
}

/// The rstd that is given, a tensor of the rows of x; null if there is none.
Value NormOps::getSavedRstd(linalg::GenericOp host, const Norm &norm) {
  if (!norm.isSaved)
    return Value();
  ArrayRef<int> loops = ArrayRef(norm.input.loops).drop_back();
  Expr *rstd = norm.rstd;
  SmallVector<int> walked(rstd->indices.size(), -1);
  for (auto [loop, index] : llvm::zip(walked, rstd->indices))
    if (auto dim = dyn_cast<AffineDimExpr>(index))
      loop = dim.getPosition();
  return fit(host, {rstd->value, walked}, loops);
}

void NormOps::createForward(linalg::GenericOp host, Value scalar,
                            const Norm &norm) {
  Value input = getInput(host, norm);
  Value weight = getWeight(host, norm);
  OpBuilder builder(host);
  Location loc = scalar.getLoc();
  Value output = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, input),
      norm.outputType);
  auto op = ForwardOp::create(builder, loc, output.getType(), input, weight,
                              output, /*rstd=*/Value(), toF32(norm.eps),
                              toF32(norm.offset), norm.casting);
  Substitution names;
  for (int loop : ArrayRef(norm.input.loops).drop_back())
    if (loop >= 0)
      names[context.pool.dim(loop)] = context.pool.dim(names.size());
  forwards.push_back({op, context.pool.substitute(norm.rstd, names)});
  rewriter.replaceScalar(host, scalar, op.getResult(0), norm.input.loops);
}

/// The sizes but 1 of a tensor, in which reshaping leaves it.
static SmallVector<int64_t> getWideSizes(Type type) {
  return SmallVector<int64_t>(
      llvm::make_filter_range(cast<RankedTensorType>(type).getShape(),
                              [](int64_t size) { return size != 1; }));
}

/// A destination of the sizes of `like`.
static Value createEmpty(OpBuilder &builder, Location loc, Value like,
                         Type type) {
  return tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, like), type);
}

void NormOps::createBackward(linalg::GenericOp host, Value scalar,
                             const Gradient &gradient) {
  const Norm &norm = gradient.norm;
  Location loc = scalar.getLoc();
  Value x = getInput(host, norm), weight = getWeight(host, norm);
  Value dy = getLike(host, gradient.dy, norm);
  Value rstd = getSavedRstd(host, norm);

  // As far up as can be: a user of dw may stand in front of the host.
  OpBuilder builder(host);
  SmallVector<Value> operands{dy, x};
  for (Value operand : {weight, rstd})
    if (operand)
      operands.push_back(operand);
  setInsertionPoint(builder, host, operands);
  Operation *next = &*builder.getInsertionPoint();
  SmallVector<Value> weightGradients;
  for (Value tensor : gradient.weightGradients)
    if (!tensor.use_empty() && precedesUsers(next, tensor) &&
        getWideSizes(tensor.getType()) == getWideSizes(weight.getType()))
      weightGradients.push_back(tensor);

  Value dx = createEmpty(builder, loc, x, norm.outputType), dw;
  SmallVector<Type> types{dx.getType()};
  if (!weightGradients.empty()) {
    Type type = getElementTypeOrSelf(weightGradients.front().getType());
    if (type != getElementTypeOrSelf(weight.getType()))
      type = builder.getF32Type();
    dw = createEmpty(builder, loc, weight, type);
    types.push_back(dw.getType());
  }
  auto op =
      BackwardOp::create(builder, loc, types, dy, x, weight, rstd, dx, dw,
                         toF32(norm.eps), toF32(norm.offset), norm.casting);
  SmallVector<Value> summands{op.getResult(0)};
  if (gradient.rest)
    summands.push_back(getLike(host, gradient.rest, norm));
  rewriter.replaceScalar(host, scalar, summands, norm.input.loops);
  // Last: the body of the host may also compute the summand of dweight.
  for (Value tensor : weightGradients) {
    builder.setInsertionPointAfter(op); // What stood there may have gone.
    auto type = cast<RankedTensorType>(tensor.getType());
    // One may have been computed from another, and be gone with it.
    if (context.tensors.isLive(tensor) &&
        type.getElementType() == getElementTypeOrSelf(types.back()))
      rewriter.replaceTensor(tensor,
                             reshape(builder, loc, op.getResult(1), type));
  }
}

void NormOps::createWeightGradient(linalg::GenericOp host,
                                   const Gradient &gradient) {
  const Norm &norm = gradient.norm;
  Location loc = host.getLoc();
  Value x = getInput(host, norm), dy = getLike(host, gradient.dy, norm);
  OpBuilder builder(host);
  Value dx = createEmpty(builder, loc, x, norm.outputType);
  Type type = getElementTypeOrSelf(host.getResult(0));
  Value dw = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, x).back(), type);
  // Any weight has this gradient; the op wants one to be given.
  Value one =
      arith::ConstantOp::create(builder, loc, builder.getFloatAttr(type, 1));
  Value weight = linalg::FillOp::create(builder, loc, one, dw).getResult(0);
  auto op = BackwardOp::create(
      builder, loc, TypeRange({dx.getType(), dw.getType()}), dy, x, weight,
      /*rstd=*/Value(), dx, dw, toF32(norm.eps), toF32(0), norm.casting);
  Value result = host.getResult(0);
  rewriter.replaceTensor(result,
                         reshape(builder, loc, op.getResult(1),
                                 cast<RankedTensorType>(result.getType())));
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
      if (!context.tensors.isRetired(forward.op) && !tensor.use_empty())
        returnStatistics(forward, tensor);
}

/// `tensor` holds the rstd of `forward`.
void NormOps::returnStatistics(Forward &forward, Value tensor) {
  ForwardOp op = forward.op;
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(tensor.getType());
  auto shape = cast<RankedTensorType>(op.getInput().getType()).getShape();
  auto rows = RankedTensorType::get(shape.drop_back(), type.getElementType());
  if (!type.getElementType().isF32() ||
      getWideSizes(type) != getWideSizes(rows))
    return;

  // As far up as its operands allow, in front of the users of rstd.
  OpBuilder builder(op);
  SmallVector<Value> operands{op.getInput()};
  if (op.getWeight())
    operands.push_back(op.getWeight());
  setInsertionPoint(builder, op, operands);
  if (!precedesUsers(&*builder.getInsertionPoint(), tensor))
    return;
  if (!op.getRstd()) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, loc, op.getInput());
    Value output = tensor::EmptyOp::create(
        builder, loc, sizes, getElementTypeOrSelf(op.getOutput()));
    sizes.pop_back();
    Value init =
        tensor::EmptyOp::create(builder, loc, sizes, builder.getF32Type());
    forward.op = ForwardOp::create(
        builder, loc, TypeRange({output.getType(), init.getType()}),
        op.getInput(), op.getWeight(), output, init, op.getEps(),
        op.getOffset(), op.getCasting());
    rewriter.replaceTensor(op.getResult(0), forward.op.getResult(0));
  }
  Value rstd = forward.op.getResult(1);
  builder.setInsertionPointAfterValue(rstd);
  rewriter.replaceTensor(tensor, reshape(builder, loc, rstd, type));
}
