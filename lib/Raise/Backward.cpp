// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Backward.cpp - which scalars are gradients of norms ---------------===//
//
// As autodiff leaves it,
//
//     dx = dy * w * r - 1/N * x * r^3 * sum(x * dy * w)
//
// in any order of terms and factors, also with terms that occur twice; or, with
// casting none, (dy * w - x * r * mean(x * r * dy * w)) * r, each step rounded.
// Every candidate for rstd is tried with every candidate for dy * w.
//
//===----------------------------------------------------------------------===//

#include "Emit.h"
#include "Match.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

using Kind = Expr::Kind;
using List = ExprPool::List;

/// An expression that is no gradient may have too many terms to collect.
static constexpr size_t kMaxTerms = 8;

/// The constants of products.
using Terms = llvm::SmallMapVector<Expr *, double, 4>;
using Term = std::pair<Expr *, double>;

namespace {
struct Collected {
  Terms terms;
  /// A type that roundings which did not count were to, or null.
  Type rounded;
};
} // namespace

/// Whether a term of `expr`, which is one or a sum, has a factor that may be a
/// given rstd: elements in f32 that lack a dimension of the others.
static bool mayHaveRstd(Expr *expr) {
  expr = stripRound(expr);
  if (expr->is(Kind::Add))
    return llvm::any_of(expr->operands, mayHaveRstd);
  return llvm::any_of(getFactors(expr), [&](Expr *factor) {
    factor = stripRound(factor);
    auto type = factor->is(Kind::Element)
                    ? dyn_cast<RankedTensorType>(factor->value.getType())
                    : RankedTensorType();
    return type && !factor->indices.empty() && type.getElementType().isF32() &&
           (expr->dims & ~factor->dims);
  });
}

/// Adds the terms of `number` * `expr`; false if there are too many. Products
/// are distributed over sums that have statistics in them, but not over a
/// weight plus one or a residual. If `isRelaxed`, roundings of such terms and
/// sums do not count.
static bool addTerms(ExprPool &pool, Expr *expr, bool isRelaxed,
                     Collected &result, double number = 1) {
  auto open = [&](Expr *rounded) {
    if (!isRelaxed || !rounded->is(Kind::Round) ||
        (rounded->height == 0 && !mayHaveRstd(rounded)))
      return rounded;
    result.rounded = rounded->type;
    return rounded->operands.front();
  };
  const List factors = getFactors(expr);
  number *= getNumber(expr);
  // The expression itself, or what is subtracted.
  if (factors.size() == 1 && open(factors.front()) != factors.front())
    return addTerms(pool, open(factors.front()), isRelaxed, result, number);
  for (Expr *part : factors) {
    Expr *sum = stripRound(part)->is(Kind::Add) ? open(part) : part;
    // A sum may have the term with the gradient alone.
    if (!sum->is(Kind::Add) ||
        (sum->height == 0 && (factors.size() > 1 || !mayHaveRstd(sum))))
      continue;
    List rest = factors;
    take(rest, part);
    return llvm::all_of(sum->operands, [&](Expr *operand) {
      List parts = rest;
      parts.push_back(operand);
      return addTerms(pool, pool.product(parts), isRelaxed, result, number);
    });
  }
  result.terms[pool.product(factors)] += number;
  return result.terms.size() <= kMaxTerms;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Places `expr`, which is to have the shape of x.
static bool placeLike(Context &context, Expr *expr, Norm &norm) {
  return !(expr->dims & ~norm.x->dims) && place(context, expr, norm);
}

/// Places all operands of `gradient`.
static bool placeGradient(Context &context, Gradient &gradient) {
  Norm &norm = gradient.norm;
  uint64_t rows = norm.x->dims & ~(uint64_t(1) << norm.column);
  return placeOperands(context, norm) && gradient.dy->dims &&
         !(norm.rstd->dims & ~rows) && placeLike(context, gradient.dy, norm) &&
         (!norm.isSaved || place(context, norm.rstd, norm));
}

/// Takes `g` apart: the weight is made of its factors that depend on the column
/// only, dy of the others. False if the op computes another g of them.
static bool splitWeight(Context &context, Expr *g, Gradient &gradient) {
  ExprPool &pool = context.pool;
  Norm &norm = gradient.norm;
  const bool isNone = norm.casting == Casting::none;
  auto isColumn = [&](Expr *factor) {
    return factor->dims == uint64_t(1) << norm.column;
  };
  // Where dy * w is rounded it is dy, unless fewer roundings are asked for.
  const bool isFewer = context.roundings == Roundings::fewer &&
                       llvm::any_of(getFactors(stripRound(g)), isColumn);
  Expr *product = isNone || isFewer ? stripRound(g) : g;
  List weights, others;
  for (Expr *factor : getFactors(product))
    (isColumn(factor) ? weights : others).push_back(factor);
  if (llvm::none_of(others, [](Expr *factor) { return factor->dims; })) {
    others.append(weights);
    weights.clear();
  }
  gradient.dy = pool.product(others, getNumber(product));
  norm.inputType = pool.getType(norm.x);
  if (!weights.empty()) {
    norm.weight = pool.product(weights);
    splitOffset(norm);
  }
  if (!isNone)
    return true;
  // The op rounds dy itself.
  gradient.dy = stripRound(gradient.dy);
  Definition definition(pool, norm);
  return definition.compare(definition.getG(gradient.dy), g).empty();
}

//===----------------------------------------------------------------------===//
// dx
//===----------------------------------------------------------------------===//

namespace {
/// Looks for dx in `scalar` of the body of `host`, which is a `type`.
class Matcher {
public:
  Matcher(Context &context, linalg::LinalgOp host, Value scalar, Type type)
      : gradient(Norm(host)), context(context), pool(context.pool), host(host),
        scalar(scalar), type(type) {}

  /// Whether `expr` is dx. If `isRelaxed`, the roundings of its terms and in
  /// its sums do not count.
  bool match(Expr *expr, bool isRelaxed);

  Gradient gradient;
  /// A root that has nearly a gradient, and the difference.
  Expr *nearRoot = nullptr;
  std::string difference;
  /// Whether it has dx as a term of its own, which is matched later.
  bool isPartOf = false;

private:
  SmallVector<Norm, 0> guessNorms(ArrayRef<Expr *> parts, Expr *factor);
  bool matchTerms(const Norm &norm, Expr *factor, Expr *expr,
                  const Terms &terms, bool isRelaxed);
  bool isGradient(const Norm &norm, Expr *g, Expr *found, bool isRelaxed);
  bool placeRest(const Terms &terms, const Term &first, const Term &second,
                 bool isRelaxed);

  Context &context;
  ExprPool &pool;
  linalg::LinalgOp host;
  Value scalar;
  Type type;
};
} // namespace

/// The norms of which `factor`, a root or an f32 tensor of the rows, either
/// maybe rounded, may be the rstd in dx, which has `parts`.
SmallVector<Norm, 0> Matcher::guessNorms(ArrayRef<Expr *> parts, Expr *factor) {
  SmallVector<Norm, 0> norms;
  Norm norm(host);
  norm.outputType = type;
  Expr *exact = stripRound(factor);
  norm.casting = exact == factor ? Casting::gemma : Casting::none;
  double number = 1;
  if (exact->is(Kind::Rsqrt)) {
    if (!guessNorm(context, factor, parts, number, norm))
      return {};
    Definition definition(pool, norm);
    if (definition.compare(definition.getRstd(), factor).empty())
      norms.push_back(norm);
  } else if (exact->is(Kind::Element) && !exact->indices.empty() &&
             isa<RankedTensorType>(exact->value.getType()) &&
             pool.getType(exact).isF32()) {
    norm.isSaved = true;
    norm.rstd = exact;
    norm.eps = kUnusedEps;
    for (Expr *product : parts) {
      List factors = getFactors(product);
      if (!llvm::is_contained(factors, factor))
        continue;
      for (unsigned column : getDims(product->dims & ~exact->dims)) {
        List x;
        llvm::copy_if(factors, std::back_inserter(x),
                      [&](Expr *part) { return part->hasDim(column); });
        norm.x = pool.product(x);
        norm.inputType = pool.getType(norm.x);
        norm.column = column;
        norm.extent = host.getStaticLoopRanges()[column];
        norms.push_back(norm);
      }
    }
  }
  return norms;
}

/// Whether `found` is dx, or its term with x, for `norm` and `g`.
bool Matcher::isGradient(const Norm &norm, Expr *g, Expr *found,
                         bool isRelaxed) {
  Definition definition(pool, norm);
  Expr *wanted = definition.getBackward(g);
  std::string text =
      isRelaxed ? definition.compare(pool.relax(wanted), pool.relax(found))
                : definition.compare(wanted, found);
  if (!text.empty()) {
    if (norm.casting == Casting::gemma && !nearRoot)
      nearRoot = norm.rstd, difference = text;
    return false;
  }
  gradient = Gradient(norm);
  return splitWeight(context, g, gradient) && placeGradient(context, gradient);
}

/// Whether `expr`, the sum of `terms`, is dx of `norm`, whose rstd is `factor`:
/// one term is g * rstd, and another the one that follows from it. With casting
/// `none`, whose roundings are part of it, the whole is compared.
bool Matcher::matchTerms(const Norm &norm, Expr *factor, Expr *expr,
                         const Terms &terms, bool isRelaxed) {
  const bool isNone = norm.casting == Casting::none;
  for (const Term &first : terms) {
    List g = getFactors(first.first);
    if (!take(g, factor))
      continue;
    for (const Term &second : terms) {
      if (&first == &second ||
          llvm::count(getFactors(second.first), factor) < (isNone ? 1 : 3))
        continue;
      Expr *found = isNone ? expr : pool.product({second.first}, second.second);
      if (!isGradient(norm, pool.product(g, first.second), found,
                      isRelaxed && !isNone))
        continue;
      if (isNone || placeRest(terms, first, second, isRelaxed))
        return true;
      isPartOf = true;
    }
  }
  return false;
}

bool Matcher::match(Expr *expr, bool isRelaxed) {
  Collected collected;
  if (!addTerms(pool, stripRound(expr), isRelaxed, collected) ||
      collected.terms.size() < 2)
    return false;
  SmallVector<Expr *, 0> nodes = getParts(expr);
  llvm::SetVector<Expr *> parts(nodes.begin(), nodes.end());
  for (const Term &term : collected.terms)
    parts.insert(term.first);
  for (Expr *factor : parts)
    for (Norm &norm : guessNorms(parts.getArrayRef(), factor)) {
      if (ShapedType::isDynamic(norm.extent) &&
          !(norm.inverse = findInverse(expr, expr, pool.dim(norm.column))))
        continue;
      if (!matchTerms(norm, factor, expr, collected.terms, isRelaxed))
        continue;
      if (!isRelaxed || norm.casting == Casting::none ||
          context.roundings == Roundings::fewer)
        return true;
      // If only sums differ, what is not relaxed has said so.
      if (collected.rounded) {
        nearRoot = norm.rstd;
        llvm::raw_string_ostream(difference = "a term of dx is rounded to ")
            << collected.rounded;
      }
      return false;
    }
  return false;
}

/// The addend of dx before the sum is rounded, such as a residual's gradient.
/// If dx is a scalar of its own, that one is matched later.
bool Matcher::placeRest(const Terms &terms, const Term &first,
                        const Term &second, bool isRelaxed) {
  if (terms.size() == 2)
    return true;
  if (scalar.getType() != type)
    return false;
  for (Value operand : scalar.getDefiningOp()->getOperands()) {
    Collected parts;
    if (isSmallFloat(operand.getType()) &&
        addTerms(pool, context.reader.scalar(operand, host), isRelaxed,
                 parts) &&
        parts.terms.lookup(first.first) == first.second &&
        parts.terms.lookup(second.first) == second.second)
      return false;
  }
  for (const Term &term : terms) {
    if (term == first || term == second)
      continue;
    Expr *product = pool.product({term.first}, term.second);
    gradient.rest = gradient.rest ? pool.add(gradient.rest, product) : product;
  }
  gradient.norm.outputType = Float32Type::get(host.getContext());
  return placeLike(context, gradient.rest, gradient.norm);
}

//===----------------------------------------------------------------------===//
// dweight
//===----------------------------------------------------------------------===//

/// The sum of `addend`, of `host`, over `rows`, with the column as the only
/// dimension.
static Expr *sumRows(ExprPool &pool, linalg::LinalgOp host, Expr *addend,
                     ArrayRef<unsigned> rows, unsigned column) {
  SmallVector<int64_t, 4> loops = host.getStaticLoopRanges();
  Substitution names{{pool.dim(column), pool.dim(0)}};
  SmallVector<AffineExpr> symbols;
  SmallVector<int64_t> extents;
  for (unsigned row : rows) {
    symbols.push_back(pool.freshSymbol());
    extents.push_back(loops[row]);
    names[pool.dim(row)] = symbols.back();
  }
  return pool.sum(pool.substitute(addend, names), symbols, extents);
}

/// Finds the tensors of `type`, or of f32, that hold dweight of `gradient`: the
/// definition, rounded once, or with `fewer` also what is equal to it but for
/// roundings. Which of them it is also tells `gemma` and `llama` apart.
static void findWeightGradients(Context &context, Gradient &gradient, Type type,
                                Roundings roundings) {
  ExprPool &pool = context.pool;
  Norm &norm = gradient.norm;
  SmallVector<unsigned> rows = norm.getRows();
  if (rows.empty())
    return;
  SmallVector<Type, 2> types{type, Float32Type::get(type.getContext())};
  SmallVector<Casting, 2> castings{norm.casting};
  if (norm.casting == Casting::gemma)
    castings.push_back(Casting::llama);
  for (bool isRelaxed : {false, true})
    for (Casting casting : castings) {
      if (isRelaxed && roundings == Roundings::exact)
        continue;
      norm.casting = casting;
      Expr *addend = Definition(pool, norm).getAddend(gradient.dy);
      SmallVector<unsigned> order = rows;
      do {
        Expr *sum = sumRows(pool, norm.host, addend, order, norm.column);
        for (Type type : types)
          for (Value tensor :
               isRelaxed ? context.tensors.lookupRelaxed(sum)
                         : context.tensors.lookup(pool.round(type, sum)))
            if (getElementTypeOrSelf(tensor.getType()) == type)
              gradient.weightGradients.push_back(tensor);
        if (!gradient.weightGradients.empty())
          return;
      } while (order.size() <= 4 &&
               std::next_permutation(order.begin(), order.end()));
    }
  norm.casting = castings.front();
}

std::optional<Gradient> raising::matchWeightGradient(Context &context,
                                                     linalg::LinalgOp host) {
  ExprPool &pool = context.pool;
  Expr *summand = context.reader.summand(host, 0);
  if (!summand || host->getNumResults() != 1)
    return std::nullopt;
  Value result = host->getResult(0);
  Type type = getElementTypeOrSelf(result);
  Expr *product = openRoundings(pool, stripRound(summand));
  for (Expr *factor : getFactors(product)) {
    Gradient gradient{Norm(host)};
    Norm &norm = gradient.norm;
    // Not without dx, where dx is one apart from its roundings.
    if (!getRoot(factor) || context.getReason(getRoot(factor)).gradient)
      continue;
    gradient.dy = guessInProduct(context, product, factor, norm);
    if (!gradient.dy)
      continue;
    norm.outputType = norm.inputType;
    Definition definition(pool, norm);
    if (gradient.dy->dims != norm.x->dims ||
        !definition.compare(definition.getRstd(), factor).empty() ||
        !placeGradient(context, gradient))
      continue;
    findWeightGradients(context, gradient, type, context.roundings);
    if (llvm::is_contained(gradient.weightGradients, result))
      return gradient;
    findWeightGradients(context, gradient, type, Roundings::fewer);
    if (!llvm::is_contained(gradient.weightGradients, result))
      continue;
    std::string text = "dweight is summed in ";
    norm.casting =
        product == stripRound(summand) ? Casting::gemma : Casting::llama;
    Definition nearest(pool, norm);
    if (type.isF32())
      text = nearest.compare(nearest.getAddend(gradient.dy), summand);
    else
      llvm::raw_string_ostream(text) << type;
    Operation *yield = host.getBlock()->getTerminator();
    context.fail(getRoot(factor), kGradient, text,
                 yield->getOperand(0).getDefiningOp());
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

std::optional<Gradient> raising::matchBackward(Context &context,
                                               linalg::LinalgOp host,
                                               Value scalar, Expr *expr) {
  Type type = getRounding(expr);
  Matcher matcher(context, host, scalar,
                  type ? type : Float32Type::get(host.getContext()));
  const bool isFound =
      matcher.match(expr, /*isRelaxed=*/false) || matcher.match(expr, true);
  Gradient &gradient = matcher.gradient;
  if (isFound && gradient.norm.weight)
    findWeightGradients(context, gradient,
                        context.pool.getType(gradient.norm.weight),
                        context.roundings);
  else if (matcher.nearRoot && !matcher.isPartOf)
    context.fail(matcher.nearRoot, kGradient, matcher.difference,
                 scalar.getDefiningOp());
  return isFound ? std::optional(gradient) : std::nullopt;
}
