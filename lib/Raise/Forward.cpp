// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Forward.cpp - which scalars are norms -----------------------------===//

#include "Emit.h"
#include "Match.h"
#include "RMSNorm/IR/DimTrace.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

using Kind = Expr::Kind;
using List = ExprPool::List;

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

Expr *raising::getRoot(Expr *factor) {
  Type type;
  Expr *exact = stripRound(factor, type);
  return exact->is(Kind::Rsqrt) ? exact : nullptr;
}

Expr *raising::findInverse(Expr *expr, Expr *body, AffineExpr loop) {
  Expr *inverse = nullptr;
  walk(body, [&](Expr *part) {
    if (!part->is(Kind::Element) || !isa<ShapedType>(part->value.getType()))
      return;
    for (auto [dim, index] : llvm::enumerate(part->indices))
      walk(expr, [&, dim = dim, index = index](Expr *size) {
        if (!inverse && size->is(Kind::InverseSize) && index == loop &&
            traceDim(part->value, dim) == DimSource{ShapedType::kDynamic,
                                                    size->value,
                                                    size->extents.front()})
          inverse = size;
      });
  });
  return inverse;
}

bool raising::readRoot(const Context &context, Expr *factor, Norm &norm) {
  Type type;
  double number;
  Expr *root = getRoot(factor);
  auto fail = [&](int progress, const llvm::Twine &text) {
    return context.reasons.add(root, progress, text);
  };
  Expr *shifted = stripRound(root->operands.front(), type);
  Expr *eps = nullptr, *mean = nullptr;
  if (shifted->is(Kind::Add))
    for (int i : {0, 1})
      if (shifted->operands[i]->is(Kind::Constant))
        eps = shifted->operands[i], mean = shifted->operands[1 - i];
  if (!eps)
    return fail(kUnderRoot, "no constant epsilon is added under the root");
  if (!(static_cast<float>(eps->number) > 0) || !std::isfinite(eps->number))
    return fail(kUnderRoot, "epsilon is not finite and positive");
  norm.rstd = factor;
  norm.eps = eps->number;

  // Factors of x that do not depend on the column stand outside of the sum.
  List squares;
  for (Expr *part : getFactors(stripRound(mean, type), number)) {
    Expr *exact = stripRound(part, type);
    if (part->is(Kind::InverseSize) && !norm.inverse)
      norm.inverse = part;
    else if (exact->is(Kind::Sum) && !norm.sum)
      norm.sum = exact;
    else
      squares.push_back(part);
  }
  if (!norm.sum || norm.sum->indices.size() != 1)
    return fail(kMean, "what is under the root is no sum over one dimension, "
                       "from zero, plus epsilon");
  if (norm.sum->type)
    return fail(kSum, "the sum accumulates in a type narrower than f32");
  norm.extent = norm.sum->extents.front();
  const bool isDynamic = ShapedType::isDynamic(norm.extent);
  if (isDynamic != bool(norm.inverse) ||
      (isDynamic && !findInverse(norm.inverse, norm.sum->operands.front(),
                                 norm.sum->getSymbol())))
    return fail(kSum, "the divisor is not proven to be the size of the "
                      "dimension that is summed");
  norm.scale = isDynamic ? number : number * norm.extent;

  Expr *body = stripRound(norm.sum->operands.front(), type);
  squares.append(getFactors(body, number));
  if (number != 1)
    return fail(kSquare, "a factor beside the rounded square");
  llvm::sort(squares, [](Expr *a, Expr *b) { return a->id < b->id; });
  bool isSquare = squares.size() % 2 == 0;
  for (size_t i = 0; i + 1 < squares.size(); i += 2) {
    isSquare &= squares[i] == squares[i + 1];
    norm.squares.push_back(squares[i]);
  }
  return isSquare ||
         fail(kSquare, "what is summed is not the square of one value");
}

bool raising::collectFactors(Expr *expr, List &factors, double &number) {
  double own;
  List parts = getFactors(expr, own);
  number *= own;
  Expr *opened = nullptr;
  if (llvm::none_of(parts, getRoot))
    for (Expr *part : parts) {
      double ignored;
      List inside;
      if (part->is(Kind::Round) && !opened &&
          (collectFactors(part->operands.front(), inside, ignored) ||
           llvm::any_of(inside, getRoot)))
        opened = part;
    }
  for (Expr *part : parts)
    if (part == opened)
      collectFactors(part->operands.front(), factors, number);
    else
      factors.push_back(part);
  return opened;
}

/// Whether the loop `column` of `host` walks the columns that `sum` sums over.
static bool isSameLoop(Expr *sum, linalg::LinalgOp host, unsigned column) {
  int64_t size = host.getStaticLoopRanges()[column];
  int64_t extent = sum->extents.front();
  if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(extent))
    return size == extent;
  return walksDimension(sum->operands.front(), sum->getSymbol());
}

bool raising::readNorm(const Context &context, linalg::LinalgOp host,
                       Expr *factor, List &factors, Norm &norm) {
  ExprPool &pool = context.pool;
  if (!readRoot(context, factor, norm))
    return false;
  for (unsigned column :
       getDims(pool.product(factors)->dims & ~norm.sum->dims)) {
    List rest = factors, x;
    bool found = isSameLoop(norm.sum, host, column);
    for (Expr *part : norm.squares) {
      x.push_back(
          pool.substitute(part, norm.sum->getSymbol(), pool.dim(column)));
      found = found && take(rest, x.back());
    }
    if (!found)
      continue;
    norm.column = column;
    norm.x = pool.product(x);
    norm.inputType = pool.getType(norm.x);
    factors = rest;
    return true;
  }
  return context.reasons.add(getRoot(factor), kFactors,
                             "what is multiplied with the root is not the x "
                             "whose squares are summed");
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

void raising::splitOffset(Norm &norm) {
  Type type;
  Expr *sum = norm.weight;
  if (norm.casting == Casting::none) {
    sum = stripRound(sum, type);
    if (type != norm.inputType)
      return;
  }
  if (!sum->is(Kind::Add))
    return;
  for (int i : {0, 1}) {
    Expr *constant = sum->operands[i];
    if (!constant->is(Kind::Constant) ||
        !std::isfinite(static_cast<float>(constant->number)))
      continue;
    norm.offset = constant->number;
    norm.weight = sum->operands[1 - i];
    return;
  }
}

/// True if `x` is a - mean(a).
static bool isCentred(const Context &context, Expr *x, unsigned column) {
  ExprPool &pool = context.pool;
  if (x->is(Kind::Element) && isa<ShapedType>(x->value.getType()))
    x = context.reader.definition(x->value, x->indices);
  if (!x->is(Kind::Add))
    return false;
  for (int i : {0, 1}) {
    double number;
    for (Expr *sum : getFactors(x->operands[i], number))
      if (number < 0 && sum->is(Kind::Sum) && sum->indices.size() == 1 &&
          pool.substitute(sum->operands.front(), sum->getSymbol(),
                          pool.dim(column)) == x->operands[1 - i])
        return true;
  }
  return false;
}

bool raising::place(const Context &context, linalg::GenericOp host, Expr *expr,
                    Norm &norm) {
  Placed placed =
      context.tensors.find(expr, norm.column, context.pool.getType(expr), host);
  norm.operands[expr] = placed;
  return placed.tensor || canEmit(expr, context.tensors);
}

bool raising::placeOperands(const Context &context, linalg::GenericOp host,
                            Norm &norm) {
  auto fail = [&](StringRef text) {
    Type type;
    return context.reasons.add(stripRound(norm.rstd, type), kInput, text);
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
/// factors of a product whose roundings do not count yet.
static bool matchRoot(const Context &context, linalg::GenericOp host,
                      Expr *expr, Expr *factor, List others, double number,
                      Norm &norm) {
  ExprPool &pool = context.pool;
  if (!readNorm(context, host, factor, others, norm))
    return false;
  auto fail = [&](int progress, const llvm::Twine &text) {
    return context.reasons.add(getRoot(factor), progress, text);
  };
  // A constant may be part of x: c * x * rsqrt(mean((c * x)^2) + eps).
  if (number != 1 && isNear(norm.scale, number * number))
    norm.x = pool.product({norm.x}, number);
  else if (!isNear(norm.scale, 1))
    return fail(kScale, "the sum is not divided by the length of the row; "
                        "mean * N / sum is " +
                            std::to_string(norm.scale));
  else if (number != 1)
    return fail(kScale, "a constant factor beside the norm");
  for (Expr *other : others)
    if (other->dims != uint64_t(1) << norm.column)
      return fail(kWeight,
                  llvm::Twine("a factor beside the norm ") +
                      (other->dims ? "depends on the row" : "is a scalar"));
  norm.inputType = pool.getType(norm.x);
  std::string differences[3];
  for (Casting casting : {Casting::gemma, Casting::llama, Casting::none}) {
    Norm guess = norm;
    guess.casting = casting;
    if (!others.empty()) {
      guess.weight = pool.product(others);
      splitOffset(guess);
    }
    Definition definition(pool, guess);
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
  Type type;
  List factors;
  Casting nearest = collectFactors(stripRound(expr, type), factors, number)
                        ? Casting::llama
                        : Casting::gemma;
  if (factor != getRoot(factor))
    nearest = Casting::none;
  return fail(kRoundings, "unlike casting '" + stringifyCasting(nearest).str() +
                              "', " + differences[static_cast<int>(nearest)]);
}

std::optional<Norm> raising::matchForward(const Context &context,
                                          linalg::GenericOp host, Expr *expr) {
  Type type;
  List factors;
  double number = 1;
  collectFactors(stripRound(expr, type), factors, number);
  for (Expr *factor : factors) {
    Norm norm;
    List others = factors;
    take(others, factor);
    norm.outputType = type ? type : Type(Float32Type::get(host.getContext()));
    if (getRoot(factor) && !others.empty() &&
        matchRoot(context, host, expr, factor, others, number, norm))
      return norm;
  }
  return std::nullopt;
}
