// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SizeRules.cpp - sizes that follow from others ---------------------===//

#include "SizeRules.h"
#include "IndexExpressions.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/IntegerSet.h"

#include <deque>

using namespace mlir;
using namespace mlir::rmsnorm;
using rmsn::SizeRelation;

namespace {
/// The value that symbol `symbol` must have.
struct Solution {
  unsigned symbol;
  SizeRelation relation;
  AffineExpr value;
  /// An expression that must also be 0, or null.
  AffineExpr rest;
};
} // namespace

/// Solves `expr` == 0 or, unless `isEqual`, `expr` >= 0 for the last symbol
/// that it can be solved for: results come last and follow from the others.
static Solution solve(AffineExpr expr, bool isEqual, unsigned numSymbols) {
  auto simplify = [&](AffineExpr e) {
    return simplifyAffineExpr(e, 0, numSymbols);
  };
  auto getSymbol = [&](unsigned number) {
    return getAffineSymbolExpr(number, expr.getContext());
  };
  std::optional<unsigned> last;
  for (unsigned k = numSymbols; k-- > 0;) {
    if (!expr.isFunctionOfSymbol(k))
      continue;
    if (!last)
      last = k;
    // expr = factor * symbol + rest.
    AffineExpr symbol = getSymbol(k);
    auto constant = dyn_cast<AffineConstantExpr>(
        simplify(expr.replace(symbol, symbol + 1) - expr));
    if (!constant || constant == 0)
      continue;
    const int64_t factor = constant.getValue(), count = std::abs(factor);
    AffineExpr rest = simplify(
        expr.replace(symbol, getAffineConstantExpr(0, expr.getContext())));
    if (factor > 0)
      rest = -rest;
    const bool isLower = !isEqual && factor > 0;
    return {k,
            isEqual   ? SizeRelation::Equal
            : isLower ? SizeRelation::AtLeast
                      : SizeRelation::AtMost,
            simplify(isLower ? rest.ceilDiv(count) : rest.floorDiv(count)),
            isEqual && count != 1 ? simplify(rest % count) : AffineExpr()};
  }
  // Such as s0 mod 128 == 0: the expected size is then one that fits.
  AffineExpr symbol = getSymbol(*last);
  return {*last, isEqual ? SizeRelation::Equal : SizeRelation::AtLeast,
          simplify(symbol - expr), AffineExpr()};
}

LogicalResult rmsnorm::readSizeRules(func::FuncOp function,
                                     rmsn::EntryT &entry) {
  auto sizes =
      function->getAttrOfType<IntegerSetAttr>(RMSNormDialect::kSizesAttrName);
  if (!sizes)
    return success();
  IntegerSet set = sizes.getValue();
  const unsigned numSymbols = set.getNumSymbols();
  // The argument and the dimension where each symbol stands first.
  SmallVector<std::optional<std::pair<unsigned, unsigned>>> places(numSymbols);
  for (auto [number, argument] : llvm::enumerate(entry.arguments))
    for (auto [dim, size] : llvm::enumerate(argument->dims))
      if (size < 0 && -1 - size < numSymbols && !places[-1 - size])
        places[-1 - size] = {number, dim};
  if (!llvm::all_of(places, [](auto &place) { return place.has_value(); }))
    return function.emitError("expected the symbols of 'rmsnorm.sizes' to be "
                              "sizes of arguments, got ")
           << sizes;

  auto getSize = [&](AffineExpr symbol) -> FailureOr<Expression> {
    auto [argument, dim] =
        *places[cast<AffineSymbolExpr>(symbol).getPosition()];
    return sizeExpression(argument, dim);
  };
  auto add = [&](const Solution &solution) -> LogicalResult {
    FailureOr<Expression> value = affineExpression(solution.value, getSize);
    if (failed(value) || failed(checkExpression(*value, function.getLoc())))
      return failure();
    auto rule = std::make_unique<rmsn::SizeRuleT>();
    std::tie(rule->argument, rule->dimension) = *places[solution.symbol];
    rule->relation = solution.relation;
    rule->expression = pack(std::move(*value));
    entry.sizes.push_back(std::move(rule));
    return success();
  };
  // A size that follows from others stands in no further rule.
  llvm::DenseMap<AffineExpr, AffineExpr> derived;
  std::deque<AffineExpr> equal, notNegative;
  for (auto [expr, isEqual] :
       llvm::zip_equal(set.getConstraints(), set.getEqFlags()))
    (isEqual ? equal : notNegative).push_back(expr);
  while (!equal.empty() || !notNegative.empty()) {
    const bool isEqual = !equal.empty();
    auto &queue = isEqual ? equal : notNegative;
    AffineExpr expr =
        simplifyAffineExpr(queue.front().replace(derived), 0, numSymbols);
    queue.pop_front();
    if (auto constant = dyn_cast<AffineConstantExpr>(expr)) {
      if (isEqual ? constant == 0 : constant.getValue() >= 0)
        continue;
      return function.emitError("expected sizes of arguments that can be as "
                                "'rmsnorm.sizes' says, got ")
             << sizes;
    }
    Solution solution = solve(expr, isEqual, numSymbols);
    if (failed(add(solution)))
      return failure();
    if (isEqual && !solution.value.isFunctionOfSymbol(solution.symbol))
      derived[getAffineSymbolExpr(solution.symbol, expr.getContext())] =
          solution.value;
    if (solution.rest)
      equal.push_front(solution.rest);
  }
  if (entry.sizes.size() > rmsn::kMaxSizeRules)
    return function.emitError("expected at most ")
           << rmsn::kMaxSizeRules << " rules of sizes, got "
           << entry.sizes.size();
  return success();
}
