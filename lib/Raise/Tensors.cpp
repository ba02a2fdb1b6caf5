// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Tensors.cpp - which tensors hold an expression --------------------===//

#include "Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include <algorithm>

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

/// Permutations of up to so many dimensions are tried. With more dimensions
/// only the given order is tried.
static constexpr unsigned kMaxPermuted = 4;

/// Sums nested deeper than a norm's backward nests them.
static constexpr unsigned kMaxHeight = 4;

static bool isTensorOfFloats(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isSmallFloat(type.getElementType()) && !type.getEncoding() &&
         type.getRank() <= 32;
}

/// (d0, d1, ...), without dimensions of size 1.
static SmallVector<AffineExpr> getIndices(ExprPool &pool, Value tensor) {
  SmallVector<AffineExpr> indices;
  unsigned next = 0;
  for (int64_t size : cast<RankedTensorType>(tensor.getType()).getShape())
    indices.push_back(size == 1 ? pool.zero() : pool.dim(next++));
  return indices;
}

Tensors::Tensors(ExprPool &pool, Reader &reader, Operation *root)
    : pool(pool), reader(reader), root(root), dominance(root) {
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          add(argument);
    for (Value result : op->getResults())
      add(result);
  });
}

void Tensors::add(Value tensor) {
  if (!isTensorOfFloats(tensor))
    return;
  SmallVector<AffineExpr> indices = getIndices(pool, tensor);
  Expr *expr = reader.element(tensor, indices);
  tensors[expr].push_back(tensor);
  if (!shouldCut(tensor, expr))
    return;
  reader.cut(tensor);
  tensors[reader.element(tensor, indices)].push_back(tensor);
}

bool Tensors::isLive(Value value) const {
  Operation *op = value.getDefiningOp();
  if (!op)
    op = value.getParentBlock()->getParentOp();
  return op && isLive(op);
}

void Tensors::replace(Value tensor, Value other) {
  if (!isTensorOfFloats(tensor))
    return;
  add(other);
  SmallVector<AffineExpr> indices = getIndices(pool, tensor);
  tensors[reader.element(tensor, indices)].push_back(other);
}

SmallVector<Value> Tensors::getLive(const Index &index, Expr *expr) const {
  SmallVector<Value> live;
  auto it = index.find(expr);
  if (it != index.end())
    llvm::copy_if(it->second, std::back_inserter(live),
                  [&](Value tensor) { return isLive(tensor); });
  return live;
}

SmallVector<Value> Tensors::lookup(Expr *expr) const {
  return getLive(tensors, expr);
}

SmallVector<Value> Tensors::lookupRelaxed(Expr *sum) {
  if (relaxed.empty())
    for (auto &[expr, values] : tensors)
      if (expr->height > 0 && getDims(expr->dims) == SmallVector<unsigned>{0})
        relaxed[pool.relax(expr)].append(values);
  return getLive(relaxed, pool.relax(sum));
}

SmallVector<Value> Tensors::getEqual(Value tensor) {
  return lookup(reader.element(tensor, getIndices(pool, tensor)));
}

//===----------------------------------------------------------------------===//
// Where expressions end
//===----------------------------------------------------------------------===//

/// True if `op` only extends, broadcasts or reshapes its operand.
static bool isTransparent(Operation *op) {
  if (isa<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(op))
    return true;
  auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
  return linalgOp && op->getNumResults() == 1 &&
         linalgOp.getNumReductionLoops() == 0 &&
         llvm::all_of(*linalgOp.getBlock(), [](Operation &nested) {
           return isa<arith::ExtFOp, linalg::YieldOp>(nested);
         });
}

/// The number of ops that compute with `tensor`; two stands for more, too.
static unsigned countUsers(Value tensor, unsigned depth = 0) {
  llvm::SmallPtrSet<Operation *, 4> users;
  unsigned count = 0;
  for (Operation *user : tensor.getUsers()) {
    if (!users.insert(user).second)
      continue;
    count += depth < 4 && isTransparent(user)
                 ? countUsers(user->getResult(0), depth + 1)
                 : 1;
    if (count >= 2)
      break;
  }
  return count;
}

/// A sum of tensors with several users, a residual stream, is an input of
/// norms. It is not looked through; otherwise the last block of a chain would
/// be an expression of all blocks. Rows' statistics are sums, too, but do not
/// depend on more dimensions than the sums in them. Norms of norms without such
/// a sum in between end at some depth.
bool Tensors::shouldCut(Value tensor, Expr *expr) const {
  bool isFull = expr->dims & ~expr->sumDims;
  Expr *exact = stripRound(expr);
  bool isSum = exact->is(Expr::Kind::Add) && getConstantTerm(exact) == 0;
  return isFull && (isSum || expr->height >= kMaxHeight) &&
         pool.getType(expr) == getElementTypeOrSelf(tensor.getType()) &&
         countUsers(tensor) >= 2;
}

//===----------------------------------------------------------------------===//
// Finding
//===----------------------------------------------------------------------===//

bool raising::isSameSize(int64_t size, int64_t other, Expr *expr,
                         AffineExpr dim) {
  if (!ShapedType::isDynamic(size) && !ShapedType::isDynamic(other))
    return size == other;
  return llvm::any_of(getParts(expr), [&](Expr *part) {
    return part->is(Expr::Kind::Element) &&
           isa<ShapedType>(part->value.getType()) &&
           llvm::is_contained(part->indices, dim);
  });
}

bool Tensors::fits(const Placed &placed, Expr *expr,
                   linalg::LinalgOp host) const {
  auto type = cast<RankedTensorType>(placed.tensor.getType());
  SmallVector<int64_t, 4> extents = host.getStaticLoopRanges();
  for (auto [size, index] : llvm::zip(type.getShape(), placed.indices))
    if (auto loop = dyn_cast<AffineDimExpr>(index);
        loop && !isSameSize(size, extents[loop.getPosition()], expr, loop))
      return false;
  return dominates(placed.tensor, host);
}

Placed Tensors::find(Expr *expr, unsigned column, Type type,
                     linalg::LinalgOp host) {
  auto getCost = [](Value tensor) {
    auto type = cast<RankedTensorType>(tensor.getType());
    return std::pair(type.getElementTypeBitWidth(), type.getRank());
  };
  SmallVector<unsigned> dims = getDims(expr->dims & ~(uint64_t(1) << column));
  const unsigned rows = dims.size();
  if (expr->hasDim(column))
    dims.push_back(column);
  Placed best;
  for (unsigned loop : dims)
    best.indices.push_back(pool.dim(loop));
  do {
    // The loops of the host as dimensions of a tensor, and back.
    Substitution names, loops;
    for (auto [i, loop] : llvm::enumerate(dims)) {
      names[pool.dim(loop)] = pool.dim(i);
      loops[pool.dim(i)] = pool.dim(loop);
    }
    for (Value tensor : lookup(pool.substitute(expr, names))) {
      Placed placed{tensor, getIndices(pool, tensor)};
      if (placed.indices.empty() ||
          size_t(llvm::count_if(placed.indices,
                                llvm::IsaPred<AffineDimExpr>)) != dims.size())
        continue;
      for (AffineExpr &index : placed.indices)
        index = index.replace(loops);
      if ((expr->hasDim(column) && placed.indices.back() != pool.dim(column)) ||
          getElementTypeOrSelf(tensor).getIntOrFloatBitWidth() <
              type.getIntOrFloatBitWidth() ||
          (best.tensor && getCost(tensor) >= getCost(best.tensor)) ||
          !fits(placed, expr, host))
        continue;
      best = placed;
    }
  } while (rows <= kMaxPermuted &&
           std::next_permutation(dims.begin(), dims.begin() + rows));
  return best;
}
