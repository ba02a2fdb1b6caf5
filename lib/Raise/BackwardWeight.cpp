// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BackwardWeight.cpp - gradients of weights without that of x -------===//

#include "Backward.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

using Kind = Expr::Kind;

/// The one loop of `host`, a sum from zero, that is not summed over; none if it
/// is something else.
static std::optional<unsigned> getColumn(const Context &context,
                                         linalg::GenericOp host) {
  if (!host.hasPureTensorSemantics() || host->getNumResults() != 1 ||
      host.getNumReductionLoops() == 0 || host.getNumParallelLoops() != 1)
    return std::nullopt;
  AffineMap map = host.getIndexingMapsArray().back();
  SmallVector<AffineExpr> indices;
  std::optional<unsigned> column;
  for (AffineExpr index : map.getResults()) {
    if (auto dim = dyn_cast<AffineDimExpr>(index)) {
      column = dim.getPosition();
      indices.push_back(context.pool.dim(0));
    } else {
      indices.push_back(context.pool.zero());
    }
  }
  Expr *sum = context.reader.definition(host.getResult(0), indices);
  if (!sum || !sum->is(Kind::Sum) || sum->type)
    return std::nullopt;
  return column;
}

/// What `host` adds up, in its loops.
static Expr *getSummand(const Context &context, linalg::GenericOp host) {
  Operation *addition =
      host.getBody()->getTerminator()->getOperand(0).getDefiningOp();
  BlockArgument accumulator = host.getRegionOutputArgs().front();
  if (!addition || addition->getNumOperands() != 2)
    return nullptr;
  const bool isFirst = addition->getOperand(0) == accumulator;
  if (!isFirst && addition->getOperand(1) != accumulator)
    return nullptr;
  return context.reader.scalar(addition->getOperand(isFirst ? 1 : 0), host);
}

/// Takes x * rstd out of `factors`, where rstd is `root`.
static bool takeNormalised(const Context &context, linalg::GenericOp host,
                           Expr *root, ExprPool::List &factors, unsigned column,
                           Norm &norm) {
  Statistics s;
  if (!take(factors, root) || !readStatistics(root, s, context.reasons) ||
      s.square || s.mean || s.shifted || !isNear(s.scale, 1) ||
      !isSameLoop(s.sum, host, column))
    return false;
  ExprPool &pool = context.pool;
  ExprPool::List x;
  for (Expr *factor : s.x) {
    x.push_back(pool.substitute(factor, s.sum->getSymbol(), pool.dim(column)));
    if (!take(factors, x.back()))
      return false;
  }
  norm.x = pool.product(x);
  norm.inputType = norm.outputType = pool.getType(norm.x);
  norm.rstd = root;
  norm.eps = s.eps;
  norm.column = column;
  return true;
}

std::optional<Gradient> raising::matchWeightGradient(const Context &context,
                                                     linalg::GenericOp host) {
  std::optional<unsigned> column = getColumn(context, host);
  Expr *summand = column ? getSummand(context, host) : nullptr;
  if (!summand)
    return std::nullopt;
  double number;
  const ExprPool::List factors = getFactors(summand, number);
  for (Expr *factor : factors) {
    Gradient gradient;
    Norm &norm = gradient.norm;
    ExprPool::List rest = factors;
    Type type;
    double own;
    ExprPool::List inside = getFactors(stripRound(factor, type), own);
    if (type) {
      // llama: x * rstd is rounded to the type of x, and is all that is.
      auto root = llvm::find_if(
          inside, [](Expr *part) { return part->is(Kind::Rsqrt); });
      if (own != 1 || root == inside.end() || !take(rest, factor) ||
          !takeNormalised(context, host, *root, inside, *column, norm) ||
          !inside.empty() || norm.inputType != type)
        continue;
      norm.casting = Casting::llama;
    } else if (!factor->is(Kind::Rsqrt) ||
               !takeNormalised(context, host, factor, rest, *column, norm)) {
      continue;
    }
    gradient.dy = context.pool.product(rest, number);
    if (gradient.dy->dims == norm.x->dims &&
        placeGradient(context, host, gradient))
      return gradient;
  }
  return std::nullopt;
}
