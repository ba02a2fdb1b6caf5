// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Backward.cpp - which scalars are gradients of norms ---------------===//
//
// As autodiff leaves it,
//
//     dx = dy * w * r - 1/N * x * r^3 * sum(x * dy * w)
//
// in any order of terms and factors, also with terms that occur twice; or, with
// casting none, (dy * w - x * r * mean(x * r * dy * w)) * r, each step rounded.
// All that may be rstd in it is tried with all that may be dy * w.
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
/// The terms of an expression: products are distributed over sums that have
/// statistics in them, but not over a weight plus one or a residual.
class TermCollector {
public:
  /// If `isRelaxed`, roundings of such terms and sums do not count.
  TermCollector(ExprPool &pool, bool isRelaxed)
      : pool(pool), isRelaxed(isRelaxed) {}

  /// Adds those of `number` * `expr`; false if there are too many.
  bool add(Expr *expr, double number = 1);

  Terms terms;
  /// A type that roundings which did not count were to, or null.
  Type rounded;

private:
  Expr *open(Expr *expr) {
    if (!isRelaxed || !expr->is(Kind::Round) || expr->height == 0)
      return expr;
    rounded = expr->type;
    return expr->operands.front();
  }

  ExprPool &pool;
  bool isRelaxed;
};
} // namespace

bool TermCollector::add(Expr *expr, double number) {
  expr = open(expr);
  List factors = getFactors(expr);
  number *= getNumber(expr);
  for (Expr *part : factors) {
    const bool isRounded =
        part->is(Kind::Round) && part->operands.front()->is(Kind::Add);
    Expr *sum = isRounded ? open(part) : part;
    if (!sum->is(Kind::Add) || sum->height == 0)
      continue;
    List rest = factors;
    take(rest, part);
    return llvm::all_of(sum->operands, [&](Expr *operand) {
      List parts = rest;
      parts.push_back(operand);
      return add(pool.product(parts), number);
    });
  }
  terms[pool.product(factors)] += number;
  return terms.size() <= kMaxTerms;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// Places `expr`, which is to have the shape of x.
static bool placeLike(Context &context, linalg::GenericOp host, Expr *expr,
                      Norm &norm) {
  return !(expr->dims & ~norm.x->dims) && place(context, host, expr, norm);
}

/// Places all operands of `gradient`.
static bool placeGradient(Context &context, linalg::GenericOp host,
                          Gradient &gradient) {
  Norm &norm = gradient.norm;
  uint64_t rows = norm.x->dims & ~(uint64_t(1) << norm.column);
  return placeOperands(context, host, norm) && gradient.dy->dims &&
         !(norm.rstd->dims & ~rows) &&
         placeLike(context, host, gradient.dy, norm) &&
         (!norm.isSaved || place(context, host, norm.rstd, norm));
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
  Matcher(Context &context, linalg::GenericOp host, Value scalar, Type type)
      : context(context), pool(context.pool), host(host), scalar(scalar),
        type(type) {}

  bool match(Expr *expr, bool isRelaxed);

  Gradient gradient;
  /// A root that has nearly a gradient, and the difference.
  Expr *nearRoot = nullptr;
  std::string difference;

private:
  bool guessNorms(ArrayRef<Expr *> parts, Expr *factor, Expr *dx,
                  function_ref<bool(const Norm &)> visit);
  bool isGradient(const Norm &norm, Expr *g, Expr *found, bool isRelaxed);
  bool placeRest(const Terms &terms, const Term &first, const Term &second,
                 bool isRelaxed);

  Context &context;
  ExprPool &pool;
  linalg::GenericOp host;
  Value scalar;
  Type type;
};
} // namespace

/// Calls `visit` with norms of which `factor`, a root or an f32 tensor of the
/// rows, either maybe rounded, is the rstd, until `visit` returns true.
bool Matcher::guessNorms(ArrayRef<Expr *> parts, Expr *factor, Expr *dx,
                         function_ref<bool(const Norm &)> visit) {
  auto accept = [&](Norm &norm) {
    if (ShapedType::isDynamic(norm.extent))
      norm.inverse = findInverse(dx, dx, pool.dim(norm.column));
    return (norm.inverse || !ShapedType::isDynamic(norm.extent)) && visit(norm);
  };
  Norm norm;
  norm.outputType = type;
  Expr *exact = stripRound(factor);
  norm.casting = exact == factor ? Casting::gemma : Casting::none;
  double number = 1;
  if (exact->is(Kind::Rsqrt)) {
    if (!guessNorm(context, host, factor, parts, number, norm))
      return false;
    Definition definition(pool, norm);
    return definition.compare(definition.getRstd(), factor).empty() &&
           accept(norm);
  }
  if (!exact->is(Kind::Element) || exact->indices.empty() ||
      !isa<RankedTensorType>(exact->value.getType()) ||
      !pool.getType(exact).isF32())
    return false;
  norm.isSaved = true;
  norm.rstd = exact;
  norm.eps = kUnusedEps;
  for (Expr *product : parts)
    for (unsigned column : getDims(product->dims & ~exact->dims)) {
      List factors = getFactors(product), x;
      if (!llvm::is_contained(factors, factor))
        break;
      llvm::copy_if(factors, std::back_inserter(x),
                    [&](Expr *part) { return part->hasDim(column); });
      norm.x = pool.product(x);
      norm.inputType = pool.getType(norm.x);
      norm.column = column;
      norm.extent = host.getStaticLoopRanges()[column];
      if (accept(norm))
        return true;
    }
  return false;
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
    if (norm.casting == Casting::gemma && !norm.isSaved && !nearRoot)
      nearRoot = norm.rstd, difference = text;
    return false;
  }
  gradient = Gradient();
  gradient.norm = norm;
  return splitWeight(context, g, gradient) &&
         placeGradient(context, host, gradient);
}

/// Whether `expr` is dx. One of its terms is g * rstd, and another the term
/// that follows from it; with casting `none`, whose roundings are part of it,
/// the whole is compared. If `isRelaxed`, roundings do not count else.
bool Matcher::match(Expr *expr, bool isRelaxed) {
  TermCollector collector(pool, isRelaxed);
  if (!collector.add(stripRound(expr)) || collector.terms.size() < 2)
    return false;
  const Terms &terms = collector.terms;
  SmallVector<Expr *, 0> nodes = getParts(expr);
  llvm::SetVector<Expr *> parts(nodes.begin(), nodes.end());
  for (const Term &term : terms)
    parts.insert(term.first);
  for (Expr *factor : parts) {
    auto count = [&](const Term &term) {
      return llvm::count(getFactors(term.first), factor);
    };
    for (const Term &first : terms)
      for (const Term &second : terms) {
        const bool isNone = factor->is(Kind::Round);
        if (&first == &second || count(first) < 1 ||
            count(second) < (isNone ? 1 : 3))
          continue;
        List g = getFactors(first.first);
        take(g, factor);
        Expr *found =
            isNone ? expr : pool.product({second.first}, second.second);
        if (guessNorms(
                parts.getArrayRef(), factor, found, [&](const Norm &norm) {
                  return isGradient(norm, pool.product(g, first.second), found,
                                    isRelaxed && !isNone) &&
                         (isNone || placeRest(terms, first, second, isRelaxed));
                })) {
          if (!isRelaxed || isNone || context.roundings == Roundings::fewer)
            return true;
          // If only sums differ, what is not relaxed has said so.
          if (collector.rounded) {
            nearRoot = gradient.norm.rstd;
            llvm::raw_string_ostream(difference = "a term of dx is rounded to ")
                << collector.rounded;
          }
          return false;
        }
      }
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
    TermCollector parts(pool, isRelaxed);
    if (isSmallFloat(operand.getType()) &&
        parts.add(context.reader.scalar(operand, host)) &&
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
  return placeLike(context, host, gradient.rest, gradient.norm);
}

//===----------------------------------------------------------------------===//
// dweight
//===----------------------------------------------------------------------===//

/// Tensors that are sums over all rows, as dweight is.
static void findWeightGradients(Context &context, linalg::GenericOp host,
                                Gradient &gradient) {
  ExprPool &pool = context.pool;
  Norm &norm = gradient.norm;
  SmallVector<unsigned> rows = norm.getRows();
  if (!norm.weight || rows.empty())
    return;
  SmallVector<int64_t, 4> loops = host.getStaticLoopRanges();
  SmallVector<Casting, 2> castings{norm.casting};
  if (norm.casting == Casting::gemma)
    castings.push_back(Casting::llama);
  for (bool isRelaxed : {false, true})
    for (Casting casting : castings) {
      if (isRelaxed && context.roundings == Roundings::exact)
        continue;
      norm.casting = casting;
      Expr *addend = Definition(pool, norm).getAddend(gradient.dy);
      SmallVector<unsigned> order = rows;
      do {
        Substitution names{{pool.dim(norm.column), pool.dim(0)}};
        SmallVector<AffineExpr> symbols;
        SmallVector<int64_t> extents;
        for (unsigned row : order) {
          symbols.push_back(pool.freshSymbol());
          extents.push_back(loops[row]);
          names[pool.dim(row)] = symbols.back();
        }
        Expr *sum = pool.sum(pool.substitute(addend, names), symbols, extents);
        for (Type type : {pool.getType(norm.weight),
                          Type(Float32Type::get(host.getContext()))})
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

/// The summand of `host`, in its loops, and the loop that it does not sum over;
/// null if `host` does something else. `accumulator` is set if it is narrower
/// than f32.
static Expr *getSummand(Context &context, linalg::GenericOp host,
                        unsigned &column, Type &accumulator) {
  SmallVector<unsigned> columns, rows;
  host.getParallelDims(columns);
  host.getReductionDims(rows);
  if (host->getNumResults() != 1 || columns.size() != 1)
    return nullptr;
  column = columns.front();
  SmallVector<AffineExpr> indices;
  for (AffineExpr index : host.getIndexingMapsArray().back().getResults())
    indices.push_back(isa<AffineDimExpr>(index) ? context.pool.dim(column)
                                                : context.pool.zero());
  Expr *sum = context.reader.definition(host.getResult(0), indices);
  SmallVector<int64_t, 4> extents = host.getStaticLoopRanges();
  llvm::erase_if(rows, [&](unsigned row) { return extents[row] == 1; });
  if (!sum->is(Kind::Sum) || sum->indices.size() != rows.size())
    return nullptr;
  accumulator = sum->type;
  Substitution names;
  for (auto [symbol, row] : llvm::zip(sum->indices, rows))
    names[symbol] = context.pool.dim(row);
  return context.pool.substitute(sum->operands.front(), names);
}

std::optional<Gradient> raising::matchWeightGradient(Context &context,
                                                     linalg::GenericOp host) {
  ExprPool &pool = context.pool;
  Type accumulator;
  unsigned column;
  Expr *summand = getSummand(context, host, column, accumulator);
  if (!summand)
    return std::nullopt;
  Expr *product = openRoundings(pool, stripRound(summand));
  const List factors = getFactors(product);
  for (Expr *factor : factors) {
    Gradient gradient;
    Norm &norm = gradient.norm;
    List others = factors;
    double number = getNumber(product);
    take(others, factor);
    // Not without dx, where dx is one apart from its roundings.
    if (!getRoot(factor) || context.getReason(getRoot(factor)).gradient ||
        !guessNorm(context, host, factor, others, number, norm) ||
        norm.column != column || !takeAll(others, norm.x))
      continue;
    gradient.dy = pool.product(others, number);
    gradient.weightGradients = {host.getResult(0)};
    norm.outputType = norm.inputType;
    Definition definition(pool, norm);
    if (gradient.dy->dims != norm.x->dims ||
        !definition.compare(definition.getRstd(), factor).empty() ||
        !placeGradient(context, host, gradient))
      continue;
    for (Casting casting : {Casting::gemma, Casting::llama}) {
      norm.casting = casting;
      Expr *addend = definition.getAddend(gradient.dy);
      if (!accumulator && definition.compare(addend, summand).empty())
        return gradient;
    }
    norm.casting = Casting::gemma;
    if (pool.relax(summand) != pool.relax(definition.getAddend(gradient.dy)))
      continue;
    if (context.roundings == Roundings::fewer)
      return gradient;
    std::string text =
        definition.compare(definition.getAddend(gradient.dy), summand);
    if (accumulator) {
      text = "dweight is summed in ";
      llvm::raw_string_ostream(text) << accumulator;
    }
    Operation *yield = host.getBody()->getTerminator();
    context.fail(getRoot(factor), kGradient, text,
                 yield->getOperand(0).getDefiningOp());
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

std::optional<Gradient> raising::matchBackward(Context &context,
                                               linalg::GenericOp host,
                                               Value scalar, Expr *expr) {
  Type type = getRounding(expr);
  Matcher matcher(context, host, scalar,
                  type ? type : Float32Type::get(host.getContext()));
  const bool isFound =
      matcher.match(expr, /*isRelaxed=*/false) || matcher.match(expr, true);
  if (isFound)
    findWeightGradients(context, host, matcher.gradient);
  else if (matcher.nearRoot)
    context.fail(matcher.nearRoot, kGradient, matcher.difference,
                 scalar.getDefiningOp());
  return isFound ? std::optional(matcher.gradient) : std::nullopt;
}
