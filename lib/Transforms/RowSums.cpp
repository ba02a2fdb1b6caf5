// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowSums.cpp - sums over the rows of a cluster ---------------------===//

#include "RowSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using linalg::LinalgOp;

Value rmsnorm::getAddedInit(LinalgOp op) {
  Value init = op.getDpsInits().front();
  auto fill = init.getDefiningOp<linalg::FillOp>();
  return fill && matchPattern(fill.value(), m_AnyZeroFloat()) ? Value() : init;
}

/// The operand that `value`, in f32 in the body of an op, is an element of.
static Value getElement(Value value, LinalgOp op) {
  if (auto extension = value.getDefiningOp<arith::ExtFOp>())
    value = extension.getIn();
  auto argument = dyn_cast<BlockArgument>(value);
  return argument && argument.getOwner() == op.getBlock()
             ? op->getOperand(argument.getArgNumber())
             : Value();
}

/// Whether `op` adds something to `sum`, which is of f32, or rounds it, column
/// by column; sets `init` to what it adds.
static bool matchTail(LinalgOp op, Value sum, Value &init) {
  if (op.getNumLoops() != 1 || op.getNumParallelLoops() != 1 ||
      op->getNumResults() != 1 || !op.hasPureTensorSemantics() ||
      llvm::is_contained(op.getDpsInits(), sum) ||
      !llvm::all_of(op.getIndexingMapsArray(),
                    [](AffineMap map) { return map.isIdentity(); }))
    return false;
  Value value = op.getBlock()->getTerminator()->getOperand(0);
  if (auto rounding = value.getDefiningOp<arith::TruncFOp>())
    value = rounding.getIn();
  if (!value.getType().isF32())
    return false;
  if (isa<BlockArgument>(value))
    return getElement(value, op) == sum;
  auto add = value.getDefiningOp<arith::AddFOp>();
  if (!add)
    return false;
  for (auto [own, other] : {std::pair(add.getLhs(), add.getRhs()),
                            std::pair(add.getRhs(), add.getLhs())})
    if (getElement(own, op) == sum && getElement(other, op) &&
        getElement(other, op) != sum) {
      init = getElement(other, op);
      return true;
    }
  return false;
}

RowSum RowSum::match(OpResult sum) {
  RowSum match;
  if (auto op = dyn_cast<LinalgOp>(sum.getOwner()))
    match.init = getAddedInit(op);
  const RowSum alone = match;
  while (getElementTypeOrSelf(sum.getType()).isF32()) {
    SmallVector<Operation *> users(sum.getUsers());
    llvm::erase_if(users, llvm::IsaPred<tensor::DimOp>);
    auto op =
        users.size() == 1 ? dyn_cast<LinalgOp>(users.front()) : LinalgOp();
    Value init;
    if (!op || op->getBlock() != sum.getOwner()->getBlock() ||
        !matchTail(op, sum, init) || (init && match.init))
      break;
    if (init)
      match.init = init;
    match.tail.push_back(op);
    sum = op->getResult(0);
  }
  // What is used on may be part of another loop over rows.
  const bool isReturned = llvm::all_of(sum.getUsers(), [](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>();
  });
  return isReturned ? match : alone;
}

OpResult RowSum::getResult(OpResult sum) const {
  return tail.empty() ? sum : cast<OpResult>(tail.back()->getResult(0));
}

Value RowSum::getDestination() const {
  if (tail.empty())
    return Value();
  auto last = tail.back();
  return last.getDpsInits().front();
}

Value rmsnorm::createSummand(RewriterBase &rewriter, LinalgOp op, Value tiled) {
  Location loc = op.getLoc();
  Value zero =
      arith::ConstantOp::create(rewriter, loc, rewriter.getF32FloatAttr(0));
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, tiled),
      rewriter.getF32Type());
  return linalg::FillOp::create(rewriter, loc, zero, empty).getResult(0);
}
