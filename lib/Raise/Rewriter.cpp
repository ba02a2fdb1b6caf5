// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rewriter.cpp - norms in place of scalars --------------------------===//

#include "Rewriter.h"
#include "Emit.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

static FrozenRewritePatternSet getUnusedPatterns(MLIRContext *context) {
  RewritePatternSet patterns(context);
  linalg::populateEraseUnusedOperandsAndResultsPatterns(patterns);
  return FrozenRewritePatternSet(std::move(patterns));
}

Rewriter::Rewriter(MLIRContext *context, Tensors &tensors)
    : PatternRewriter(context), tensors(tensors),
      patterns(getUnusedPatterns(context)), applicator(patterns) {
  applicator.applyDefaultCostModel();
}

void Rewriter::eraseOp(Operation *op) {
  locations.push_back(op->getLoc());
  op->walk([&](Operation *nested) {
    for (Value operand : nested->getOperands())
      suspects.push_back(operand.getDefiningOp()
                             ? operand.getDefiningOp()
                             : operand.getParentBlock()->getParentOp());
  });
  op->dropAllReferences();
  op->remove();
  graveyard.push_back(op);
}

void Rewriter::takeLocations(Operation *op) {
  SmallVector<Location> all{op->getLoc()};
  all.append(locations);
  op->setLoc(FusedLoc::get(op->getContext(), all));
  locations.clear();
}

void Rewriter::eraseBlock(Block *block) {
  blocks.emplace_back(block->getParent()->getBlocks().remove(block));
}

/// Elements that were not looked through have another name then.
void Rewriter::replaceOp(Operation *op, ValueRange values) {
  for (auto [result, value] : llvm::zip(op->getResults(), values)) {
    if (!value)
      continue;
    tensors.replace(result, value);
    if (Operation *next = value.getDefiningOp())
      suspects.push_back(next);
  }
  PatternRewriter::replaceOp(op, values);
}

void Rewriter::eraseDead() {
  auto isUnused = [](Value value) { return value.use_empty(); };
  while (!suspects.empty()) {
    Operation *op = suspects.pop_back_val();
    if (!tensors.isLive(op))
      continue;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (isOpTriviallyDead(op))
      eraseOp(op);
    else if (generic && (llvm::any_of(op->getResults(), isUnused) ||
                         llvm::any_of(generic.getRegionInputArgs(), isUnused)))
      (void)applicator.matchAndRewrite(op, *this);
  }
}

BlockArgument Rewriter::addInput(linalg::GenericOp host, Value tensor,
                                 AffineMap map) {
  unsigned number = host.getNumDpsInputs();
  SmallVector<AffineMap> maps = host.getIndexingMapsArray();
  maps.insert(maps.begin() + number, map);
  host.getInputsMutable().append(tensor);
  host.setIndexingMapsAttr(getAffineMapArrayAttr(maps));
  return host.getBody()->insertArgument(
      number, getElementTypeOrSelf(tensor.getType()), host.getLoc());
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

void Rewriter::replaceScalar(Value scalar, ValueRange summands,
                             ArrayRef<AffineExpr> indices) {
  Operation *op = scalar.getParentBlock()->getParentOp();
  auto host = dyn_cast<linalg::GenericOp>(op);
  if (!host) {
    setInsertionPoint(op);
    host = *linalg::generalizeNamedOp(*this, cast<linalg::LinalgOp>(op));
  }
  auto map = AffineMap::get(host.getNumLoops(), 0, indices, getContext());
  setInsertionPointToStart(host.getBody());
  ImplicitLocOpBuilder builder(host.getLoc(), *this);
  Value value;
  for (Value tensor : summands) {
    Value argument = addInput(host, tensor, map);
    if (summands.size() > 1)
      argument = convert(builder, argument, getF32Type());
    value = value ? arith::AddFOp::create(builder, value, argument) : argument;
  }
  scalar.replaceAllUsesWith(convert(builder, value, scalar.getType()));

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
  suspects.append({scalar.getDefiningOp(), host});
  eraseDead();
}

void Rewriter::replaceTensor(Value tensor, Value other) {
  tensors.replace(tensor, other);
  tensor.replaceAllUsesWith(other);
  suspects.push_back(tensor.getDefiningOp());
  eraseDead();
}

void Rewriter::eraseUnused(ArrayRef<Operation *> ops) {
  suspects.append(ops.begin(), ops.end());
  eraseDead();
}
