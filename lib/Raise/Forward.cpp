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

bool raising::takeAll(List &factors, Expr *product) {
  return llvm::all_of(getFactors(product),
                      [&](Expr *factor) { return take(factors, factor); });
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

bool raising::guessNorm(Context &context, linalg::LinalgOp host, Expr *factor,
                        ArrayRef<Expr *> parts, double &number, Norm &norm) {
  ExprPool &pool = context.pool;
  Expr *root = getRoot(factor), *sum = nullptr;
  auto fail = [&](int progress, const llvm::Twine &text) {
    return context.fail(root, progress, text);
  };
  Expr *shifted = stripRound(root->operands.front());
  norm.eps = getConstantTerm(shifted);
  if (!(static_cast<float>(norm.eps) > 0) || !std::isfinite(norm.eps))
    return fail(kGuess, "no constant positive epsilon is added under the root");

  // Factors of x that do not depend on the column stand outside of the sum.
  Expr *mean = stripRound(shifted->operands.front());
  double scale = getNumber(mean);
  List squares;
  for (Expr *part : getFactors(mean)) {
    Expr *exact = stripRound(part);
    if (exact->is(Kind::Sum) && !sum)
      sum = exact;
    else if (!part->is(Kind::InverseSize))
      squares.push_back(part);
  }
  if (!sum || sum->indices.size() != 1)
    return fail(kGuess, "what is under the root is no sum over one dimension, "
                        "from zero, plus epsilon");
  Expr *body = sum->operands.front();
  squares.append(getFactors(stripRound(body)));
  llvm::sort(squares, [](Expr *a, Expr *b) { return a->id < b->id; });
  bool isSquare = squares.size() % 2 == 0;
  for (size_t i = 1; i < squares.size(); i += 2)
    isSquare &= squares[i - 1] == squares[i];
  if (!isSquare)
    return fail(kGuess, "what is summed is not the square of one value");
  if (body->freeSymbols.empty())
    return fail(kGuess, "what is summed is the same in all columns");
  norm.rstd = factor;
  norm.extent = sum->extents.front();
  if (!ShapedType::isDynamic(norm.extent))
    scale *= norm.extent;
  else if (!(norm.inverse = findInverse(mean, body, sum->getSymbol())))
    return fail(kGuess, "the divisor is not proven to be the size of the "
                        "dimension that is summed");

  uint64_t columns = 0;
  for (Expr *part : parts)
    columns |= part->dims & ~sum->dims;
  for (unsigned column : getDims(columns)) {
    List x;
    for (size_t i = 0; i < squares.size(); i += 2)
      x.push_back(
          pool.substitute(squares[i], sum->getSymbol(), pool.dim(column)));
    if (!isSameSize(norm.extent, host.getStaticLoopRanges()[column], body,
                    sum->getSymbol()) ||
        !llvm::all_of(
            x, [&](Expr *part) { return llvm::is_contained(parts, part); }))
      continue;
    // A constant may be part of x: c * x * rsqrt(mean((c * x)^2) + eps).
    if (number != 1 && isNear(scale, number * number))
      x.push_back(pool.constant(std::exchange(number, 1)));
    norm.column = column;
    norm.x = pool.product(x);
    norm.inputType = pool.getType(norm.x);
    return true;
  }
  return fail(kFactors, "what is multiplied with the root is not the x whose "
                        "squares are summed");
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

/// True if `x` is a - mean(a).
static bool isCentred(Context &context, Expr *x, unsigned column) {
  ExprPool &pool = context.pool;
  if (x->is(Kind::Element) && isa<ShapedType>(x->value.getType()))
    x = context.reader.definition(x->value, x->indices);
  if (!x->is(Kind::Add))
    return false;
  for (int i : {0, 1}) {
    for (Expr *sum : getFactors(x->operands[i]))
      if (getNumber(x->operands[i]) < 0 && sum->is(Kind::Sum) &&
          sum->indices.size() == 1 &&
          pool.substitute(sum->operands.front(), sum->getSymbol(),
                          pool.dim(column)) == x->operands[1 - i])
        return true;
  }
  return false;
}

bool raising::place(Context &context, linalg::GenericOp host, Expr *expr,
                    Norm &norm) {
  Placed placed =
      context.tensors.find(expr, norm.column, context.pool.getType(expr), host);
  norm.operands[expr] = placed;
  return placed.tensor || canEmit(expr, context.tensors);
}

bool raising::placeOperands(Context &context, linalg::GenericOp host,
                            Norm &norm) {
  auto fail = [&](StringRef text) {
    return context.fail(stripRound(norm.rstd), kInput, text);
  };
  if (isCentred(context, norm.x, norm.column))
    return fail("x is centred by its own mean, a LayerNorm");
  if (norm.weight && !place(context, host, norm.weight, norm))
    return fail("the weight is no tensor and cannot be computed as one");
  const bool isPlaced = place(context, host, norm.x, norm);
  if (!norm.operands[norm.x].tensor && norm.column + 1 != host.getNumLoops())
    return fail("the dimension that is summed is not the last");
  return isPlaced || fail("x is no tensor and cannot be computed as one");
}

//===----------------------------------------------------------------------===//
// Norms
//===----------------------------------------------------------------------===//

/// Whether `expr` is the norm of `factor`, a root, and of `others`, the other
/// factors of a product, and its constant; their roundings do not count yet.
static bool matchRoot(Context &context, linalg::GenericOp host, Expr *expr,
                      Expr *factor, List others, double number, Norm &norm) {
  if (!guessNorm(context, host, factor, others, number, norm) ||
      !takeAll(others, norm.x))
    return false;
  for (Expr *other : others)
    if (other->dims != uint64_t(1) << norm.column)
      return context.fail(
          getRoot(factor), kWeight,
          llvm::Twine("a factor beside the norm ") +
              (other->dims ? "depends on the row" : "is a scalar"));
  std::string differences[3];
  for (Casting casting : {Casting::gemma, Casting::llama, Casting::none}) {
    Norm guess = norm;
    guess.casting = casting;
    if (!others.empty()) {
      guess.weight = context.pool.product(others);
      splitOffset(guess);
    }
    Definition definition(context.pool, guess);
    std::string &difference = differences[static_cast<int>(casting)];
    difference = definition.compare(definition.getRstd(), factor);
    if (difference.empty())
      difference = definition.compare(definition.getForward(), expr);
    if (!difference.empty())
      continue;
    norm = guess;
    return placeOperands(context, host, norm);
  }
  // The nearest one.
  Casting nearest =
      openRoundings(context.pool, stripRound(expr)) == stripRound(expr)
          ? Casting::gemma
          : Casting::llama;
  if (factor != getRoot(factor))
    nearest = Casting::none;
  return context.fail(getRoot(factor), kDefinition,
                      "unlike casting '" + stringifyCasting(nearest).str() +
                          "', " + differences[static_cast<int>(nearest)]);
}

std::optional<Norm> raising::matchForward(Context &context,
                                          linalg::GenericOp host, Expr *expr) {
  Type type = getRounding(expr);
  Expr *product = openRoundings(context.pool, stripRound(expr));
  const List factors = getFactors(product);
  for (Expr *factor : factors) {
    Norm norm;
    List others = factors;
    take(others, factor);
    norm.outputType = type ? type : Type(Float32Type::get(host.getContext()));
    if (getRoot(factor) && !others.empty() &&
        matchRoot(context, host, expr, factor, others, getNumber(product),
                  norm))
      return norm;
  }
  return std::nullopt;
}
