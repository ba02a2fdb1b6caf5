// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NormOps.cpp - norms that were recognised, as ops ------------------===//

#include "NormOps.h"
#include "Emit.h"

#include "mlir/Dialect/Utils/ReshapeOpsUtils.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

static APFloat toF32(double number) {
  return APFloat(static_cast<float>(number));
}

/// x as a tensor. Where rounding goes by its type, exactly of that.
Value NormOps::getInput(linalg::GenericOp host, const Norm &norm) {
  Value tensor = norm.input.tensor;
  Expr *x = norm.x;
  if (tensor) {
    if (norm.casting == Casting::gemma ||
        getElementTypeOrSelf(tensor.getType()) == norm.inputType)
      return tensor;
    SmallVector<AffineExpr> indices;
    for (int loop : norm.input.loops)
      indices.push_back(loop < 0 ? context.pool.zero()
                                 : context.pool.dim(loop));
    x = context.pool.element(tensor, indices);
  }
  tensor = emit(host, x, norm.input.loops, norm.inputType);
  // The next norm of it finds it.
  context.tensors.add(tensor);
  return tensor;
}

/// The weight, if there is one, as a tensor of rank 1.
Value NormOps::getWeight(linalg::GenericOp host, const Norm &norm) {
  if (!norm.weight)
    return Value();
  Value tensor = norm.weights.tensor;
  if (!tensor)
    return emit(host, norm.weight, norm.weights.loops,
                context.pool.getType(norm.weight));
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  if (rank == 1)
    return tensor;
  OpBuilder builder(host);
  setInsertionPoint(builder, host, tensor);
  SmallVector<ReassociationIndices> groups(1);
  for (int64_t dim = 0; dim < rank; ++dim)
    groups.front().push_back(dim);
  return tensor::CollapseShapeOp::create(builder, host.getLoc(), tensor,
                                         groups);
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

//===----------------------------------------------------------------------===//
// rstd for others
//===----------------------------------------------------------------------===//

void NormOps::returnStatistics() {
  for (Forward &forward : forwards)
    for (Value tensor : context.tensors.lookup(forward.rstd))
      if (!context.tensors.isRetired(forward.op) && !tensor.use_empty())
        returnStatistics(forward, tensor);
}

/// How dimensions of `type`, some of size 1, come out of a tensor that has
/// only its others; nothing if they are not that.
static std::optional<SmallVector<ReassociationIndices>>
getUnitDims(RankedTensorType narrow, RankedTensorType type) {
  SmallVector<ReassociationIndices> groups;
  if (type.getRank() < narrow.getRank())
    return std::nullopt;
  int64_t wide = 0;
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    bool isUnit = size == 1;
    if (!isUnit)
      ++wide;
    if (narrow.getRank() == 0 && isUnit)
      continue;
    if (groups.empty() || (!isUnit && wide > 1))
      groups.emplace_back();
    groups.back().push_back(dim);
  }
  if (wide != narrow.getRank() || llvm::is_contained(narrow.getShape(), 1))
    return std::nullopt;
  return groups;
}

/// `tensor` holds what `forward` knows.
void NormOps::returnStatistics(Forward &forward, Value tensor) {
  ForwardOp op = forward.op;
  Location loc = op.getLoc();
  auto type = cast<RankedTensorType>(tensor.getType());
  auto shape = cast<RankedTensorType>(op.getInput().getType()).getShape();
  auto rstdType = RankedTensorType::get(shape.drop_back(),
                                        Float32Type::get(op.getContext()));
  auto groups = getUnitDims(rstdType, type);
  if (!type.getElementType().isF32() || (rstdType != type && !groups))
    return;

  // As far up as its operands allow, in front of those who use rstd.
  OpBuilder builder(op);
  SmallVector<Value> operands{op.getInput(), op.getOutput()};
  if (op.getWeight())
    operands.push_back(op.getWeight());
  setInsertionPoint(builder, op, operands);
  Operation *next = &*builder.getInsertionPoint();
  for (Operation *user : tensor.getUsers())
    if (user != next && !context.tensors.precedes(next, user))
      return;

  ForwardOp other = op;
  Value rstd = op.getRstd() ? op.getResult(1) : Value();
  if (!rstd) {
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(builder, loc, op.getInput());
    sizes.pop_back();
    Value init =
        tensor::EmptyOp::create(builder, loc, sizes, builder.getF32Type());
    other = ForwardOp::create(
        builder, loc, TypeRange({op.getResult(0).getType(), init.getType()}),
        op.getInput(), op.getWeight(), op.getOutput(), init, op.getEps(),
        op.getOffset(), op.getCasting());
    rstd = other.getResult(1);
    forward.op = other;
  }
  if (rstd.getType() != type) {
    SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(builder, loc, rstd),
                              expanded;
    auto nextSize = sizes.begin();
    for (int64_t size : type.getShape())
      expanded.push_back(size == 1 ? builder.getIndexAttr(1)
                                   : OpFoldResult(*nextSize++));
    builder.setInsertionPointAfterValue(rstd);
    rstd = tensor::ExpandShapeOp::create(builder, loc, type, rstd, *groups,
                                         expanded);
  }
  if (other != op)
    rewriter.replaceTensor(op.getResult(0), other.getResult(0));
  rewriter.replaceTensor(tensor, rstd);
}
