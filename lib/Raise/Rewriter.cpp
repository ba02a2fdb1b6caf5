// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rewriter.cpp - norms in place of scalars --------------------------===//

#include "Rewriter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

Rewriter::~Rewriter() {
  for (Operation *op : graveyard)
    op->destroy();
}

void Rewriter::bury(Operation *op) {
  tensors.retire(op);
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      if (Operation *def = operand.getDefiningOp())
        suspects.push_back(def);
  });
  op->dropAllReferences();
  op->remove();
  graveyard.push_back(op);
}

void Rewriter::eraseDead() {
  while (!suspects.empty()) {
    Operation *op = suspects.pop_back_val();
    if (tensors.isRetired(op))
      continue;
    if (isOpTriviallyDead(op))
      bury(op);
    else if (auto generic = dyn_cast<linalg::GenericOp>(op))
      if (llvm::any_of(op->getResults(),
                       [](Value result) { return result.use_empty(); }))
        clean(generic);
  }
}

BlockArgument Rewriter::addInput(linalg::GenericOp host, Value tensor,
                                 AffineMap map) {
  OpBuilder builder(host);
  unsigned number = host.getNumDpsInputs();
  SmallVector<AffineMap> maps = host.getIndexingMapsArray();
  maps.insert(maps.begin() + number, map);
  host.getInputsMutable().append(tensor);
  host.setIndexingMapsAttr(builder.getAffineMapArrayAttr(maps));
  return host.getBody()->insertArgument(
      number, getElementTypeOrSelf(tensor.getType()), host.getLoc());
}

/// `value`, a float, in `type`.
static Value convert(OpBuilder &builder, Location loc, Value value, Type type) {
  unsigned width = value.getType().getIntOrFloatBitWidth();
  if (value.getType() == type)
    return value;
  if (width < type.getIntOrFloatBitWidth())
    return arith::ExtFOp::create(builder, loc, type, value);
  return arith::TruncFOp::create(builder, loc, type, value);
}

/// Whether the elements that `a` and `b` select of a tensor of `type` are the
/// same: in a dimension of size 1 there is but one.
static bool isSameElement(AffineMap a, AffineMap b, RankedTensorType type) {
  return llvm::all_of(
      llvm::zip_equal(a.getResults(), b.getResults(), type.getShape()),
      [](auto part) {
        auto [left, right, size] = part;
        return left == right || size == 1;
      });
}

void Rewriter::replaceScalar(linalg::GenericOp host, Value scalar,
                             ValueRange summands, ArrayRef<int> loops) {
  MLIRContext *context = host.getContext();
  Location loc = host.getLoc();
  SmallVector<AffineExpr> indices;
  for (int loop : loops)
    indices.push_back(loop < 0 ? getAffineConstantExpr(0, context)
                               : getAffineDimExpr(loop, context));
  auto map = AffineMap::get(host.getNumLoops(), 0, indices, context);
  Value value;
  auto builder = OpBuilder::atBlockBegin(host.getBody());
  for (Value tensor : summands) {
    Value argument = addInput(host, tensor, map);
    if (summands.size() > 1)
      argument = convert(builder, loc, argument, builder.getF32Type());
    value =
        value ? arith::AddFOp::create(builder, loc, value, argument) : argument;
  }
  scalar.replaceAllUsesWith(convert(builder, loc, value, scalar.getType()));

  // A result that only copies the norm is the norm.
  Operation *yield = host.getBody()->getTerminator();
  for (OpResult result : host->getResults()) {
    OpOperand *init = host.getDpsInitOperand(result.getResultNumber());
    if (yield->getOperand(result.getResultNumber()) == value &&
        isa<BlockArgument>(value) && host.getNumReductionLoops() == 0 &&
        result.getType() == summands.front().getType() &&
        isSameElement(host.getMatchingIndexingMap(init), map,
                      cast<RankedTensorType>(result.getType()))) {
      tensors.replace(result, summands.front());
      result.replaceAllUsesWith(summands.front());
    }
  }
  clean(host);
  eraseDead();
}

void Rewriter::replaceTensor(Value tensor, Value other) {
  tensors.replace(tensor, other);
  tensor.replaceAllUsesWith(other);
  if (Operation *op = tensor.getDefiningOp())
    suspects.push_back(op);
  eraseDead();
}

void Rewriter::clean(linalg::GenericOp host) {
  if (isOpTriviallyDead(host))
    return bury(host);
  dropResults(host);
}

/// Drops results without a use: the values that they yield may keep statistics
/// alive. The accumulators of a reduction are left alone.
void Rewriter::dropResults(linalg::GenericOp host) {
  SmallVector<Value> inits, yields;
  SmallVector<unsigned> dead;
  SmallVector<AffineMap> maps = host.getIndexingMapsArray(), kept(maps);
  kept.truncate(host.getNumDpsInputs());
  Operation *yield = host.getBody()->getTerminator();
  for (OpResult result : host->getResults()) {
    unsigned number = result.getResultNumber();
    OpOperand *init = host.getDpsInitOperand(number);
    BlockArgument argument = host.getMatchingBlockArgument(init);
    if (result.use_empty() && argument.use_empty() &&
        host.getNumReductionLoops() == 0) {
      dead.push_back(argument.getArgNumber());
      continue;
    }
    inits.push_back(init->get());
    yields.push_back(yield->getOperand(number));
    kept.push_back(maps[init->getOperandNumber()]);
  }
  if (dead.empty() ||
      !inversePermutation(concatAffineMaps(kept, host.getContext())))
    return dropInputs(host);

  OpBuilder builder(host);
  for (unsigned number : llvm::reverse(dead)) {
    reader.forget(host.getBody()->getArgument(number));
    host.getBody()->eraseArgument(number);
  }
  yield->setOperands(yields);
  auto smaller = linalg::GenericOp::create(
      builder, host.getLoc(), TypeRange(ValueRange(inits)), host.getInputs(),
      inits, kept, host.getIteratorTypesArray());
  smaller.getRegion().takeBody(host.getRegion());
  auto next = smaller->result_begin();
  for (OpResult result : host->getResults()) {
    if (llvm::is_contained(dead,
                           host.getNumDpsInputs() + result.getResultNumber()))
      continue;
    // Elements that were not looked through have another name now.
    if (isa<RankedTensorType>(result.getType()))
      tensors.replace(result, *next);
    result.replaceAllUsesWith(*next++);
  }
  bury(host);
  dropInputs(smaller);
}

/// Drops inputs that the body does not read, after its dead ops: they keep
/// statistics alive, and no canonicalisation upstream drops them.
void Rewriter::dropInputs(linalg::GenericOp host) {
  for (Operation &op :
       llvm::make_early_inc_range(llvm::reverse(*host.getBody())))
    if (isOpTriviallyDead(&op))
      bury(&op);
  for (unsigned i = host.getNumDpsInputs(); i-- > 0;) {
    BlockArgument argument = host.getBody()->getArgument(i);
    SmallVector<AffineMap> maps = host.getIndexingMapsArray();
    maps.erase(maps.begin() + i);
    if (!argument.use_empty() ||
        !inversePermutation(concatAffineMaps(maps, host.getContext())))
      continue;
    if (Operation *def = host.getInputs()[i].getDefiningOp())
      suspects.push_back(def);
    host.getInputsMutable().erase(i);
    host.setIndexingMapsAttr(OpBuilder(host).getAffineMapArrayAttr(maps));
    reader.forget(argument);
    host.getBody()->eraseArgument(i);
  }
}
