// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SizeConstraints.cpp - what sizes of arguments must be -------------===//

#include "SizeConstraints.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// What `op` says of sizes (see ShapeSymbols).
struct Statement {
  Operation *op;
  AffineExpr expr;
};

class ConstraintCollector {
public:
  ConstraintCollector(func::FuncOp function, ShapeSymbols &symbols)
      : symbols(symbols), context(function.getContext()) {}

  LogicalResult run(func::FuncOp function, unsigned numGiven);

private:
  /// More of them are no index arithmetic that anybody writes; a chain of
  /// squares grows without bound.
  static constexpr unsigned kMaxOps = 128;
  /// In terms of shape symbols, null if it is not known.
  struct KnownSize {
    AffineExpr expr;
    unsigned numOps = 0;
  };

  void collectProduct(Operation *op, Value product, int64_t dim, Value factors,
                      ArrayRef<int64_t> group);
  void collectSlice(OffsetSizeAndStrideOpInterface op, Value whole);
  void collect(Operation *op);
  AffineExpr simplify(AffineExpr expr) {
    return simplifyAffineExpr(expr, 0, numSymbols);
  }
  KnownSize resolve(AffineExpr size);
  KnownSize substitute(AffineExpr expr);
  LogicalResult addConstraint(Operation *op, AffineExpr expr, bool isEqual);

  ShapeSymbols &symbols;
  MLIRContext *context;
  unsigned numSymbols = 0;
  /// The symbols of sizes that the caller chooses.
  llvm::DenseMap<AffineExpr, unsigned> given;
  llvm::MapVector<AffineExpr, SmallVector<Statement, 1>> definitions;
  /// Sizes that must not be negative.
  SmallVector<Statement> slices;
  llvm::DenseMap<AffineExpr, KnownSize> known;
  llvm::SmallMapVector<AffineExpr, bool, 4> constraints;
};
} // namespace

/// Dimension `dim` of `product` is the product of those of `factors` in
/// `group`.
void ConstraintCollector::collectProduct(Operation *op, Value product,
                                         int64_t dim, Value factors,
                                         ArrayRef<int64_t> group) {
  AffineExpr size = getAffineConstantExpr(1, context);
  for (int64_t factor : group)
    size = size * symbols.getSize(factors, factor);
  definitions[symbols.getSize(product, dim)].push_back({op, size});
}

/// A slice of `whole`, taken or put in, lies in it.
void ConstraintCollector::collectSlice(OffsetSizeAndStrideOpInterface op,
                                       Value whole) {
  for (auto [dim, offset, size, stride] : llvm::enumerate(
           op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    slices.push_back(
        {op, symbols.getSize(whole, dim) - symbols.getSize(offset) -
                 (symbols.getSize(size) - 1) * symbols.getSize(stride) - 1});
  }
}

void ConstraintCollector::collect(Operation *op) {
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    for (auto [dim, group] :
         llvm::enumerate(collapse.getReassociationIndices()))
      collectProduct(op, collapse.getResult(), dim, collapse.getSrc(), group);
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    for (auto [dim, group] : llvm::enumerate(expand.getReassociationIndices()))
      collectProduct(op, expand.getSrc(), dim, expand.getResult(), group);
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    collectSlice(slice, slice.getSource());
  } else if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
    collectSlice(slice, slice.getDest());
  } else if (op->getNumResults() == 1 &&
             op->getResult(0).getType().isIntOrIndex() &&
             llvm::all_of(op->getOperandTypes(),
                          [](Type type) { return type.isIntOrIndex(); })) {
    auto operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) {
      return symbols.getSize(OpFoldResult(operand));
    });
    if (AffineExpr size = getIndexArithmetic(op, operands))
      definitions[symbols.getSize(OpFoldResult(op->getResult(0)))].push_back(
          {op, size});
  }
}

ConstraintCollector::KnownSize ConstraintCollector::resolve(AffineExpr size) {
  if (auto it = given.find(size); it != given.end())
    return {getAffineSymbolExpr(it->second, context), 1};
  if (isa<AffineConstantExpr>(size))
    return {size, 1};
  auto [it, inserted] = known.try_emplace(size);
  if (!inserted)
    return it->second;
  for (const Statement &definition : definitions.lookup(size))
    if (KnownSize found = substitute(definition.expr); found.expr)
      return known[size] = found;
  return {};
}

ConstraintCollector::KnownSize
ConstraintCollector::substitute(AffineExpr expr) {
  llvm::DenseMap<AffineExpr, AffineExpr> parts;
  unsigned numOps = 1;
  WalkResult result = expr.walk([&](AffineExpr size) {
    if (!isa<AffineSymbolExpr>(size))
      return WalkResult::advance();
    KnownSize part = resolve(size);
    numOps += part.numOps;
    parts[size] = part.expr;
    return WalkResult(success(part.expr && numOps <= kMaxOps));
  });
  if (result.wasInterrupted())
    return {};
  return {simplify(expr.replace(parts)), numOps};
}

/// Whether `expr` is so for any sizes.
static bool isNeverNegative(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue() >= 0;
  if (isa<AffineSymbolExpr>(expr) || expr.getKind() == AffineExprKind::Mod)
    return true;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  return isNeverNegative(binary.getLHS()) && isNeverNegative(binary.getRHS());
}

/// That `expr` is 0, or not negative.
LogicalResult ConstraintCollector::addConstraint(Operation *op, AffineExpr expr,
                                                 bool isEqual) {
  expr = simplify(expr);
  if (isEqual ? expr == 0 : isNeverNegative(expr))
    return success();
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return op->emitOpError("expected sizes that fit, got a difference of ")
           << constant.getValue();
  constraints[expr] |= isEqual;
  return success();
}

LogicalResult ConstraintCollector::run(func::FuncOp function,
                                       unsigned numGiven) {
  auto unknown = [](Operation *op) {
    return op->emitOpError("expected sums, products, quotients or remainders "
                           "of arguments' sizes as sizes, got another ");
  };
  // The symbol of each size that only results have, and its first place.
  struct Place {
    unsigned symbol;
    StringAttr name;
    size_t dim;
  };
  llvm::MapVector<AffineExpr, Place> results;
  for (BlockArgument argument : function.getArguments()) {
    auto dims = function.getArgAttrOfType<DenseI64ArrayAttr>(
        argument.getArgNumber(), RMSNormDialect::kDimsAttrName);
    auto name = function.getArgAttrOfType<StringAttr>(
        argument.getArgNumber(), RMSNormDialect::kNameAttrName);
    for (auto [dim, size] :
         llvm::enumerate(dims ? dims.asArrayRef() : ArrayRef<int64_t>())) {
      if (size >= 0)
        continue;
      unsigned symbol = -1 - size;
      numSymbols = std::max(numSymbols, symbol + 1);
      AffineExpr own = symbols.getSize(argument, dim);
      if (argument.getArgNumber() < numGiven)
        given[own] = symbol;
      else if (!given.count(own))
        results.insert({own, {symbol, name, dim}});
    }
  }
  for (Operation &op : function.front())
    collect(&op);
  for (auto &[own, place] : results) {
    KnownSize size = resolve(own);
    if (!size.expr)
      return unknown(function) << "value in dimension " << place.dim
                               << " of result " << place.name;
    AffineExpr symbol = getAffineSymbolExpr(place.symbol, context);
    if (failed(addConstraint(function, symbol - size.expr, /*isEqual=*/true)))
      return failure();
  }
  for (auto &[own, statements] : definitions) {
    KnownSize size = resolve(own);
    for (const Statement &definition : statements) {
      KnownSize other = substitute(definition.expr);
      if (!size.expr || (!other.expr && !isa<tensor::TensorDialect>(
                                            definition.op->getDialect())))
        continue;
      if (!other.expr)
        return unknown(definition.op) << "value";
      if (failed(addConstraint(definition.op, size.expr - other.expr,
                               /*isEqual=*/true)))
        return failure();
    }
  }
  for (const Statement &slice : slices) {
    KnownSize room = substitute(slice.expr);
    if (!room.expr)
      return unknown(slice.op) << "value";
    if (failed(addConstraint(slice.op, room.expr, /*isEqual=*/false)))
      return failure();
  }
  if (constraints.empty())
    return success();
  SmallVector<AffineExpr> exprs(llvm::make_first_range(constraints));
  SmallVector<bool> equalities(llvm::make_second_range(constraints));
  function->setAttr(
      RMSNormDialect::kSizesAttrName,
      IntegerSetAttr::get(IntegerSet::get(0, numSymbols, exprs, equalities)));
  return success();
}

LogicalResult rmsnorm::setSizeConstraints(func::FuncOp function,
                                          ShapeSymbols &symbols,
                                          unsigned numGiven) {
  return ConstraintCollector(function, symbols).run(function, numGiven);
}
