// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BackwardNone.cpp - gradients that round each step -----------------===//

#include "Backward.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

using Kind = Expr::Kind;

namespace {
/// The operands of dx = (g - xhat * c) * r, c = mean(g * xhat), each step
/// rounded to `type`, in a row whose columns are the loop `column`.
struct Steps {
  Type type;
  unsigned column;
  Expr *g, *xhat, *rstd;
};
} // namespace

/// The factor of `along` = -round(xhat * c) that depends on the column.
static Expr *getXhat(Expr *along, unsigned column) {
  double number;
  ExprPool::List factors = getFactors(along, number);
  if (number != -1 || factors.size() != 1)
    return nullptr;
  Type type;
  factors = getFactors(stripRound(factors.front(), type), number);
  if (!type || number != 1 || factors.size() != 2)
    return nullptr;
  for (Expr *factor : factors)
    if (factor->hasDim(column))
      return factor;
  return nullptr;
}

/// The mean of `sum` over its one loop as `expr` computes it, or null.
static Expr *getMean(ExprPool &pool, Expr *expr, Expr *sum) {
  Expr *mean = nullptr;
  walk(expr, [&](Expr *part) {
    double number;
    ExprPool::List factors = getFactors(part, number);
    if (mean || !part->is(Kind::Product) || !take(factors, sum))
      return;
    double size = sum->extents.front();
    if (ShapedType::isDynamic(sum->extents.front())) {
      if (factors.size() != 1 || !factors.front()->is(Kind::InverseSize) ||
          !isExtent(factors.front(), sum->operands.front(), sum->getSymbol()))
        return;
      factors.clear();
      size = 1;
    }
    if (factors.empty() && isNear(number * size, 1))
      mean = part;
  });
  return mean;
}

/// True if `expr` is what the definition makes of `steps`.
static bool isGradient(ExprPool &pool, linalg::GenericOp host, Expr *expr,
                       const Steps &steps) {
  Type type = steps.type;
  auto round = [&](Expr *step) { return pool.round(type, step); };
  AffineExpr symbol = pool.freshSymbol();
  Expr *body = round(pool.product({steps.g, steps.xhat}));
  Expr *sum = pool.sum(pool.substitute(body, pool.dim(steps.column), symbol),
                       symbol, host.getStaticLoopRanges()[steps.column]);
  if (!sum->is(Kind::Sum))
    return false;
  Expr *mean = getMean(pool, expr, sum);
  if (!mean)
    return false;
  Expr *along = round(pool.product({steps.xhat, round(mean)}));
  Expr *rest = round(pool.subtract(steps.g, along));
  return round(pool.product({rest, steps.rstd})) == expr;
}

/// Reads x and what rstd is from `steps`.
static bool readOperands(const Context &context, const Steps &steps,
                         Gradient &gradient) {
  ExprPool &pool = context.pool;
  Norm &norm = gradient.norm;
  Type type;
  double number;
  ExprPool::List x = getFactors(stripRound(steps.xhat, type), number);
  if (type != steps.type || number != 1 || !take(x, steps.rstd))
    return false;
  norm.x = pool.product(x);
  norm.inputType = pool.getType(norm.x);
  if (norm.inputType != steps.type)
    return false;
  Expr *root = stripRound(steps.rstd, type);
  if (type != steps.type)
    return false;
  if (!root->is(Kind::Rsqrt)) {
    gradient.savedRstd = root;
    return root->is(Kind::Element) && pool.getType(root).isF32() &&
           isa<RankedTensorType>(root->value.getType());
  }
  Statistics s;
  if (!readStatistics(root, s, context.reasons) || s.square != type ||
      s.mean != type || s.shifted != type || !isNear(s.scale, 1))
    return false;
  norm.eps = s.eps;
  return pool.substitute(pool.product(s.x), s.sum->getSymbol(),
                         pool.dim(steps.column)) == norm.x;
}

bool raising::matchNoneGradient(const Context &context, linalg::GenericOp host,
                                Expr *expr, Gradient &gradient) {
  ExprPool &pool = context.pool;
  Steps steps;
  double number;
  ExprPool::List factors = getFactors(stripRound(expr, steps.type), number);
  if (!steps.type || number != 1 || factors.size() != 2)
    return false;
  for (int i : {0, 1}) {
    Type type;
    Expr *rest = stripRound(factors[i], type);
    steps.rstd = factors[1 - i];
    if (type != steps.type || !rest->is(Kind::Add))
      continue;
    for (unsigned column : getDims(rest->dims & ~steps.rstd->dims))
      for (int j : {0, 1}) {
        steps.column = column;
        steps.g = rest->operands[j];
        steps.xhat = getXhat(rest->operands[1 - j], column);
        if (!steps.xhat || !isGradient(pool, host, expr, steps))
          continue;
        gradient = Gradient();
        Norm &norm = gradient.norm;
        norm.eps = kUnusedEps;
        norm.casting = Casting::none;
        norm.column = column;
        norm.rstd = steps.rstd;
        norm.outputType = steps.type;
        if (!readOperands(context, steps, gradient))
          continue;
        // g is rounded if there is a weight.
        factors = getFactors(stripRound(steps.g, type), number);
        splitWeight(pool, factors, number, gradient);
        Type dyType;
        Expr *dy = stripRound(gradient.dy, dyType);
        bool isExact = pool.getType(gradient.dy) == steps.type &&
                       (!norm.weight || norm.offset != 0 ||
                        pool.getType(norm.weight) == steps.type);
        if (!isExact || bool(type) != bool(norm.weight))
          continue;
        // The op rounds dy itself.
        gradient.dy = dy;
        return true;
      }
  }
  return false;
}
