// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Definition.cpp - what our ops compute -----------------------------===//

#include "Match.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

using Kind = Expr::Kind;

Definition::Definition(ExprPool &pool, const Norm &norm)
    : pool(pool), norm(norm), isNone(norm.casting == Casting::none) {}

Expr *Definition::step(Expr *expr, StringRef name, bool isRounded) {
  names.try_emplace(expr, name);
  if (isRounded)
    expr = pool.round(norm.inputType, expr);
  names.try_emplace(expr, name);
  return expr;
}

Expr *Definition::getMean(Expr *body) {
  AffineExpr symbol = pool.freshSymbol();
  Expr *sum = pool.sum(pool.substitute(body, pool.dim(norm.column), symbol),
                       symbol, norm.extent);
  names.try_emplace(sum, "the sum");
  return norm.inverse ? pool.product({sum, norm.inverse})
                      : pool.product({sum}, 1.0 / norm.extent);
}

Expr *Definition::getRstd() {
  if (norm.isSaved)
    return step(norm.rstd, "rstd", isNone);
  Expr *square = step(pool.product({norm.x, norm.x}), "x * x", isNone);
  Expr *mean = step(getMean(square), "the mean", isNone);
  Expr *shifted =
      step(pool.add(mean, pool.constant(norm.eps)), "mean + eps", isNone);
  return step(pool.rsqrt(shifted), "rstd", isNone);
}

Expr *Definition::getWeight() {
  Expr *weight = norm.weight;
  if (norm.offset != 0)
    weight = pool.add(weight, pool.constant(norm.offset));
  return step(weight, "the weight", isNone);
}

Expr *Definition::getForward() {
  Expr *y = step(pool.product({norm.x, getRstd()}), "x * rstd",
                 norm.casting != Casting::gemma);
  if (norm.weight)
    y = step(pool.product({y, getWeight()}), "x * rstd * weight", isNone);
  y = pool.round(norm.outputType, y);
  names.try_emplace(y, "the result");
  return y;
}

Expr *Definition::getG(Expr *dy) {
  if (isNone)
    dy = step(dy, "dy", true);
  return norm.weight
             ? step(pool.product({dy, getWeight()}), "dy * weight", isNone)
             : dy;
}

Expr *Definition::getBackward(Expr *g) {
  Expr *r = norm.isSaved ? getRstd() : norm.rstd;
  if (!isNone) // g * r is the other term.
    return step(
        pool.product({norm.x, r, r, r, getMean(pool.product({g, norm.x}))}, -1),
        "the term of dx with x", false);
  Expr *xhat = step(pool.product({norm.x, r}), "x * rstd", true);
  Expr *product = step(pool.product({g, xhat}), "dy * weight * xhat", true);
  Expr *mean = step(getMean(product), "the mean of dy * weight * xhat", true);
  Expr *along = step(pool.product({xhat, mean}), "xhat * the mean", true);
  Expr *rest = step(pool.subtract(g, along), "the difference", true);
  return step(pool.product({rest, r}), "dx", true);
}

Expr *Definition::getAddend(Expr *dy) {
  Expr *r = norm.isSaved ? getRstd() : norm.rstd;
  Expr *xhat = step(pool.product({norm.x, r}), "x * rstd",
                    norm.casting != Casting::gemma);
  if (isNone)
    dy = step(dy, "dy", true);
  return step(pool.product({dy, xhat}), "dy * x * rstd", isNone);
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

bool raising::isNear(double a, double b) {
  // 1/N in f32 passes, 1/(N+1) does not up to N = 6 million.
  return std::abs(a - b) <= 1.5e-7 * std::abs(b);
}

/// True if they differ in their operands only, and in how 1/N is rounded.
static bool isSameNode(Expr *a, Expr *b) {
  auto isSum = [](Expr *expr) { return stripRound(expr)->is(Kind::Sum); };
  return a->kind == b->kind && a->operands.size() == b->operands.size() &&
         a->value == b->value && a->indices == b->indices &&
         a->extents == b->extents && a->type == b->type && a->name == b->name &&
         a->attributes == b->attributes &&
         (a->number == b->number ||
          (isNear(a->number, b->number) && llvm::any_of(a->operands, isSum)));
}

Definition::Difference Definition::findDifference(Expr *expected,
                                                  Expr *found) const {
  if (expected == found)
    return {};
  auto name = [&](Difference difference) {
    if (difference.name.empty())
      difference.name = names.lookup(expected);
    return difference;
  };
  if (getRounding(expected) != getRounding(found)) {
    Difference own = findDifference(stripRound(expected), stripRound(found));
    return name(own.expected ? own : Difference{expected, found});
  }
  if (!isSameNode(expected, found))
    return name({expected, found});
  ExprPool::List left(expected->operands.begin(), expected->operands.end());
  ExprPool::List right;
  for (Expr *operand : found->operands)
    if (!take(left, operand))
      right.push_back(operand);
  for (Expr *operand : left) {
    Difference difference;
    for (Expr *other : right) {
      Difference own = findDifference(operand, other);
      bool isLike = stripRound(other)->kind == stripRound(operand)->kind;
      if (!difference.expected || !own.expected || isLike)
        difference = own;
      if (!own.expected) {
        take(right, other);
        break;
      }
    }
    if (difference.expected)
      return name(difference);
  }
  return {};
}

std::string Definition::compare(Expr *expected, Expr *found) {
  auto [wanted, other, name] = findDifference(expected, found);
  if (!wanted)
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  if (name.empty() || names.lookup(wanted) != name)
    os << "a part of ";
  os << (name.empty() ? "it" : name);
  Type type = getRounding(wanted), otherType = getRounding(other);
  if (type != otherType && otherType)
    os << " is rounded to " << otherType;
  else if (type != otherType)
    os << " is not rounded to " << type;
  else if (wanted->is(Kind::Sum) && other->is(Kind::Sum) && other->type)
    os << " accumulates in " << other->type;
  else if (getFactors(wanted) == getFactors(other))
    os << " is " << llvm::format("%f", getNumber(other) / getNumber(wanted))
       << " times what it should be";
  else
    os << " is something else";
  return text;
}
