// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Forward.cpp - which scalars are norms -----------------------------===//

#include "Emit.h"
#include "Match.h"
#include "RMSNorm/IR/DimTrace.h"

#include <cmath>
#include <utility>

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

using Kind = Expr::Kind;
using List = ExprPool::List;

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

Expr *raising::getRoot(Expr *factor) {
  Expr *exact = stripRound(factor);
  return exact->is(Kind::Rsqrt) ? exact : nullptr;
}

Expr *raising::findInverse(Expr *expr, Expr *body, AffineExpr loop) {
  SmallVector<DimSource> sources;
  for (Expr *part : getParts(body))
    if (part->is(Kind::Element) && isa<ShapedType>(part->value.getType()))
      for (auto [dim, index] : llvm::enumerate(part->indices))
        if (index == loop)
          sources.push_back(traceDim(part->value, dim));
  for (Expr *part : getParts(expr))
    if (part->is(Kind::InverseSize) &&
        llvm::is_contained(sources, DimSource{ShapedType::kDynamic, part->value,
                                              part->extents.front()}))
      return part;
  return nullptr;
}

Expr *raising::openRoundings(ExprPool &pool, Expr *expr) {
  List factors = getFactors(expr);
  if (llvm::none_of(factors, getRoot))
    for (Expr *&factor : factors) {
      if (!factor->is(Kind::Round))
        continue;
      Expr *inside = openRoundings(pool, factor->operands.front());
      if (llvm::none_of(getFactors(inside), getRoot))
        continue;
      factor = inside;
      break;
    }
  return pool.product(factors, getNumber(expr));
}

namespace {
/// A multiple of the sum of squares, of the product of `roots` each.
struct SumOfSquares {
  Expr *sum = nullptr;
  double number = 1;
  List roots;
};
} // namespace

/// Reads `mean` as a sum of squares over one dimension. Returns why it is none,
/// or nothing.
static StringRef readSquares(Expr *mean, SumOfSquares &result) {
  result.number = getNumber(mean);
  // Factors of x that do not depend on the column stand outside of the sum.
  List squares;
  for (Expr *part : getFactors(mean)) {
    Expr *exact = stripRound(part);
    if (exact->is(Kind::Sum) && !result.sum)
      result.sum = exact;
    else if (!part->is(Kind::InverseSize))
      squares.push_back(part);
  }
  if (!result.sum || result.sum->indices.size() != 1)
    return "what is under the root is no sum over one dimension, from zero, "
           "plus epsilon";
  Expr *body = result.sum->operands.front();
  squares.append(getFactors(stripRound(body)));
  llvm::sort(squares, [](Expr *a, Expr *b) { return a->id < b->id; });
  for (size_t i = 0; i < squares.size(); i += 2) {
    if (i + 1 == squares.size() || squares[i] != squares[i + 1])
      return "what is summed is not the square of one value";
    result.roots.push_back(squares[i]);
  }
  return body->freeSymbols.empty() ? "what is summed is the same in all columns"
                                   : "";
}

bool raising::guessNorm(Context &context, Expr *factor, ArrayRef<Expr *> parts,
                        double &number, Norm &norm) {
  ExprPool &pool = context.pool;
  Expr *root = getRoot(factor);
  auto fail = [&](int progress, const llvm::Twine &text) {
    return context.fail(root, progress, text);
  };
  Expr *shifted = stripRound(root->operands.front());
  norm.eps = getConstantTerm(shifted);
  if (!(static_cast<float>(norm.eps) > 0) || !std::isfinite(norm.eps))
    return fail(kGuess, "no constant positive epsilon is added under the root");

  Expr *mean = stripRound(shifted->operands.front());
  SumOfSquares squares;
  if (StringRef reason = readSquares(mean, squares); !reason.empty())
    return fail(kGuess, reason);
  Expr *sum = squares.sum, *body = sum->operands.front();
  norm.rstd = factor;
  norm.extent = sum->extents.front();
  double scale = squares.number;
  if (!ShapedType::isDynamic(norm.extent))
    scale *= norm.extent;
  else if (!(norm.inverse = findInverse(mean, body, sum->getSymbol())))
    return fail(kGuess, "the divisor is not proven to be the size of the "
                        "dimension that is summed");

  uint64_t columns = 0;
  bool isRounded = false;
  for (Expr *part : parts)
    columns |= part->dims & ~sum->dims;
  for (unsigned column : getDims(columns)) {
    List x;
    for (Expr *square : squares.roots)
      x.push_back(pool.substitute(square, sum->getSymbol(), pool.dim(column)));
    auto isIn = [&](ArrayRef<Expr *> factors) {
      return llvm::all_of(
          x, [&](Expr *part) { return llvm::is_contained(factors, part); });
    };
    if (!isSameSize(norm.extent, norm.host.getStaticLoopRanges()[column], body,
                    sum->getSymbol()))
      continue;
    if (!isIn(parts)) {
      isRounded |= llvm::any_of(parts, [&](Expr *part) {
        return part->is(Kind::Round) && isIn(getFactors(stripRound(part)));
      });
      continue;
    }
    // A constant may be part of x: c * x * rsqrt(mean((c * x)^2) + eps).
    if (number != 1 && isNear(scale, number * number))
      x.push_back(pool.constant(std::exchange(number, 1)));
    norm.column = column;
    norm.x = pool.product(x);
    norm.inputType = pool.getType(norm.x);
    return true;
  }
  return fail(kFactors,
              isRounded ? "x times another factor is rounded before it is "
                          "multiplied with the root"
                        : "what is multiplied with the root is not the x whose "
                          "squares are summed");
}

Expr *raising::guessInProduct(Context &context, Expr *product, Expr *factor,
                              Norm &norm) {
  List others = getFactors(product);
  double number = getNumber(product);
  take(others, factor);
  if (!getRoot(factor) || others.empty() ||
      !guessNorm(context, factor, others, number, norm) ||
      !llvm::all_of(getFactors(norm.x),
                    [&](Expr *part) { return take(others, part); }))
    return nullptr;
  return context.pool.product(others, number);
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

void raising::splitOffset(Norm &norm) {
  Expr *sum = norm.weight;
  if (norm.casting == Casting::none) {
    if (getRounding(sum) != norm.inputType)
      return;
    sum = stripRound(sum);
  }
  const double offset = getConstantTerm(sum);
  if (offset == 0 || !std::isfinite(static_cast<float>(offset)))
    return;
  norm.offset = offset;
  norm.weight = sum->operands.front();
}

/// True if x is a - mean(a), of any a. If `isRelaxed`, roundings do not count.
static bool isCentred(Context &context, const Norm &norm, bool isRelaxed) {
  ExprPool &pool = context.pool;
  Expr *x = norm.x;
  if (x->is(Kind::Element) && isa<ShapedType>(x->value.getType()))
    x = context.reader.definition(x->value, x->indices);
  if (isRelaxed)
    x = pool.relax(x);
  Definition definition(pool, norm);
  return x->is(Kind::Add) && llvm::any_of(x->operands, [&](Expr *a) {
           Expr *centred = pool.subtract(a, definition.getMean(a));
           return definition.compare(centred, x).empty();
         });
}

bool raising::isOfVariance(Context &context, Expr *root) {
  ExprPool &pool = context.pool;
  if (!root->is(Kind::Rsqrt)) // It is saved.
    return false;
  Norm norm{linalg::LinalgOp()};
  norm.column = kMaxLoops;
  Expr *variance = pool.relax(root->operands.front());
  const SmallVector<Expr *, 0> parts = getParts(variance);
  return llvm::any_of(parts, [&](Expr *sum) {
    SumOfSquares squares;
    if (!sum->is(Kind::Sum) || !readSquares(sum, squares).empty())
      return false;
    norm.extent = sum->extents.front();
    norm.inverse =
        findInverse(variance, sum->operands.front(), sum->getSymbol());
    norm.x = pool.substitute(pool.product(squares.roots), sum->getSymbol(),
                             pool.dim(norm.column));
    Definition definition(pool, norm);
    Expr *mean = definition.getMean(norm.x);
    Expr *squareMean = definition.getMean(pool.product({norm.x, norm.x}));
    Expr *fast = pool.subtract(squareMean, pool.product({mean, mean}));
    return isCentred(context, norm, /*isRelaxed=*/true) ||
           llvm::any_of(parts, [&](Expr *part) {
             return part->is(Kind::Add) &&
                    definition.compare(fast, part).empty();
           });
  });
}

bool raising::place(Context &context, Expr *expr, Norm &norm) {
  Placed placed = context.tensors.find(expr, norm.column,
                                       context.pool.getType(expr), norm.host);
  norm.operands[expr] = placed;
  return placed.tensor || canEmit(expr, context.tensors);
}

bool raising::placeOperands(Context &context, Norm &norm) {
  auto fail = [&](StringRef text) {
    return context.fail(stripRound(norm.rstd), kInput, text);
  };
  if (isCentred(context, norm, /*isRelaxed=*/false))
    return fail("x is centred by its own mean, a LayerNorm");
  if (norm.weight && !place(context, norm.weight, norm))
    return fail("the weight is no tensor and cannot be computed as one");
  const bool isPlaced = place(context, norm.x, norm);
  if (!norm.operands[norm.x].tensor &&
      norm.column + 1 != norm.host.getNumLoops())
    return fail("the dimension that is summed is not the last");
  return isPlaced || fail("x is no tensor and cannot be computed as one");
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// Whether `expr` is the norm of x and rstd, which are guessed, with a weight
/// of the factors of `others`.
static bool matchProduct(Context &context, Expr *expr, Expr *others,
                         Norm &norm) {
  Expr *root = getRoot(norm.rstd);
  const List weights = getFactors(others);
  for (Expr *weight : weights)
    if (weight->dims != uint64_t(1) << norm.column)
      return context.fail(
          root, kWeight,
          llvm::Twine("a factor beside the norm ") +
              (weight->dims ? "depends on the row" : "is a scalar"));
  std::string differences[3];
  for (Casting casting : {Casting::gemma, Casting::llama, Casting::none}) {
    Norm guess = norm;
    guess.casting = casting;
    if (!weights.empty()) {
      guess.weight = context.pool.product(weights);
      splitOffset(guess);
    }
    Definition definition(context.pool, guess);
    std::string &difference = differences[static_cast<int>(casting)];
    difference = definition.compare(definition.getRstd(), norm.rstd);
    if (difference.empty())
      difference = definition.compare(definition.getForward(), expr);
    if (!difference.empty())
      continue;
    norm = guess;
    return placeOperands(context, norm);
  }
  // The nearest one.
  Casting nearest =
      openRoundings(context.pool, stripRound(expr)) == stripRound(expr)
          ? Casting::gemma
          : Casting::llama;
  if (norm.rstd != root)
    nearest = Casting::none;
  return context.fail(root, kDefinition,
                      "unlike casting '" + stringifyCasting(nearest).str() +
                          "', " + differences[static_cast<int>(nearest)]);
}

std::optional<Norm> raising::matchForward(Context &context,
                                          linalg::LinalgOp host, Expr *expr) {
  Type type = getRounding(expr);
  Expr *product = openRoundings(context.pool, stripRound(expr));
  for (Expr *factor : getFactors(product)) {
    Norm norm(host);
    norm.outputType = type ? type : Float32Type::get(host.getContext());
    Expr *others = guessInProduct(context, product, factor, norm);
    if (others && matchProduct(context, expr, others, norm))
      return norm;
  }
  return std::nullopt;
}
