// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScalarArguments.cpp - numbers among the arguments -----------------===//

#include "ScalarArguments.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using linalg::GenericOp;
using linalg::LinalgOp;

/// Makes an operand of a value that the body of `op` captures.
static void addOperand(RewriterBase &rewriter, GenericOp op,
                       BlockArgument scalar) {
  const unsigned number = op.getNumDpsInputs();
  SmallVector<Value> inputs = op.getDpsInputs();
  inputs.push_back(scalar);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.insert(maps.begin() + number,
              AffineMap::get(op.getNumLoops(), 0, rewriter.getContext()));
  rewriter.setInsertionPoint(op);
  auto bound =
      GenericOp::create(rewriter, op.getLoc(), op.getResultTypes(), inputs,
                        op.getDpsInits(), maps, op.getIteratorTypesArray());
  bound->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  rewriter.inlineRegionBefore(op.getRegion(), bound.getRegion(),
                              bound.getRegion().begin());
  Block &body = bound.getRegion().front();
  Value value = body.insertArgument(number, scalar.getType(), op.getLoc());
  rewriter.replaceUsesWithIf(scalar, value, [&](OpOperand &use) {
    return use.getOwner()->getBlock() == &body;
  });
  rewriter.replaceOp(op, bound->getResults());
}

static LogicalResult bindScalar(RewriterBase &rewriter, BlockArgument scalar) {
  llvm::SetVector<LinalgOp> users;
  for (Operation *user : scalar.getUsers()) {
    auto op = dyn_cast<LinalgOp>(user);
    if (!op)
      op = user->getParentOfType<LinalgOp>();
    if (!op || (op != user && !isa<GenericOp>(op.getOperation())))
      return user->emitOpError("expected argument #")
             << scalar.getArgNumber() << ", a " << scalar.getType()
             << ", to be used by linalg ops only";
    users.insert(op);
  }
  for (LinalgOp op : users) {
    rewriter.setInsertionPoint(op);
    auto generic = dyn_cast<GenericOp>(op.getOperation());
    if (!generic)
      generic = *linalg::generalizeNamedOp(rewriter, op);
    const bool isCaptured =
        llvm::any_of(scalar.getUsers(), [&](Operation *use) {
          return generic->isProperAncestor(use);
        });
    if (isCaptured)
      addOperand(rewriter, generic, scalar);
  }
  scalar.setType(RankedTensorType::get({}, scalar.getType()));
  return success();
}

LogicalResult rmsnorm::bindScalars(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  for (BlockArgument argument : function.getArguments())
    if (argument.getType().isIntOrFloat() &&
        failed(bindScalar(rewriter, argument)))
      return failure();
  function.setFunctionType(FunctionType::get(
      function.getContext(), function.getBody().getArgumentTypes(),
      function.getResultTypes()));
  return success();
}
