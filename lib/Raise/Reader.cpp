// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reader.cpp - what elements of tensors are computed as -------------===//

#include "Reader.h"
#include "RMSNorm/IR/DimTrace.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

/// Deeper chains of ops are not followed, so that the stack suffices. Tensors
/// are read in the order of the program, so that few chains are that deep.
static constexpr unsigned kMaxDepth = 400;

/// Sums over more dimensions are not looked through.
static constexpr unsigned kMaxSummed = 4;

static bool isReduction(utils::IteratorType type) {
  return type == utils::IteratorType::reduction;
}

Reader::Loops Reader::getLoops(linalg::LinalgOp op) const {
  Loops loops;
  for (auto [i, extent] : llvm::enumerate(op.getStaticLoopRanges()))
    loops.push_back(extent == 1 ? pool.zero() : pool.dim(i));
  return loops;
}

Expr *Reader::element(Value tensor, ArrayRef<AffineExpr> indices) {
  SmallVector<AffineExpr> normal(indices);
  if (auto type = dyn_cast<RankedTensorType>(tensor.getType()))
    for (auto [index, size] : llvm::zip(normal, type.getShape()))
      if (size == 1)
        index = pool.zero();
  Expr *leaf = pool.element(tensor, normal);
  if (cuts.contains(tensor) || depth >= kMaxDepth)
    return leaf;
  if (Expr *known = elements.lookup(leaf))
    return known;
  Expr *expr = read(leaf);
  elements[leaf] = expr;
  return expr;
}

Expr *Reader::definition(Value tensor, ArrayRef<AffineExpr> indices) {
  return read(pool.element(tensor, indices));
}

Expr *Reader::read(Expr *leaf) {
  Value tensor = leaf->value;
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  Operation *op = tensor.getDefiningOp();
  if (!op || !type)
    return leaf;
  ++depth;
  Expr *expr = nullptr;
  DenseElementsAttr splat;
  if (matchPattern(tensor, m_Constant(&splat))) {
    if (splat.isSplat() && isSmallFloat(type.getElementType()))
      expr = pool.constant(splat.getSplatValue<APFloat>().convertToDouble());
  } else if (auto castOp = dyn_cast<tensor::CastOp>(op)) {
    if (isa<RankedTensorType>(castOp.getSource().getType()))
      expr = element(castOp.getSource(), leaf->indices);
  } else if (auto splatOp = dyn_cast<tensor::SplatOp>(op)) {
    expr = scalar(splatOp.getInput(), linalg::LinalgOp());
  } else if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    expr = readExpandShape(expand, leaf->indices);
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    expr = readCollapseShape(collapse, leaf->indices);
  } else if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op)) {
    if (isReadable(linalgOp))
      expr = readResult(linalgOp, cast<OpResult>(tensor).getResultNumber(),
                        leaf->indices);
  }
  --depth;
  return expr ? expr : leaf;
}

Expr *Reader::readExpandShape(tensor::ExpandShapeOp op,
                              ArrayRef<AffineExpr> indices) {
  RankedTensorType type = op.getResultType();
  SmallVector<AffineExpr> source;
  for (const auto &group : op.getReassociationIndices()) {
    AffineExpr index;
    for (int64_t dim : group) {
      if (type.getDimSize(dim) == 1)
        continue;
      // An inner size that is not known would be a factor.
      if (index && type.isDynamicDim(dim))
        return nullptr;
      index =
          index ? index * type.getDimSize(dim) + indices[dim] : indices[dim];
    }
    source.push_back(index ? index : pool.zero());
  }
  return element(op.getSrc(), source);
}

Expr *Reader::readCollapseShape(tensor::CollapseShapeOp op,
                                ArrayRef<AffineExpr> indices, AffineExpr merged,
                                ArrayRef<AffineExpr> parts) {
  SmallVector<AffineExpr> source(op.getSrcType().getRank(), pool.zero());
  for (auto [dim, index] : llvm::enumerate(indices)) {
    if (op.getResultType().getDimSize(dim) == 1)
      continue;
    std::optional<int64_t> wide = getUncollapsedDim(op, dim);
    if (wide)
      source[*wide] = index;
    else if (index == merged)
      llvm::copy(parts, &source[op.getReassociationIndices()[dim].front()]);
    else
      return nullptr;
  }
  return element(op.getSrc(), source);
}

/// Sums over rows that a reshape has merged are sums over each dimension of
/// them: replaces symbol `number` if all that `body` multiplies is of tensors
/// of the same merged dimensions. The last are no rows, but a norm's columns.
void Reader::separate(Expr *&body, SmallVectorImpl<AffineExpr> &symbols,
                      SmallVectorImpl<int64_t> &extents, unsigned number) {
  SmallVector<AffineExpr> parts;
  SmallVector<int64_t> sizes;
  ExprPool::List factors = getFactors(body);
  for (Expr *&factor : factors) {
    auto op = factor->is(Expr::Kind::Element)
                  ? factor->value.getDefiningOp<tensor::CollapseShapeOp>()
                  : tensor::CollapseShapeOp();
    auto *index = llvm::find(factor->indices, symbols[number]);
    if (!op || factor->indices.end() - index < 2)
      return;
    const auto groups = op.getReassociationIndices();
    SmallVector<int64_t> own;
    for (int64_t dim : groups[index - factor->indices.begin()])
      own.push_back(op.getSrcType().getDimSize(dim));
    if (parts.empty())
      for (int64_t size : sizes = own)
        parts.push_back(size == 1 ? pool.zero() : pool.freshSymbol());
    // Two sizes that are not known may be others.
    else if (own != sizes || llvm::count(sizes, ShapedType::kDynamic) > 1)
      return;
    factor = readCollapseShape(op, factor->indices, symbols[number], parts);
    if (!factor)
      return;
  }
  if (parts.empty())
    return;
  body = pool.product(factors, getNumber(body));
  symbols.erase(symbols.begin() + number);
  extents.erase(extents.begin() + number);
  for (auto [part, size] : llvm::zip_equal(parts, sizes)) {
    if (size == 1)
      continue;
    symbols.insert(symbols.begin() + number, part);
    extents.insert(extents.begin() + number++, size);
  }
}

Expr *Reader::readResult(linalg::LinalgOp op, unsigned number,
                         ArrayRef<AffineExpr> indices) {
  OpOperand *init = op.getDpsInitOperand(number);
  ArrayRef<int64_t> shape = op.getShape(init);
  Substitution loops;
  for (auto [loop, index, size] :
       llvm::zip(op.getMatchingIndexingMap(init).getResults(), indices, shape))
    if (size != 1 &&
        (!isa<AffineDimExpr>(loop) || !loops.try_emplace(loop, index).second))
      return nullptr;
  SmallVector<AffineExpr> symbols;
  SmallVector<int64_t> extents;
  for (auto [loop, iterator, extent] :
       llvm::zip(getLoops(op), op.getIteratorTypesArray(),
                 op.getStaticLoopRanges())) {
    if (!isa<AffineDimExpr>(loop))
      continue;
    if (isReduction(iterator) == loops.contains(loop))
      return nullptr;
    if (!isReduction(iterator))
      continue;
    symbols.push_back(pool.freshSymbol());
    extents.push_back(extent);
    loops[loop] = symbols.back();
  }
  Value yielded = op.getBlock()->getTerminator()->getOperand(number);
  Expr *body =
      op.getNumReductionLoops() ? summand(op, number) : scalar(yielded, op);
  if (!body || symbols.size() > kMaxSummed)
    return nullptr;
  body = pool.substitute(body, loops);
  for (unsigned symbol = symbols.size(); symbol-- > 0;)
    separate(body, symbols, extents, symbol);
  // The sum over one element is that.
  if (symbols.empty())
    return body;
  Type type = getElementTypeOrSelf(init->get());
  return pool.sum(body, symbols, extents, type.isF32() ? Type() : type);
}

/// True if no input is walked by all loops, as in a contraction: its result
/// is no statistic of rows, and whole networks depend on it.
static bool isContraction(linalg::LinalgOp op, ArrayRef<AffineExpr> loops) {
  return llvm::none_of(op.getDpsInputOperands(), [&](OpOperand *input) {
    AffineMap map = op.getMatchingIndexingMap(input);
    return llvm::all_of(loops, [&](AffineExpr loop) {
      return !isa<AffineDimExpr>(loop) ||
             llvm::is_contained(map.getResults(), loop);
    });
  });
}

/// The factors of the summand that `next` adds to `sum`: one, or two of an fma;
/// none if it is no sum.
static SmallVector<Value, 2> getSummand(Value next, Value sum) {
  if (auto add = next.getDefiningOp<arith::AddFOp>()) {
    if (add.getLhs() == sum)
      return {add.getRhs()};
    if (add.getRhs() == sum)
      return {add.getLhs()};
  }
  if (auto fma = next.getDefiningOp<math::FmaOp>(); fma && fma.getC() == sum)
    return {fma.getA(), fma.getB()};
  return {};
}

Expr *Reader::summand(linalg::LinalgOp op, unsigned number) {
  OpOperand *init = op.getDpsInitOperand(number);
  BlockArgument sum = op.getMatchingBlockArgument(init);
  Value yielded = op.getBlock()->getTerminator()->getOperand(number);
  SmallVector<Value, 2> factors = getSummand(yielded, sum);
  if (factors.empty() || !sum.hasOneUse() || !isSmallFloat(sum.getType()) ||
      isContraction(op, getLoops(op)))
    return nullptr;
  Expr *zero =
      element(init->get(), op.getMatchingIndexingMap(init).getResults());
  if (!zero->is(Expr::Kind::Constant) || zero->number != 0)
    return nullptr;
  ExprPool::List operands;
  for (Value factor : factors)
    operands.push_back(scalar(factor, op));
  return pool.product(operands);
}

Expr *Reader::scalar(Value scalar, linalg::LinalgOp op) {
  if (op && scalar.getParentBlock() != op.getBlock())
    op = linalg::LinalgOp();
  if (Expr *done = scalars.lookup(scalar))
    return done;
  Loops loops = op ? getLoops(op) : Loops();
  Expr *expr = nullptr;
  if (depth < kMaxDepth) {
    ++depth;
    expr = readScalar(scalar, op, loops);
    --depth;
  }
  // A value that cannot be looked through, at this iteration.
  return scalars[scalar] = expr ? expr : pool.element(scalar, loops);
}

Expr *Reader::readScalar(Value scalar, linalg::LinalgOp op,
                         const Loops &loops) {
  Operation *def = scalar.getDefiningOp();
  if (!def)
    return op ? readArgument(cast<BlockArgument>(scalar), op, loops) : nullptr;
  if (auto index = dyn_cast<linalg::IndexOp>(def); index && op)
    return pool.index(loops[index.getDim()]);
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  if (def->getNumRegions() || def->getNumResults() != 1 ||
      !isMemoryEffectFree(def) ||
      (!op && !(isSmallFloat(scalar.getType()) &&
                llvm::all_of(def->getOperandTypes(), isScalar))))
    return nullptr;
  SmallVector<Expr *> operands;
  for (Value operand : def->getOperands())
    operands.push_back(this->scalar(operand, op));
  return readArithmetic(pool, def, operands);
}

Expr *Reader::readArgument(BlockArgument argument, linalg::LinalgOp op,
                           const Loops &loops) {
  OpOperand &operand = op->getOpOperand(argument.getArgNumber());
  if (!isa<ShapedType>(operand.get().getType()))
    return scalar(operand.get(), linalg::LinalgOp());
  // The partial result of a reduction.
  for (auto [iterator, loop] : llvm::zip(op.getIteratorTypesArray(), loops))
    if (op.isDpsInit(&operand) && isReduction(iterator) &&
        isa<AffineDimExpr>(loop))
      return nullptr;
  SmallVector<AffineExpr> indices;
  for (AffineExpr index : op.getMatchingIndexingMap(&operand).getResults())
    indices.push_back(index.replaceDims(loops));
  return element(operand.get(), indices);
}
