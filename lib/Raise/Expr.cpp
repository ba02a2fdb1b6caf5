// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Expr.cpp - values as expressions in a normal form -----------------===//

#include "Expr.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/SetVector.h"

#include <cmath>

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

/// A product of more factors is a factor itself, else repeated squaring would
/// have a factor for each atom.
static constexpr size_t kMaxFactors = 32;

/// Symbols that a sum binds are numbered by the height of its body, this many
/// for each; symbols not bound yet come after all of them.
static constexpr unsigned kMaxBound = 8;
static constexpr unsigned kFirstFresh = 1u << 24;

void Expr::Profile(llvm::FoldingSetNodeID &id) const {
  id.AddInteger(static_cast<int>(kind));
  for (Expr *operand : operands)
    id.AddPointer(operand);
  id.AddPointer(value.getAsOpaquePointer());
  for (AffineExpr index : indices)
    id.AddPointer(index.getAsOpaquePointer());
  for (int64_t extent : extents)
    id.AddInteger(extent);
  id.AddInteger(llvm::bit_cast<uint64_t>(number));
  id.AddPointer(type.getAsOpaquePointer());
  if (name)
    id.AddPointer(name->getAsOpaquePointer());
  id.AddPointer(attributes.getAsOpaquePointer());
}

bool raising::isSmallFloat(Type type) {
  return type.isF32() || type.isBF16() || type.isF16();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

void ExprPool::derive(Expr &expr) const {
  expr.height = 0;
  expr.dims = expr.sumDims = 0;
  llvm::SmallSetVector<unsigned, 4> symbols;
  for (Expr *operand : expr.operands) {
    expr.height = std::max(expr.height, operand->height);
    expr.dims |= operand->dims;
    expr.sumDims |= operand->sumDims;
    symbols.insert(operand->freeSymbols.begin(), operand->freeSymbols.end());
  }
  if (expr.is(Kind::Sum)) {
    ++expr.height;
    expr.sumDims |= expr.dims;
    for (AffineExpr symbol : expr.indices)
      symbols.remove(cast<AffineSymbolExpr>(symbol).getPosition());
  } else {
    for (AffineExpr index : expr.indices)
      index.walk([&](AffineExpr part) {
        if (auto dim = dyn_cast<AffineDimExpr>(part))
          expr.dims |= uint64_t(1) << dim.getPosition();
        else if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
          symbols.insert(symbol.getPosition());
      });
  }
  expr.freeSymbols.assign(symbols.begin(), symbols.end());
  llvm::sort(expr.freeSymbols);
}

Expr *ExprPool::get(Expr &&expr) {
  llvm::FoldingSetNodeID id;
  expr.Profile(id);
  void *position;
  if (Expr *known = set.FindNodeOrInsertPos(id, position))
    return known;
  derive(expr);
  expr.id = nodes.size();
  expr.SetNextInBucket(nullptr); // A copy of a node is in no set.
  nodes.push_back(std::make_unique<Expr>(std::move(expr)));
  set.InsertNode(nodes.back().get(), position);
  return nodes.back().get();
}

Expr *ExprPool::unary(Kind kind, Expr *operand) {
  Expr expr(kind);
  expr.operands = {operand};
  return get(std::move(expr));
}

Expr *ExprPool::element(Value value, ArrayRef<AffineExpr> indices) {
  Expr expr(Kind::Element);
  expr.value = value;
  expr.indices.assign(indices.begin(), indices.end());
  return get(std::move(expr));
}

Expr *ExprPool::index(AffineExpr value) {
  Expr expr(Kind::Index);
  expr.indices = {value};
  return get(std::move(expr));
}

Expr *ExprPool::constant(double number) {
  Expr expr(Kind::Constant);
  expr.number = number + 0.0; // no negative zero
  return get(std::move(expr));
}

Expr *ExprPool::product(ArrayRef<Expr *> factors, double number) {
  Expr expr(Kind::Product);
  expr.number = number;
  size_t count = 0;
  for (Expr *factor : factors)
    count += factor->is(Kind::Product) ? factor->operands.size() : 1;
  for (Expr *factor : factors) {
    if (factor->is(Kind::Constant)) {
      expr.number *= factor->number;
    } else if (factor->is(Kind::Product) && count <= kMaxFactors) {
      expr.number *= factor->number;
      expr.operands.append(factor->operands);
    } else {
      expr.operands.push_back(factor);
    }
  }
  // The square of |a| is that of a.
  auto byId = [](Expr *a, Expr *b) { return a->id < b->id; };
  llvm::sort(expr.operands, byId);
  for (size_t i = 1; i < expr.operands.size(); ++i)
    if (Expr *magnitude = expr.operands[i];
        magnitude == expr.operands[i - 1] && magnitude->is(Kind::Op) &&
        magnitude->name->getStringRef() == math::AbsFOp::getOperationName())
      expr.operands[i] = expr.operands[i - 1] = magnitude->operands.front();
  llvm::sort(expr.operands, byId);
  if (expr.operands.empty())
    return constant(expr.number);
  if (expr.number == 1 && expr.operands.size() == 1)
    return expr.operands.front();
  return get(std::move(expr));
}

Expr *ExprPool::add(Expr *lhs, Expr *rhs) {
  if (std::pair(lhs->is(Kind::Constant), lhs->id) >
      std::pair(rhs->is(Kind::Constant), rhs->id))
    std::swap(lhs, rhs);
  if (lhs->is(Kind::Constant))
    return constant(static_cast<float>(lhs->number + rhs->number));
  if (rhs->is(Kind::Constant) && rhs->number == 0)
    return lhs;
  Expr expr(Kind::Add);
  expr.operands = {lhs, rhs};
  return get(std::move(expr));
}

Expr *ExprPool::round(Type type, Expr *expr) {
  if (!type || type.isF32() || getType(expr) == type)
    return expr;
  if (expr->is(Kind::Constant)) {
    APFloat number(expr->number);
    bool losesInfo;
    number.convert(cast<FloatType>(type).getFloatSemantics(),
                   APFloat::rmNearestTiesToEven, &losesInfo);
    return constant(number.convertToDouble());
  }
  // Rounding a sum and dividing it by a power of two are interchangeable in
  // bf16, whose exponents are those of f32.
  if (expr->is(Kind::Product) && expr->operands.size() == 1 && type.isBF16()) {
    Expr *operand = expr->operands.front();
    int exponent;
    if (stripRound(operand)->is(Kind::Sum) &&
        std::frexp(std::abs(expr->number), &exponent) == 0.5)
      return product({round(type, operand)}, expr->number);
  }
  Expr rounded(Kind::Round);
  rounded.type = type;
  rounded.operands = {expr};
  return get(std::move(rounded));
}

Expr *ExprPool::size(Kind kind, Value value, int64_t dim) {
  Expr expr(kind);
  expr.value = value;
  expr.extents = {dim};
  return get(std::move(expr));
}

Expr *ExprPool::operation(Operation *op, ArrayRef<Expr *> operands) {
  Expr expr(Kind::Op);
  expr.name = op->getName();
  expr.attributes = op->getAttrDictionary();
  expr.type =
      FunctionType::get(context, op->getOperandTypes(), op->getResultTypes());
  expr.operands.assign(operands.begin(), operands.end());
  return get(std::move(expr));
}

Expr *ExprPool::open(Expr *sum, SmallVectorImpl<AffineExpr> &symbols) {
  Substitution names;
  for (AffineExpr symbol : sum->indices) {
    symbols.push_back(freshSymbol());
    names[symbol] = symbols.back();
  }
  return substitute(sum->operands.front(), names);
}

Expr *ExprPool::sum(Expr *body, ArrayRef<AffineExpr> symbols,
                    ArrayRef<int64_t> extents, Type accumulator) {
  SmallVector<AffineExpr, 3> bound(symbols.begin(), symbols.end());
  SmallVector<int64_t, 1> sizes(extents.begin(), extents.end());
  double number = 1;
  List outside;
  if (!accumulator) {
    number = getNumber(body);
    // Factors that do not depend on the symbols are no part of the sum.
    List inside;
    for (Expr *factor : getFactors(body)) {
      bool depends = llvm::any_of(bound, [&](AffineExpr symbol) {
        return llvm::is_contained(factor->freeSymbols,
                                  cast<AffineSymbolExpr>(symbol).getPosition());
      });
      (depends ? inside : outside).push_back(factor);
    }
    body = product(inside);
    // A sum of sums is one.
    if (body->is(Kind::Sum) && !body->type &&
        bound.size() + body->indices.size() <= kMaxBound) {
      sizes.append(body->extents);
      body = open(body, bound);
    }
  }
  // Equal sums are equal nodes: the names of symbols follow from the body.
  Substitution names;
  Expr expr(Kind::Sum);
  for (auto [i, symbol] : llvm::enumerate(bound)) {
    expr.indices.push_back(
        getAffineSymbolExpr(body->height * kMaxBound + i, context));
    names[symbol] = expr.indices.back();
  }
  expr.operands = {substitute(body, names)};
  expr.extents = sizes;
  expr.type = accumulator;
  outside.push_back(get(std::move(expr)));
  return product(outside, number);
}

//===----------------------------------------------------------------------===//
// Queries
//===----------------------------------------------------------------------===//

AffineExpr ExprPool::dim(unsigned position) const {
  return getAffineDimExpr(position, context);
}

AffineExpr ExprPool::zero() const { return getAffineConstantExpr(0, context); }

AffineExpr ExprPool::freshSymbol() {
  return getAffineSymbolExpr(kFirstFresh + freshSymbols++, context);
}

Type ExprPool::getType(Expr *expr) const {
  switch (expr->kind) {
  case Kind::Element:
    return getElementTypeOrSelf(expr->value.getType());
  case Kind::Round:
    return expr->type;
  case Kind::Op:
    return cast<FunctionType>(expr->type).getResult(0);
  case Kind::Sum:
    return expr->type ? expr->type : Type(Float32Type::get(context));
  case Kind::Product: // A sign costs no bit.
    if (expr->number == -1 && expr->operands.size() == 1)
      return getType(expr->operands.front());
    return Float32Type::get(context);
  default:
    return Float32Type::get(context);
  }
}

Expr *ExprPool::substitute(Expr *root, const Substitution &substitution) {
  uint64_t dims = 0;
  SmallVector<unsigned> symbols;
  for (auto [from, to] : substitution) {
    if (from == to)
      continue;
    if (auto dim = dyn_cast<AffineDimExpr>(from))
      dims |= uint64_t(1) << dim.getPosition();
    else
      symbols.push_back(cast<AffineSymbolExpr>(from).getPosition());
  }
  DenseMap<Expr *, Expr *> known;
  auto visit = [&](auto &self, Expr *expr) -> Expr * {
    if (!(expr->dims & dims) && llvm::none_of(symbols, [&](unsigned symbol) {
          return llvm::is_contained(expr->freeSymbols, symbol);
        }))
      return expr;
    if (Expr *done = known.lookup(expr))
      return done;
    List operands;
    for (Expr *operand : expr->operands)
      operands.push_back(self(self, operand));
    Expr *result;
    if (expr->is(Kind::Product)) {
      result = product(operands, expr->number);
    } else if (expr->is(Kind::Add)) {
      result = add(operands[0], operands[1]);
    } else {
      Expr copy(*expr);
      copy.operands.assign(operands.begin(), operands.end());
      if (!copy.is(Kind::Sum))
        for (AffineExpr &index : copy.indices)
          index = index.replace(substitution);
      result = get(std::move(copy));
    }
    return known[expr] = result;
  };
  return visit(visit, root);
}

Expr *ExprPool::relax(Expr *expr) {
  if (expr->height == 0 || expr->is(Kind::Rsqrt))
    return expr;
  if (Expr *done = relaxed.lookup(expr))
    return done;
  Expr *result = expr;
  List operands;
  if (expr->is(Kind::Sum)) {
    SmallVector<AffineExpr> symbols;
    Expr *body = relax(open(expr, symbols));
    result = sum(stripRound(body), symbols, expr->extents);
  } else if (expr->is(Kind::Round)) {
    result = relax(expr->operands.front());
  } else if (expr->is(Kind::Product) || expr->is(Kind::Add)) {
    for (Expr *operand : expr->operands)
      operands.push_back(relax(operand));
    result = expr->is(Kind::Add) ? add(operands[0], operands[1])
                                 : product(operands, expr->number);
  }
  return relaxed[expr] = result;
}

Expr *ExprPool::renumber(Expr *expr) {
  Substitution names;
  for (auto [i, position] : llvm::enumerate(raising::getDims(expr->dims)))
    names[dim(position)] = dim(i);
  return substitute(expr, names);
}

ExprPool::List raising::getFactors(Expr *expr) {
  if (expr->is(Expr::Kind::Constant))
    return {};
  if (!expr->is(Expr::Kind::Product))
    return {expr};
  return ExprPool::List(expr->operands.begin(), expr->operands.end());
}

double raising::getNumber(Expr *expr) {
  const bool hasNumber =
      expr->is(Expr::Kind::Constant) || expr->is(Expr::Kind::Product);
  return hasNumber ? expr->number : 1;
}

double raising::getConstantTerm(Expr *expr) {
  const bool hasConstant = expr->is(Expr::Kind::Add) &&
                           expr->operands.back()->is(Expr::Kind::Constant);
  return hasConstant ? expr->operands.back()->number : 0;
}

Expr *raising::stripRound(Expr *expr) {
  return expr->is(Expr::Kind::Round) ? expr->operands.front() : expr;
}

Type raising::getRounding(Expr *expr) {
  return expr->is(Expr::Kind::Round) ? expr->type : Type();
}

bool raising::take(ExprPool::List &list, Expr *expr) {
  auto it = llvm::find(list, expr);
  if (it == list.end())
    return false;
  list.erase(it);
  return true;
}

SmallVector<Expr *, 0> raising::getParts(Expr *expr) {
  llvm::SetVector<Expr *, SmallVector<Expr *, 0>> found;
  found.insert(expr);
  for (unsigned i = 0; i < found.size(); ++i)
    found.insert(found[i]->operands.begin(), found[i]->operands.end());
  return found.takeVector();
}

SmallVector<unsigned> raising::getDims(uint64_t dims) {
  SmallVector<unsigned> positions;
  for (unsigned i = 0; i < 64; ++i)
    if (dims >> i & 1)
      positions.push_back(i);
  return positions;
}
