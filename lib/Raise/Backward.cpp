// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Backward.cpp - which scalars are gradients of norms ---------------===//
//
// As autodiff leaves it,
//
//     dx = dy * w * r - 1/N * x * r^3 * sum(x * dy * w)
//
// in any order of terms and factors, also with terms that occur twice. The
// first term says what dy * w and r are; what the others must be follows.
//
//===----------------------------------------------------------------------===//

#include "Definition.h"
#include "Emit.h"
#include "Match.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

using Kind = Expr::Kind;
using List = ExprPool::List;

/// What is no gradient may have more terms than one cares to collect.
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

Placed raising::findLike(const Context &context, linalg::LinalgOp host,
                         Expr *expr, const Norm &norm) {
  if (expr->dims != norm.x->dims)
    return Placed();
  return context.tensors.find(expr, norm.getRows(), norm.column,
                              context.pool.getType(expr), host);
}

static bool canPlace(const Context &context, linalg::LinalgOp host, Expr *expr,
                     const Norm &norm) {
  return !(expr->dims & ~norm.x->dims) &&
         (findLike(context, host, expr, norm).tensor ||
          canEmit(expr, context.tensors));
}

/// Finds the operands of `gradient` as tensors in front of `host`, or checks
/// that they can be computed there.
static bool placeGradient(const Context &context, linalg::GenericOp host,
                          Gradient &gradient) {
  Norm &norm = gradient.norm;
  uint64_t rows = norm.x->dims & ~(uint64_t(1) << norm.column);
  return placeOperands(context, host, norm) && gradient.dy->dims &&
         !(norm.rstd->dims & ~rows) &&
         canPlace(context, host, gradient.dy, norm);
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
  // Where dy * w is rounded it is dy, but for those who want fewer roundings.
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

/// The inverse size by which `expr` divides the sum of `body` over `column`.
static Expr *findInverse(Expr *expr, Expr *body, AffineExpr column) {
  Expr *inverse = nullptr;
  walk(expr, [&](Expr *part) {
    if (!inverse && part->is(Kind::InverseSize) && isExtent(part, body, column))
      inverse = part;
  });
  return inverse;
}

/// Sets what is known of a norm whose rows are the loop `column` from `factor`,
/// its rstd: a root, or a tensor of the rows. x is set already.
static bool readRstd(const Context &context, linalg::GenericOp host,
                     Expr *factor, Expr *dx, Norm &norm) {
  Type type;
  AffineExpr column = context.pool.dim(norm.column);
  norm.inputType = context.pool.getType(norm.x);
  if (getRoot(factor)) {
    Root root;
    if (!readRoot(context, factor, root, norm) ||
        !isSameLoop(root.sum, host, norm.column))
      return false;
    Definition definition(context.pool, norm);
    if (!definition.compare(definition.getRstd(), factor).empty())
      return false;
  } else {
    norm.isSaved = true;
    norm.rstd = stripRound(factor, type);
    norm.eps = kUnusedEps;
    norm.extent = host.getStaticLoopRanges()[norm.column];
  }
  if (ShapedType::isDynamic(norm.extent))
    norm.inverse = findInverse(dx, dx, column);
  return norm.inverse || !ShapedType::isDynamic(norm.extent);
}

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

/// For casting `none`: dx = (g - xhat * mean(g * xhat)) * rstd, each step
/// rounded.
static bool matchNone(const Context &context, linalg::GenericOp host,
                      Expr *expr, Gradient &gradient) {
  ExprPool &pool = context.pool;
  Type type;
  double number;
  List factors = getFactors(stripRound(expr, type), number);
  if (!type || factors.size() != 2)
    return false;
  for (int i : {0, 1}) {
    Type ignored;
    Expr *rest = stripRound(factors[i], ignored), *rstd = factors[1 - i];
    if (!rest->is(Kind::Add) || !isRstd(context, rstd, type))
      continue;
    SmallVector<std::pair<Expr *, unsigned>> inputs;
    walk(rest, [&](Expr *part) {
      List x = getFactors(stripRound(part, ignored), number);
      if (part->is(Kind::Round) && take(x, rstd) && !x.empty())
        for (unsigned column : getDims(part->dims & ~rstd->dims))
          inputs.push_back({pool.product(x, number), column});
    });
    for (auto [x, column] : inputs)
      for (Expr *g : rest->operands) {
        gradient = Gradient();
        Norm &norm = gradient.norm;
        norm.casting = Casting::none;
        norm.column = column;
        norm.outputType = type;
        norm.x = x;
        if (!readRstd(context, host, rstd, expr, norm))
          continue;
        Definition definition(pool, norm);
        if (definition.compare(definition.getBackward(g), expr).empty() &&
            splitWeight(context, g, gradient))
          return true;
      }
  }
  return false;
}

namespace {
/// Looks for the two terms of dx among those of a scalar.
class TermMatcher {
public:
  TermMatcher(const Context &context, linalg::GenericOp host, Value scalar,
              Type type, ArrayRef<Term> terms, bool isRelaxed)
      : context(context), pool(context.pool), host(host), scalar(scalar),
        type(type), terms(terms), isRelaxed(isRelaxed) {}

  bool match(Gradient &gradient);

  /// A root of which the terms are nearly a gradient, and what differs.
  Expr *nearRoot = nullptr;
  std::string difference;

private:
  bool matchPair(const Term &first, const Term &second, Expr *rstd,
                 unsigned column, Gradient &gradient);
  bool placeRest(const Term &first, const Term &second, Gradient &gradient);

  const Context &context;
  ExprPool &pool;
  linalg::GenericOp host;
  Value scalar;
  Type type;
  ArrayRef<Term> terms;
  bool isRelaxed;
};
} // namespace

bool TermMatcher::match(Gradient &gradient) {
  double number;
  for (const Term &first : terms)
    for (Expr *rstd : getFactors(first.product, number)) {
      if (!isRstd(context, rstd, Type()))
        continue;
      for (const Term &second : terms)
        if (&first != &second &&
            llvm::count(getFactors(second.product, number), rstd) >= 3)
          for (unsigned column : getDims(first.product->dims & ~rstd->dims))
            if (matchPair(first, second, rstd, column, gradient))
              return true;
    }
  return false;
}

/// `first` is to be g * rstd, and `second` what follows from it.
bool TermMatcher::matchPair(const Term &first, const Term &second, Expr *rstd,
                            unsigned column, Gradient &gradient) {
  gradient = Gradient();
  Norm &norm = gradient.norm;
  norm.column = column;
  norm.outputType = type;
  double number;
  // All of the second term but x depends on the row alone.
  List factors = getFactors(first.product, number), x;
  take(factors, rstd);
  Expr *g = pool.product(factors, first.number);
  factors = getFactors(second.product, number);
  llvm::copy_if(factors, std::back_inserter(x),
                [&](Expr *factor) { return factor->hasDim(column); });
  if (x.empty())
    return false;
  norm.x = pool.product(x);
  if (Root root; getRoot(rstd)) {
    // x may have factors that depend on the row.
    Norm ignored;
    if (!readRoot(context, rstd, root, ignored) ||
        !takeX(context, host, root, factors, norm) || norm.column != column)
      return false;
  }
  if (!readRstd(context, host, rstd, second.product, norm))
    return false;
  Definition definition(pool, norm);
  Expr *wanted = definition.getBackward(g);
  Expr *found = pool.product({second.product}, second.number);
  std::string text =
      isRelaxed ? definition.compare(pool.relax(wanted), pool.relax(found))
                : definition.compare(wanted, found);
  if (!text.empty()) {
    if (!norm.isSaved && !nearRoot)
      nearRoot = rstd, difference = text;
    return false;
  }
  return splitWeight(context, g, gradient) &&
         placeGradient(context, host, gradient) &&
         (terms.size() == 2 || placeRest(first, second, gradient));
}

/// What is added to dx before the sum is rounded, a residual's gradient. Where
/// dx is a scalar of its own, that one's turn is yet to come.
bool TermMatcher::placeRest(const Term &first, const Term &second,
                            Gradient &gradient) {
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
  return canPlace(context, host, gradient.rest, gradient.norm);
}

//===----------------------------------------------------------------------===//
// dweight
//===----------------------------------------------------------------------===//

/// Tensors that are the sum over all rows of what dweight is to be.
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

/// The one loop of `host`, a sum from zero, that is not summed over; none if it
/// is something else. `accumulator` is its type, if it is narrower than f32.
static std::optional<unsigned>
getColumn(const Context &context, linalg::GenericOp host, Type &accumulator) {
  if (!host.hasPureTensorSemantics() || host->getNumResults() != 1 ||
      host.getNumReductionLoops() == 0 || host.getNumParallelLoops() != 1)
    return std::nullopt;
  SmallVector<unsigned> column;
  host.getParallelDims(column);
  SmallVector<AffineExpr> indices;
  for (AffineExpr index : host.getIndexingMapsArray().back().getResults())
    indices.push_back(isa<AffineDimExpr>(index) ? context.pool.dim(0)
                                                : context.pool.zero());
  Expr *sum = context.reader.definition(host.getResult(0), indices);
  if (!sum->is(Kind::Sum))
    return std::nullopt;
  accumulator = sum->type;
  return column.front();
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

std::optional<Gradient> raising::matchWeightGradient(const Context &context,
                                                     linalg::GenericOp host) {
  ExprPool &pool = context.pool;
  Type accumulator, type;
  std::optional<unsigned> column = getColumn(context, host, accumulator);
  Expr *summand = column ? getSummand(context, host) : nullptr;
  if (!summand)
    return std::nullopt;
  List factors;
  double number = 1;
  collectFactors(stripRound(summand, type), factors, number);
  for (Expr *factor : factors) {
    Root root;
    Gradient gradient;
    Norm &norm = gradient.norm;
    List others = factors;
    take(others, factor);
    // Not without dx, where that is one but for its roundings.
    if (!getRoot(factor) || context.reasons.getGradient(getRoot(factor)) ||
        !readRoot(context, factor, root, norm) ||
        !takeX(context, host, root, others, norm) || norm.column != *column)
      continue;
    gradient.dy = pool.product(others, number);
    norm.inputType = norm.outputType = pool.getType(norm.x);
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
    context.reasons.addGradient(root.rsqrt, host, text);
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
  Gradient gradient;
  if (matchNone(context, host, expr, gradient) &&
      placeGradient(context, host, gradient)) {
    findWeightGradients(context, host, gradient);
    return gradient;
  }
  Type type, f32 = Float32Type::get(host.getContext());
  Expr *exact = stripRound(expr, type), *nearRoot = nullptr;
  std::string difference;
  for (bool isRelaxed : {false, true}) {
    Terms terms;
    if (!collectTerms(context.pool, exact, 1, isRelaxed, terms))
      return std::nullopt;
    TermMatcher matcher(context, host, scalar, type ? type : f32, terms,
                        isRelaxed);
    if (matcher.match(gradient)) {
      if (!isRelaxed || context.roundings == Roundings::fewer) {
        findWeightGradients(context, host, gradient);
        return gradient;
      }
      nearRoot = gradient.norm.rstd;
      difference = getRoundings(expr);
    } else if (matcher.nearRoot && !nearRoot) {
      nearRoot = matcher.nearRoot;
      difference = matcher.difference;
    }
  }
  if (nearRoot)
    context.reasons.addGradient(nearRoot, scalar.getDefiningOp(), difference);
  return std::nullopt;
}
