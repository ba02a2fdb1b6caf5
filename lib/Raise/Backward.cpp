// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Backward.cpp - which scalars are gradients of norms ---------------===//
//
// As autodiff leaves it,
//
//     dx = dy * w * r - 1/N * x * r^3 * sum(x * dy * w)
//
// in any order of terms and factors, also with terms that occur twice. The
// first term gives dy * w and r; the others follow.
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

namespace {
struct Term {
  Expr *product;
  double number;

  bool operator==(const Term &other) const {
    return product == other.product && number == other.number;
  }
};
using Terms = SmallVector<Term, 4>;
} // namespace

/// Collects the terms of `number` * `expr`: products are distributed over sums
/// that have statistics in them, but not over a weight plus one or a residual;
/// if `isRelaxed`, roundings of such terms do not count. False if there are too
/// many.
static bool collectTerms(ExprPool &pool, Expr *expr, double number,
                         bool isRelaxed, Terms &terms) {
  if (isRelaxed && expr->is(Kind::Round) && expr->height > 0)
    expr = expr->operands.front();
  if (expr->is(Kind::Add))
    return llvm::all_of(expr->operands, [&](Expr *operand) {
      return collectTerms(pool, operand, number, isRelaxed, terms);
    });
  double factor;
  List factors = getFactors(expr, factor);
  for (Expr *sum : factors) {
    if (!sum->is(Kind::Add) || sum->height == 0)
      continue;
    List rest = factors;
    take(rest, sum);
    return llvm::all_of(sum->operands, [&](Expr *operand) {
      List parts = rest;
      parts.push_back(operand);
      return collectTerms(pool, pool.product(parts), number * factor, isRelaxed,
                          terms);
    });
  }
  Expr *product = pool.product(factors);
  auto known = llvm::find_if(
      terms, [&](const Term &term) { return term.product == product; });
  if (known == terms.end())
    terms.push_back({product, number * factor});
  else
    known->number += number * factor;
  return terms.size() <= kMaxTerms;
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// The same for `expr`, which is to have the shape of x.
static bool placeLike(const Context &context, linalg::GenericOp host,
                      Expr *expr, Norm &norm) {
  return !(expr->dims & ~norm.x->dims) && place(context, host, expr, norm);
}

/// The same for all operands of `gradient`.
static bool placeGradient(const Context &context, linalg::GenericOp host,
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
static bool splitWeight(const Context &context, Expr *g, Gradient &gradient) {
  ExprPool &pool = context.pool;
  Norm &norm = gradient.norm;
  const bool isNone = norm.casting == Casting::none;
  Type type;
  double number;
  auto isColumn = [&](Expr *factor) {
    return factor->dims == uint64_t(1) << norm.column;
  };
  List factors = getFactors(isNone ? stripRound(g, type) : g, number), others;
  // Where dy * w is rounded it is dy, unless fewer roundings are asked for.
  if (context.roundings == Roundings::fewer && factors.size() == 1 &&
      number == 1) {
    List inside = getFactors(stripRound(g, type), number);
    if (llvm::any_of(inside, isColumn))
      factors = inside;
  }
  List weights;
  for (Expr *factor : factors)
    (isColumn(factor) ? weights : others).push_back(factor);
  if (llvm::none_of(others, [](Expr *factor) { return factor->dims; })) {
    others.append(weights);
    weights.clear();
  }
  gradient.dy = pool.product(others, number);
  norm.inputType = pool.getType(norm.x);
  if (!weights.empty()) {
    norm.weight = pool.product(weights);
    splitOffset(norm);
  }
  if (!isNone)
    return true;
  // The op rounds dy itself.
  gradient.dy = stripRound(gradient.dy, type);
  Definition definition(pool, norm);
  return definition.compare(definition.getG(gradient.dy), g).empty();
}

//===----------------------------------------------------------------------===//
// dx
//===----------------------------------------------------------------------===//

/// True if `factor` can be rstd: a root, or an f32 tensor, or one of them
/// rounded to `type`.
static bool isRstd(const Context &context, Expr *factor, Type type) {
  Type rounded;
  Expr *exact = stripRound(factor, rounded);
  return rounded == type &&
         (exact->is(Kind::Rsqrt) ||
          (exact->is(Kind::Element) && !exact->indices.empty() &&
           isa<RankedTensorType>(exact->value.getType()) &&
           context.pool.getType(exact).isF32()));
}

namespace {
/// Looks for dx in `scalar` of the body of `host`, which is a `type`.
class Matcher {
public:
  Matcher(const Context &context, linalg::GenericOp host, Value scalar,
          Type type)
      : context(context), pool(context.pool), host(host), scalar(scalar),
        type(type) {}

  bool matchNone(Expr *expr);
  bool matchTerms(ArrayRef<Term> terms, bool isRelaxed);

  Gradient gradient;
  /// A root that has nearly a gradient, and the difference.
  Expr *nearRoot = nullptr;
  std::string difference;

private:
  bool findNorm(Expr *product, unsigned power, Expr *dx, Norm norm,
                function_ref<bool(const Norm &, const List &)> visit);
  bool isGradient(const Norm &norm, Expr *g, Expr *found, bool isRelaxed);
  bool placeRest(ArrayRef<Term> terms, const Term &first, const Term &second,
                 bool isRelaxed);

  const Context &context;
  ExprPool &pool;
  linalg::GenericOp host;
  Value scalar;
  Type type;
};
} // namespace

/// Calls `visit` with norms for which x and rstd, to the power of `power` at
/// least, are factors of `product`, and with the other factors, until `visit`
/// returns true. rstd is a root or a tensor of the rows.
bool Matcher::findNorm(Expr *product, unsigned power, Expr *dx, Norm norm,
                       function_ref<bool(const Norm &, const List &)> visit) {
  double number;
  List factors = getFactors(product, number);
  auto accept = [&](Norm &norm, const List &others) {
    if (ShapedType::isDynamic(norm.extent))
      norm.inverse = findInverse(dx, dx, pool.dim(norm.column));
    return (norm.inverse || !ShapedType::isDynamic(norm.extent)) &&
           visit(norm, others);
  };
  for (Expr *factor : llvm::SetVector<Expr *>(factors.begin(), factors.end())) {
    if (llvm::count(factors, factor) < power ||
        !isRstd(context, factor, norm.casting == Casting::none ? type : Type()))
      continue;
    List rest = factors;
    take(rest, factor);
    Norm own = norm;
    if (getRoot(factor)) {
      if (!readNorm(context, host, factor, rest, own))
        continue;
      Definition definition(pool, own);
      if (definition.compare(definition.getRstd(), factor).empty() &&
          accept(own, rest))
        return true;
      continue;
    }
    own.isSaved = true;
    own.rstd = stripRound(factor, own.inputType);
    own.eps = kUnusedEps;
    for (unsigned column : getDims(product->dims & ~own.rstd->dims)) {
      List x, others;
      for (Expr *part : rest)
        (part->hasDim(column) ? x : others).push_back(part);
      own.x = pool.product(x);
      own.inputType = pool.getType(own.x);
      own.column = column;
      own.extent = host.getStaticLoopRanges()[column];
      if (accept(own, others))
        return true;
    }
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

/// For casting `none`: dx = (g - xhat * mean(g * xhat)) * rstd, each step
/// rounded.
bool Matcher::matchNone(Expr *expr) {
  Norm norm;
  norm.casting = Casting::none;
  norm.outputType = type;
  Type ignored;
  double number;
  List gs, products;
  for (Expr *factor : getFactors(stripRound(expr, ignored), number))
    if (Expr *difference = stripRound(factor, ignored);
        difference->is(Kind::Add))
      gs.assign(difference->operands.begin(), difference->operands.end());
  walk(expr, [&](Expr *part) {
    if (part->is(Kind::Round) && part != expr)
      products.push_back(part->operands.front());
  });
  return !gs.empty() && llvm::any_of(products, [&](Expr *product) {
    return findNorm(product, 1, expr, norm,
                    [&](const Norm &norm, const List &others) {
                      return others.empty() && llvm::any_of(gs, [&](Expr *g) {
                               return isGradient(norm, g, expr, false);
                             });
                    });
  });
}

/// One of `terms` is to be g * rstd, and another the term that follows from it.
bool Matcher::matchTerms(ArrayRef<Term> terms, bool isRelaxed) {
  Norm norm;
  norm.outputType = type;
  return llvm::any_of(terms, [&](const Term &second) {
    Expr *found = pool.product({second.product}, second.number);
    return findNorm(second.product, 3, second.product, norm,
                    [&](const Norm &norm, const List &) {
                      return llvm::any_of(terms, [&](const Term &first) {
                        double number;
                        List g = getFactors(first.product, number);
                        return &first != &second && take(g, norm.rstd) &&
                               isGradient(norm, pool.product(g, first.number),
                                          found, isRelaxed) &&
                               placeRest(terms, first, second, isRelaxed);
                      });
                    });
  });
}

/// The addend of dx before the sum is rounded, such as a residual's gradient.
/// If dx is a scalar of its own, that one is matched later.
bool Matcher::placeRest(ArrayRef<Term> terms, const Term &first,
                        const Term &second, bool isRelaxed) {
  if (terms.size() == 2)
    return true;
  if (scalar.getType() != type)
    return false;
  for (Value operand : scalar.getDefiningOp()->getOperands()) {
    Terms parts;
    if (isSmallFloat(operand.getType()) &&
        collectTerms(pool, context.reader.scalar(operand, host), 1, isRelaxed,
                     parts) &&
        llvm::is_contained(parts, first) && llvm::is_contained(parts, second))
      return false;
  }
  for (const Term &term : terms) {
    if (term == first || term == second)
      continue;
    Expr *product = pool.product({term.product}, term.number);
    gradient.rest = gradient.rest ? pool.add(gradient.rest, product) : product;
  }
  gradient.norm.outputType = Float32Type::get(host.getContext());
  return placeLike(context, host, gradient.rest, gradient.norm);
}

//===----------------------------------------------------------------------===//
// dweight
//===----------------------------------------------------------------------===//

/// Tensors that are sums over all rows, as dweight is.
static void findWeightGradients(const Context &context, linalg::GenericOp host,
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
static Expr *getSummand(const Context &context, linalg::GenericOp host,
                        unsigned &column, Type &accumulator) {
  SmallVector<unsigned> columns, rows;
  host.getParallelDims(columns);
  host.getReductionDims(rows);
  if (!host.hasPureTensorSemantics() || host->getNumResults() != 1 ||
      columns.size() != 1)
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

std::optional<Gradient> raising::matchWeightGradient(const Context &context,
                                                     linalg::GenericOp host) {
  ExprPool &pool = context.pool;
  Type accumulator, type;
  unsigned column;
  Expr *summand = getSummand(context, host, column, accumulator);
  if (!summand)
    return std::nullopt;
  List factors;
  double number = 1;
  collectFactors(stripRound(summand, type), factors, number);
  for (Expr *factor : factors) {
    Gradient gradient;
    Norm &norm = gradient.norm;
    List others = factors;
    take(others, factor);
    // Not without dx, where dx is one apart from its roundings.
    if (!getRoot(factor) || context.reasons.get(getRoot(factor)).gradient ||
        !readNorm(context, host, factor, others, norm) || norm.column != column)
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
    context.reasons.add(getRoot(factor), kGradient, text,
                        yield->getOperand(0).getDefiningOp());
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

/// Which roundings `expr` has more than dx.
static std::string getRoundings(Expr *expr) {
  Type outer, type;
  unsigned count = 0;
  walk(stripRound(expr, outer), [&](Expr *part) {
    if (!part->is(Kind::Add))
      return;
    for (Expr *operand : part->operands)
      if (operand->is(Kind::Round) && operand->height > 0)
        ++count, type = operand->type;
  });
  std::string text;
  llvm::raw_string_ostream os(text);
  if (count >= 2)
    os << "dx is added from two " << type << " terms";
  else
    os << "a part of dx is rounded";
  return text;
}

std::optional<Gradient> raising::matchBackward(const Context &context,
                                               linalg::GenericOp host,
                                               Value scalar, Expr *expr) {
  Type type, f32 = Float32Type::get(host.getContext());
  Expr *exact = stripRound(expr, type);
  Matcher matcher(context, host, scalar, type ? type : f32);
  bool isFound = type && matcher.matchNone(expr);
  for (bool isRelaxed : {false, true}) {
    Terms terms;
    if (isFound || !collectTerms(context.pool, exact, 1, isRelaxed, terms))
      break;
    isFound = matcher.matchTerms(terms, isRelaxed);
    if (isFound && isRelaxed && context.roundings == Roundings::exact) {
      isFound = false;
      matcher.nearRoot = matcher.gradient.norm.rstd;
      matcher.difference = getRoundings(expr);
    }
  }
  if (isFound)
    findWeightGradients(context, host, matcher.gradient);
  else if (matcher.nearRoot)
    context.reasons.add(matcher.nearRoot, kGradient, matcher.difference,
                        scalar.getDefiningOp());
  return isFound ? std::optional(matcher.gradient) : std::nullopt;
}
