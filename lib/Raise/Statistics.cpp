// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Statistics.cpp - rsqrt(mean(x * x) + eps) -------------------------===//

#include "Statistics.h"
#include "RMSNorm/IR/DimTrace.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

using Kind = Expr::Kind;

bool Reasons::add(Expr *root, int progress, const llvm::Twine &text) {
  auto [it, isNew] = texts.try_emplace(pool.renumber(root));
  if (isNew || progress > it->second.first)
    it->second = {progress, text.str()};
  return false;
}

StringRef Reasons::lookup(Expr *root) {
  auto it = texts.find(pool.renumber(root));
  return it == texts.end() ? StringRef() : StringRef(it->second.second);
}

bool raising::isNear(double a, double b) {
  // 1/N in f32 passes, 1/(N+1) does not up to N = 6 million.
  return std::abs(a - b) <= 1.5e-7 * std::abs(b);
}

bool raising::isExtent(Expr *size, Expr *body, AffineExpr symbol) {
  DimSource wanted{ShapedType::kDynamic, size->value, size->extents.front()};
  bool found = false;
  walk(body, [&](Expr *part) {
    if (!part->is(Kind::Element) || !isa<ShapedType>(part->value.getType()))
      return;
    for (auto [dim, index] : llvm::enumerate(part->indices))
      found |= index == symbol && traceDim(part->value, dim) == wanted;
  });
  return found;
}

/// Reads the mean: a constant times the sum, over N.
static bool readMean(Expr *mean, Statistics &s, Reasons &reasons,
                     ExprPool::List &others) {
  double number;
  Expr *inverse = nullptr;
  Type sumType;
  for (Expr *factor : getFactors(mean, number)) {
    Type type;
    Expr *exact = stripRound(factor, type);
    if (factor->is(Kind::InverseSize) && !inverse)
      inverse = factor;
    else if (exact->is(Kind::Sum) && !s.sum)
      s.sum = exact, sumType = type;
    else
      others.push_back(factor);
  }
  if (!s.sum || s.sum->indices.size() != 1)
    return reasons.add(s.root, kMean,
                       "what is under the root is no sum over one dimension, "
                       "from zero, plus epsilon");
  if (s.sum->type)
    return reasons.add(s.root, kSum,
                       "the sum accumulates in a type narrower than f32");
  int64_t extent = s.sum->extents.front();
  if (ShapedType::isDynamic(extent)) {
    if (!inverse ||
        !isExtent(inverse, s.sum->operands.front(), s.sum->getSymbol()))
      return reasons.add(s.root, kSum,
                         "the divisor is not proven to be the size of the "
                         "dimension that is summed");
    s.scale = number;
  } else {
    if (inverse)
      return reasons.add(s.root, kSum,
                         "it is divided by a size that is not the one of the "
                         "dimension that is summed");
    s.scale = number * extent;
  }
  // Rounding and dividing by a power of two are interchangeable in bf16, whose
  // exponents are those of f32.
  if (sumType && !(sumType == s.mean && sumType.isBF16() && extent > 0 &&
                   llvm::isPowerOf2_64(extent)))
    return reasons.add(s.root, kSum, "the sum is rounded before the division");
  return true;
}

bool raising::readStatistics(Expr *root, Statistics &s, Reasons &reasons) {
  s = Statistics();
  s.root = root;
  Expr *shifted = stripRound(root->operands.front(), s.shifted);
  Expr *eps = nullptr, *mean = nullptr;
  if (shifted->is(Kind::Add))
    for (int i : {0, 1})
      if (shifted->operands[i]->is(Kind::Constant))
        eps = shifted->operands[i], mean = shifted->operands[1 - i];
  if (!eps)
    return reasons.add(root, kUnderRoot,
                       "no constant epsilon is added under the root");
  s.eps = eps->number;
  if (!(static_cast<float>(s.eps) > 0) || !std::isfinite(s.eps))
    return reasons.add(root, kUnderRoot, "epsilon is not finite and positive");
  ExprPool::List squares;
  mean = stripRound(mean, s.mean);
  if (!readMean(mean, s, reasons, squares))
    return false;

  // Factors that do not depend on the column stand outside of the sum.
  double number;
  Expr *body = stripRound(s.sum->operands.front(), s.square);
  bool factorsOutside = !squares.empty();
  squares.append(getFactors(body, number));
  if (number != 1 || (s.square && factorsOutside))
    return reasons.add(root, kSquare, "a factor beside the rounded square");
  llvm::sort(squares, [](Expr *a, Expr *b) { return a->id < b->id; });
  bool isSquare = squares.size() % 2 == 0;
  for (size_t i = 0; i + 1 < squares.size(); i += 2) {
    isSquare &= squares[i] == squares[i + 1];
    s.x.push_back(squares[i]);
  }
  return isSquare ||
         reasons.add(root, kSquare,
                     "what is summed is not the square of one value");
}
