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
/// Symbol i of `expr` is the size of class `classes[i]` (see ShapeSymbols).
struct SizeExpr {
  Operation *op;
  AffineExpr expr;
  SmallVector<unsigned> classes;
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

  AffineExpr addSize(SizeExpr &sum, unsigned classNumber);
  AffineExpr addSize(SizeExpr &sum, OpFoldResult size);
  void define(unsigned classNumber, SizeExpr size);
  void collectProduct(Operation *op, Value product, int64_t dim, Value factors,
                      ArrayRef<int64_t> group);
  void collectSlice(OffsetSizeAndStrideOpInterface op, Value whole);
  void collect(Operation *op);
  AffineExpr simplify(AffineExpr expr) {
    return simplifyAffineExpr(expr, 0, numSymbols);
  }
  KnownSize resolve(unsigned classNumber);
  KnownSize substitute(const SizeExpr &size);
  LogicalResult addConstraint(Operation *op, AffineExpr expr, bool isEqual);

  ShapeSymbols &symbols;
  MLIRContext *context;
  unsigned numSymbols = 0;
  /// The symbols of sizes that the caller chooses.
  llvm::DenseMap<unsigned, unsigned> given;
  llvm::MapVector<unsigned, SmallVector<SizeExpr, 1>> definitions;
  /// Sizes that must not be negative.
  SmallVector<SizeExpr> slices;
  llvm::DenseMap<unsigned, KnownSize> known;
  llvm::SmallMapVector<AffineExpr, bool, 4> constraints;
};
} // namespace

AffineExpr ConstraintCollector::addSize(SizeExpr &sum, unsigned classNumber) {
  sum.classes.push_back(classNumber);
  return getAffineSymbolExpr(sum.classes.size() - 1, context);
}

AffineExpr ConstraintCollector::addSize(SizeExpr &sum, OpFoldResult size) {
  if (std::optional<int64_t> constant = getConstantIntValue(size))
    return getAffineConstantExpr(*constant, context);
  return addSize(sum, symbols.getClass(size));
}

void ConstraintCollector::define(unsigned classNumber, SizeExpr size) {
  if (size.expr)
    definitions[classNumber].push_back(std::move(size));
}

/// Dimension `dim` of `product` is the product of those of `factors` in
/// `group`.
void ConstraintCollector::collectProduct(Operation *op, Value product,
                                         int64_t dim, Value factors,
                                         ArrayRef<int64_t> group) {
  SizeExpr size{op, getAffineConstantExpr(1, context), {}};
  for (int64_t factor : group)
    size.expr = size.expr * addSize(size, symbols.getClass(factors, factor));
  define(symbols.getClass(product, dim), std::move(size));
}

/// A slice of `whole`, taken or put in, lies in it.
void ConstraintCollector::collectSlice(OffsetSizeAndStrideOpInterface op,
                                       Value whole) {
  for (auto [dim, offset, size, stride] : llvm::enumerate(
           op.getMixedOffsets(), op.getMixedSizes(), op.getMixedStrides())) {
    SizeExpr room{op, {}, {}};
    AffineExpr begin = addSize(room, offset), count = addSize(room, size),
               step = addSize(room, stride);
    room.expr = addSize(room, symbols.getClass(whole, dim)) - begin -
                (count - 1) * step - 1;
    slices.push_back(std::move(room));
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
    SizeExpr size{op, {}, {}};
    auto operands = llvm::map_to_vector(op->getOperands(), [&](Value operand) {
      return addSize(size, OpFoldResult(operand));
    });
    size.expr = getIndexArithmetic(op, operands);
    define(symbols.getClass(OpFoldResult(op->getResult(0))), std::move(size));
  }
}

ConstraintCollector::KnownSize
ConstraintCollector::resolve(unsigned classNumber) {
  if (std::optional<int64_t> size = symbols.getStaticSize(classNumber))
    return {getAffineConstantExpr(*size, context), 1};
  if (auto it = given.find(classNumber); it != given.end())
    return {getAffineSymbolExpr(it->second, context), 1};
  auto [it, inserted] = known.try_emplace(classNumber);
  if (!inserted)
    return it->second;
  for (const SizeExpr &definition : definitions.lookup(classNumber))
    if (KnownSize size = substitute(definition); size.expr)
      return known[classNumber] = size;
  return {};
}

ConstraintCollector::KnownSize
ConstraintCollector::substitute(const SizeExpr &size) {
  SmallVector<AffineExpr> parts;
  unsigned numOps = 1;
  for (unsigned classNumber : size.classes) {
    KnownSize part = resolve(classNumber);
    numOps += part.numOps;
    if (!part.expr || numOps > kMaxOps)
      return {};
    parts.push_back(part.expr);
  }
  return {simplify(size.expr.replaceSymbols(parts)), numOps};
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
  // The symbol of each class that only results have, and its first place.
  struct Place {
    unsigned symbol;
    StringAttr name;
    size_t dim;
  };
  llvm::MapVector<unsigned, Place> results;
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
      unsigned classNumber = symbols.getClass(argument, dim);
      if (argument.getArgNumber() < numGiven)
        given[classNumber] = symbol;
      else if (!given.count(classNumber))
        results.insert({classNumber, {symbol, name, dim}});
    }
  }
  for (Operation &op : function.front())
    collect(&op);
  for (auto &[classNumber, place] : results) {
    KnownSize size = resolve(classNumber);
    if (!size.expr)
      return unknown(function) << "value in dimension " << place.dim
                               << " of result " << place.name;
    AffineExpr symbol = getAffineSymbolExpr(place.symbol, context);
    if (failed(addConstraint(function, symbol - size.expr, /*isEqual=*/true)))
      return failure();
  }
  for (auto &[classNumber, sizes] : definitions) {
    KnownSize size = resolve(classNumber);
    for (const SizeExpr &definition : sizes) {
      KnownSize other = substitute(definition);
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
  for (const SizeExpr &slice : slices) {
    KnownSize room = substitute(slice);
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
