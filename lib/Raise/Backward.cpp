// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Backward.cpp - which scalars are gradients of norms ---------------===//

#include "Backward.h"
#include "Emit.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

using Kind = Expr::Kind;

/// What is no gradient may have more terms than one cares to collect.
static constexpr size_t kMaxTerms = 8;

static bool canPlace(const Context &context, linalg::LinalgOp host, Expr *expr,
                     const Norm &norm) {
  return findLike(context, host, expr, norm).tensor ||
         canEmit(expr, context.tensors);
}

BackwardMatcher::BackwardMatcher(const Context &context, linalg::GenericOp host)
    : context(context), pool(context.pool), host(host) {}

std::optional<Gradient> BackwardMatcher::match(Value scalar, Expr *expr) {
  Gradient gradient;
  if (matchNoneGradient(context, host, expr, gradient) &&
      placeGradient(context, host, gradient)) {
    findWeightGradients(gradient);
    return gradient;
  }
  Type type;
  Terms terms;
  if (!collectTerms(stripRound(expr, type), 1, terms))
    return std::nullopt;
  for (const Term &first : terms)
    for (const Term &second : terms) {
      gradient = Gradient();
      gradient.norm.outputType =
          type ? type : Type(Float32Type::get(host.getContext()));
      if (&first == &second || !matchTerms(first, second, gradient) ||
          !placeGradient(context, host, gradient))
        continue;
      Type sumType = gradient.norm.outputType;
      if (terms.size() > 2 &&
          (scalar.getType() != sumType ||
           !placeRest(terms, first, second, scalar, gradient)))
        continue;
      findWeightGradients(gradient);
      return gradient;
    }
  return std::nullopt;
}

/// What is added to dx before the sum is rounded, a residual's gradient. Where
/// dx is a scalar of its own, that one's turn is yet to come.
bool BackwardMatcher::placeRest(ArrayRef<Term> terms, const Term &first,
                                const Term &second, Value scalar,
                                Gradient &gradient) {
  for (Value operand : scalar.getDefiningOp()->getOperands()) {
    Terms parts;
    auto has = [&](const Term &term) {
      return llvm::any_of(parts, [&](const Term &part) {
        return part.product == term.product && part.number == term.number;
      });
    };
    if (isSmallFloat(operand.getType()) &&
        collectTerms(context.reader.scalar(operand, host), 1, parts) &&
        has(first) && has(second))
      return false;
  }
  for (const Term &term : terms) {
    if (&term == &first || &term == &second)
      continue;
    Expr *product = pool.product({term.product}, term.number);
    gradient.rest = gradient.rest ? pool.add(gradient.rest, product) : product;
  }
  gradient.norm.outputType = Float32Type::get(host.getContext());
  return !(gradient.rest->dims & ~gradient.norm.x->dims) &&
         canPlace(context, host, gradient.rest, gradient.norm);
}

//===----------------------------------------------------------------------===//
// dx in f32
//===----------------------------------------------------------------------===//

/// Collects the terms of `number` * `expr`: products are distributed over sums
/// that have statistics in them, but not over a weight plus one or a residual.
/// False if there are too many.
bool BackwardMatcher::collectTerms(Expr *expr, double number, Terms &terms) {
  if (expr->is(Kind::Add))
    return collectTerms(expr->operands[0], number, terms) &&
           collectTerms(expr->operands[1], number, terms);
  double factor;
  List factors = getFactors(expr, factor);
  for (Expr *sum : factors) {
    if (!sum->is(Kind::Add) || sum->height == 0)
      continue;
    List rest = factors;
    take(rest, sum);
    for (Expr *operand : sum->operands) {
      rest.push_back(operand);
      if (!collectTerms(pool.product(rest), number * factor, terms))
        return false;
      rest.pop_back();
    }
    return true;
  }
  Expr *product = pool.product(factors);
  for (Term &term : terms)
    if (term.product == product) {
      term.number += number * factor;
      return true;
    }
  terms.push_back({product, number * factor});
  return terms.size() <= kMaxTerms;
}

/// `first` is to be dy * w * r, `second` the rest. r is a factor of it.
bool BackwardMatcher::matchTerms(const Term &first, const Term &second,
                                 Gradient &gradient) {
  double number;
  for (Expr *factor : getFactors(first.product, number)) {
    bool isSaved = factor->is(Kind::Element) && !factor->indices.empty() &&
                   isa<RankedTensorType>(factor->value.getType()) &&
                   pool.getType(factor).isF32();
    if ((factor->is(Kind::Rsqrt) || isSaved) &&
        matchRstd(factor, first, second, gradient))
      return true;
  }
  return false;
}

bool BackwardMatcher::matchRstd(Expr *rstd, const Term &first,
                                const Term &second, Gradient &gradient) {
  Norm &norm = gradient.norm;
  double number;
  if (llvm::count(getFactors(second.product, number), rstd) < 3)
    return false;
  norm.rstd = rstd;
  gradient.savedRstd = nullptr;
  Statistics s;
  if (rstd->is(Kind::Rsqrt)) {
    if (!readStatistics(rstd, s, context.reasons) || s.square || s.mean ||
        s.shifted || !isNear(s.scale, 1))
      return false;
    norm.eps = s.eps;
  } else {
    gradient.savedRstd = rstd;
    norm.eps = kUnusedEps;
  }
  SmallVector<int64_t, 4> extents = host.getStaticLoopRanges();
  for (unsigned column : getDims(first.product->dims & ~rstd->dims)) {
    norm.column = column;
    List x;
    if (s.sum) {
      if (!isSameLoop(s.sum, host, column))
        continue;
      for (Expr *factor : s.x)
        x.push_back(
            pool.substitute(factor, s.sum->getSymbol(), pool.dim(column)));
    } else {
      // All of the second term but x depends on the row alone.
      llvm::copy_if(getFactors(second.product, number), std::back_inserter(x),
                    [&](Expr *factor) { return factor->hasDim(column); });
    }
    norm.x = pool.product(x);
    int64_t extent = s.sum ? s.sum->extents.front() : extents[column];
    if (!x.empty() && matchColumn(first, second, extent, gradient))
      return true;
  }
  return false;
}

/// Compares `second` with what it must be, all else being known.
bool BackwardMatcher::matchColumn(const Term &first, const Term &second,
                                  int64_t extent, Gradient &gradient) {
  Norm &norm = gradient.norm;
  double number;
  List factors = getFactors(first.product, number);
  take(factors, norm.rstd);
  AffineExpr symbol = pool.freshSymbol(), column = pool.dim(norm.column);
  Expr *gTimesX = pool.product({pool.product(factors), norm.x});
  Expr *sum =
      pool.sum(pool.substitute(gTimesX, column, symbol), symbol, extent);
  List expected{norm.x, norm.rstd, norm.rstd, norm.rstd, sum};
  double size = extent;
  if (ShapedType::isDynamic(extent)) {
    Expr *inverse = nullptr;
    for (Expr *factor : getFactors(second.product, number))
      if (factor->is(Kind::InverseSize) && isExtent(factor, gTimesX, column))
        inverse = factor;
    if (!inverse)
      return false;
    expected.push_back(inverse);
    size = 1;
  }
  double expectedNumber;
  List expectedFactors = getFactors(pool.product(expected), expectedNumber);
  if (pool.product(expectedFactors) != second.product ||
      !isNear(second.number * size, -first.number * expectedNumber))
    return false;
  splitWeight(pool, factors, first.number, gradient);
  return true;
}

void raising::splitWeight(ExprPool &pool, ExprPool::List factors, double number,
                          Gradient &gradient) {
  Norm &norm = gradient.norm;
  uint64_t column = uint64_t(1) << norm.column;
  ExprPool::List weights, others;
  for (Expr *factor : factors)
    (factor->dims == column ? weights : others).push_back(factor);
  if (llvm::none_of(others, [](Expr *factor) { return factor->dims; })) {
    others.append(weights);
    weights.clear();
  }
  gradient.dy = pool.product(others, number);
  norm.inputType = pool.getType(norm.x);
  if (weights.empty())
    return;
  norm.weight = pool.product(weights);
  splitOffset(norm);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

bool raising::placeGradient(const Context &context, linalg::GenericOp host,
                            Gradient &gradient) {
  Norm &norm = gradient.norm;
  if (!placeOperands(context, host, norm.rstd, norm))
    return false;
  // rstd and dy have rows as x has them, and can be made from what there is.
  uint64_t column = uint64_t(1) << norm.column;
  uint64_t rows = norm.x->dims & ~column;
  return gradient.dy->dims && !(gradient.dy->dims & ~norm.x->dims) &&
         !(norm.rstd->dims & ~rows) &&
         canPlace(context, host, gradient.dy, norm);
}

Placed raising::findLike(const Context &context, linalg::LinalgOp host,
                         Expr *expr, const Norm &norm) {
  if (expr->dims != norm.x->dims)
    return Placed();
  uint64_t column = uint64_t(1) << norm.column;
  return context.tensors.find(expr, getDims(expr->dims & ~column), norm.column,
                              context.pool.getType(expr), host);
}

/// Tensors that hold sum(dy * x * r) over all rows, or, if x * r is rounded in
/// it, what llama says it is.
void BackwardMatcher::findWeightGradients(Gradient &gradient) {
  Norm &norm = gradient.norm;
  if (!norm.weight)
    return;
  SmallVector<unsigned> rows =
      getDims(norm.x->dims & ~(uint64_t(1) << norm.column));
  SmallVector<int64_t, 4> loops = host.getStaticLoopRanges();
  Expr *xhat = pool.product({norm.x, norm.rstd});
  Expr *rounded = pool.round(norm.inputType, xhat);
  bool isNone = norm.casting == Casting::none;
  if (rows.empty())
    return;
  do {
    for (Expr *factor : {xhat, rounded}) {
      if (isNone && factor != rounded)
        continue;
      Expr *dy = isNone ? pool.round(norm.inputType, gradient.dy) : gradient.dy;
      Expr *body = pool.product({dy, factor});
      if (isNone)
        body = pool.round(norm.inputType, body);
      Substitution names{{pool.dim(norm.column), pool.dim(0)}};
      SmallVector<AffineExpr> symbols;
      SmallVector<int64_t> extents;
      for (unsigned row : rows) {
        symbols.push_back(pool.freshSymbol());
        extents.push_back(loops[row]);
        names[pool.dim(row)] = symbols.back();
      }
      Expr *sum = pool.sum(pool.substitute(body, names), symbols, extents);
      Type weightType = pool.getType(norm.weight);
      for (Type type : {weightType, Type(Float32Type::get(host.getContext()))})
        for (Value tensor : context.tensors.lookup(pool.round(type, sum)))
          if (getElementTypeOrSelf(tensor.getType()) == type)
            gradient.weightGradients.push_back(tensor);
      if (gradient.weightGradients.empty())
        continue;
      if (!isNone && factor != xhat)
        norm.casting = Casting::llama;
      return;
    }
  } while (rows.size() <= 4 && std::next_permutation(rows.begin(), rows.end()));
}
