// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowSums.cpp - sums over the rows of a cluster ---------------------===//

#include "RowSums.h"
#include "TileProgram.h"

#include "RMSNorm/Access/Loops.h"
#include "RMSNorm/IR/TileTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using linalg::LinalgOp;

/// What `init`, a sum over rows of `op`, begins with.
static void setInit(Value init, RowSum &sum) {
  Value filled = access::getFilled(init.getDefiningOp());
  FloatAttr value;
  if (!filled || !matchPattern(filled, m_Constant(&value)))
    sum.init = init;
  else if (isIdentity(sum.kind, value.getValue()))
    return;
  else if (sum.kind != ReduceKind::add)
    sum.start = value;
  else
    sum.init = init;
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

/// Whether `op` adds something to `sum`, which is of f32, or combines them as
/// rows are, or rounds it, element by element; sets `init` to what it adds.
static bool matchTail(LinalgOp op, Value sum, ReduceKind kind, Value &init) {
  if (op.getNumLoops() != op.getNumParallelLoops() ||
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
  Operation *combiner = value.getDefiningOp();
  if (!combiner || getReduceKind(combiner) != kind)
    return false;
  for (int64_t own : {0, 1})
    if (Value other = getElement(combiner->getOperand(1 - own), op);
        getElement(combiner->getOperand(own), op) == sum && other &&
        other != sum) {
      init = other;
      return true;
    }
  return false;
}

RowSum RowSum::match(OpResult sum) {
  RowSum match;
  if (auto op = dyn_cast<LinalgOp>(sum.getOwner())) {
    OpOperand &init = *op.getDpsInitOperand(sum.getResultNumber());
    match.kind = *getReduceKind(getCombiner(op, init));
    setInit(init.get(), match);
  }
  const RowSum alone = match;
  while (getElementTypeOrSelf(sum.getType()).isF32()) {
    SmallVector<Operation *> users(sum.getUsers());
    llvm::erase_if(users, llvm::IsaPred<tensor::DimOp>);
    auto op =
        users.size() == 1 ? dyn_cast<LinalgOp>(users.front()) : LinalgOp();
    Value init;
    if (!op || op->getBlock() != sum.getOwner()->getBlock() ||
        !matchTail(op, sum, match.kind, init) || (init && match.init))
      break;
    if (init)
      match.init = init;
    match.tail.push_back(op);
    sum = op->getResult(0);
  }
  // What is used on may be part of another kernel.
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
