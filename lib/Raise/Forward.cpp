// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Forward.cpp - which scalars are norms -----------------------------===//

#include "Forward.h"
#include "Emit.h"

#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

using Kind = Expr::Kind;

/// The Rsqrt that `factor` is or rounds, or null.
static Expr *getRoot(Expr *factor) {
  Type type;
  Expr *exact = stripRound(factor, type);
  return exact->is(Kind::Rsqrt) ? exact : nullptr;
}

/// What `expr` is the absolute value of, or null.
static Expr *getMagnitude(Expr *expr) {
  return expr->is(Kind::Op) &&
                 expr->name->getStringRef() == math::AbsFOp::getOperationName()
             ? expr->operands.front()
             : nullptr;
}

ForwardMatcher::ForwardMatcher(const Context &context, linalg::GenericOp host)
    : context(context), pool(context.pool), host(host) {}

std::optional<Norm> ForwardMatcher::match(Expr *expr) {
  Product product;
  Expr *exact = stripRound(expr, product.outer);
  product.inside = getFactors(exact, product.innerNumber);
  // llama: one factor is a rounded product that has the root in it.
  if (llvm::none_of(product.inside, getRoot)) {
    for (Expr *factor : product.inside) {
      Type type;
      double number;
      List factors = getFactors(stripRound(factor, type), number);
      if (!type || llvm::none_of(factors, getRoot))
        continue;
      product.outside = product.inside;
      take(product.outside, factor);
      product.number = product.innerNumber;
      product.innerNumber = number;
      product.inner = type;
      product.inside = factors;
      break;
    }
  }
  for (Expr *factor : product.inside) {
    Norm norm;
    if (getRoot(factor) && matchRoot(product, factor, norm))
      return norm;
  }
  return std::nullopt;
}

bool ForwardMatcher::matchRoot(const Product &product, Expr *factor,
                               Norm &norm) {
  List factors = product.inside;
  take(factors, factor);
  if (factors.empty())
    return false;
  Expr *root = getRoot(factor);
  Reasons &reasons = context.reasons;
  Statistics s;
  if (!readStatistics(root, s, reasons) || !matchX(s, factors, norm) ||
      !matchScale(s, product.innerNumber, norm))
    return false;
  if (product.number != 1)
    return reasons.add(root, kScale, "a constant factor beside the norm");

  Type rstdType;
  stripRound(factor, rstdType);
  norm.rstd = factor;
  norm.eps = s.eps;
  norm.outputType =
      product.outer ? product.outer : Type(Float32Type::get(host.getContext()));
  if (!matchRoundings(s, product, !factors.empty(), norm, rstdType) ||
      !matchWeight(root, product.inner ? product.outside : factors, norm))
    return false;
  return placeOperands(context, host, root, norm);
}

bool raising::isSameLoop(Expr *sum, linalg::LinalgOp host, unsigned column) {
  int64_t size = host.getStaticLoopRanges()[column];
  int64_t extent = sum->extents.front();
  if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(extent))
    return size == extent;
  return walksDimension(sum->operands.front(), sum->getSymbol());
}

/// Finds the loop of the columns: with it in place of the sum's symbol, all
/// factors of x are among `factors`, which loses them.
bool ForwardMatcher::matchX(const Statistics &s, List &factors, Norm &norm) {
  uint64_t dims = 0;
  for (Expr *factor : factors)
    dims |= factor->dims;
  for (unsigned column : getDims(dims & ~s.sum->dims)) {
    List rest = factors, x;
    bool found = isSameLoop(s.sum, host, column);
    for (Expr *part : s.x) {
      Expr *own = pool.substitute(part, s.sum->getSymbol(), pool.dim(column));
      // The square of |x| is that of x.
      Expr *inside = getMagnitude(own);
      if (found && inside && !llvm::is_contained(rest, own))
        own = inside;
      x.push_back(own);
      found = found && take(rest, own);
    }
    if (!found)
      continue;
    norm.column = column;
    norm.x = pool.product(x);
    factors = rest;
    return true;
  }
  return context.reasons.add(s.root, kFactors,
                             "what is multiplied with the root is not the x "
                             "whose squares are summed");
}

/// The mean of the squares, and the constant `number` before x and the root.
bool ForwardMatcher::matchScale(const Statistics &s, double number,
                                Norm &norm) {
  Reasons &reasons = context.reasons;
  if (isNear(s.scale, 1) && number == 1)
    return true;
  // A constant may be part of x: c * x * rsqrt(mean((c * x)^2) + eps).
  if (number != 1 && isNear(s.scale, number * number)) {
    norm.x = pool.product({norm.x}, number);
    return true;
  }
  if (isNear(s.scale, 1))
    return reasons.add(s.root, kScale, "a constant factor beside the norm");
  return reasons.add(s.root, kScale,
                     "the sum is not divided by the length of the row; mean * "
                     "N / sum is " +
                         std::to_string(s.scale));
}

bool ForwardMatcher::matchRoundings(const Statistics &s, const Product &product,
                                    bool hasInsideFactors, Norm &norm,
                                    Type rstdType) {
  Reasons &reasons = context.reasons;
  Type type = norm.inputType = pool.getType(norm.x);
  bool any = false, all = true;
  for (Type step : {s.square, s.mean, s.shifted, rstdType}) {
    any |= bool(step);
    all &= step == type;
  }
  if (any && !all)
    return reasons.add(s.root, kRoundings,
                       "the statistics are rounded, but not as casting 'none' "
                       "rounds them");
  if (product.inner && product.inner != type)
    return reasons.add(s.root, kRoundings,
                       "x * rstd is rounded to another type than that of x");
  if (product.inner && hasInsideFactors)
    return reasons.add(s.root, kRoundings,
                       "a further factor where only x * rstd is rounded");
  norm.casting = all             ? Casting::none
                 : product.inner ? Casting::llama
                                 : Casting::gemma;
  // Without a weight, round_T(x * rstd) is all there is to round.
  if (all && (product.outer != type || (!product.inner && hasInsideFactors)))
    return reasons.add(s.root, kRoundings,
                       "casting 'none' without its roundings of the products");
  return true;
}

bool ForwardMatcher::matchWeight(Expr *root, ArrayRef<Expr *> factors,
                                 Norm &norm) {
  Reasons &reasons = context.reasons;
  uint64_t column = uint64_t(1) << norm.column;
  for (Expr *factor : factors) {
    if (factor->dims & ~column)
      return reasons.add(root, kWeight,
                         "a factor beside the norm depends on the row");
    if (!factor->dims)
      return reasons.add(root, kWeight, "a factor beside the norm is a scalar");
  }
  if (factors.empty())
    return true;
  norm.weight = pool.product(factors);
  splitOffset(norm);
  if (norm.casting == Casting::none && norm.offset == 0 &&
      pool.getType(norm.weight) != norm.inputType)
    return reasons.add(root, kWeight,
                       "casting 'none' with a weight that is not rounded");
  return true;
}

void raising::splitOffset(Norm &norm) {
  Type type;
  Expr *sum = norm.weight;
  if (norm.casting == Casting::none) {
    sum = stripRound(sum, type);
    if (type != norm.inputType)
      return;
  }
  if (!sum->is(Kind::Add))
    return;
  for (int i : {0, 1}) {
    Expr *constant = sum->operands[i];
    if (!constant->is(Kind::Constant) ||
        !std::isfinite(static_cast<float>(constant->number)))
      continue;
    norm.offset = constant->number;
    norm.weight = sum->operands[1 - i];
    return;
  }
}

/// True if `x` is a - mean(a).
static bool isCentred(const Context &context, Expr *x, unsigned column) {
  ExprPool &pool = context.pool;
  if (x->is(Kind::Element) && isa<ShapedType>(x->value.getType()))
    x = context.reader.definition(x->value, x->indices);
  if (!x->is(Kind::Add))
    return false;
  for (int i : {0, 1}) {
    double number;
    ExprPool::List factors = getFactors(x->operands[i], number);
    for (Expr *sum : factors)
      if (number < 0 && sum->is(Kind::Sum) && sum->indices.size() == 1 &&
          pool.substitute(sum->operands.front(), sum->getSymbol(),
                          pool.dim(column)) == x->operands[1 - i])
        return true;
  }
  return false;
}

bool raising::placeOperands(const Context &context, linalg::GenericOp host,
                            Expr *root, Norm &norm) {
  Reasons &reasons = context.reasons;
  Tensors &tensors = context.tensors;
  if (isCentred(context, norm.x, norm.column))
    return reasons.add(root, kInput,
                       "x is centred by its own mean, a LayerNorm");
  if (norm.weight) {
    Type type = context.pool.getType(norm.weight);
    norm.weights = tensors.find(norm.weight, {}, norm.column, type, host);
    if (!norm.weights.tensor && !canEmit(norm.weight, tensors))
      return reasons.add(root, kInput,
                         "the weight is no tensor and cannot be computed as "
                         "one");
  }
  uint64_t column = uint64_t(1) << norm.column;
  SmallVector<unsigned> rows = getDims(norm.x->dims & ~column);
  norm.input = tensors.find(norm.x, rows, norm.column, norm.inputType, host);
  if (norm.input.tensor)
    return true;
  norm.input.loops.assign(rows.begin(), rows.end());
  norm.input.loops.push_back(norm.column);
  if (norm.column + 1 != host.getNumLoops())
    return reasons.add(root, kInput,
                       "the dimension that is summed is not the last");
  if (!canEmit(norm.x, tensors))
    return reasons.add(root, kInput,
                       "x is no tensor and cannot be computed as one");
  return true;
}
