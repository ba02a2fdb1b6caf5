// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndexArguments.cpp - arguments that index tables -------------------===//

#include "IndexArguments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using linalg::LinalgOp;

/// Visits the arguments of which elements become `value`, of the body of a
/// linalg op, or a tensor, as they are but for a limit.
static void visitArguments(Value value,
                           function_ref<void(BlockArgument)> visit) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Operation *parent = argument.getOwner()->getParentOp();
    if (auto op = dyn_cast<LinalgOp>(parent))
      visitArguments(op.getMatchingOpOperand(argument)->get(), visit);
    else if (isa<func::FuncOp>(parent))
      visit(argument);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (auto linalgOp = dyn_cast<LinalgOp>(op))
    visitArguments(linalgOp.getBlock()->getTerminator()->getOperand(
                       cast<OpResult>(value).getResultNumber()),
                   visit);
  else if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
               arith::ExtUIOp, arith::TruncIOp, arith::MaxSIOp, arith::MaxUIOp,
               arith::MinSIOp, arith::MinUIOp>(op))
    for (Value operand : op->getOperands())
      visitArguments(operand, visit);
  else if (auto select = dyn_cast<arith::SelectOp>(op))
    for (Value operand : {select.getTrueValue(), select.getFalseValue()})
      visitArguments(operand, visit);
  else if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
               tensor::ExtractOp, tensor::ExtractSliceOp>(op))
    visitArguments(op->getOperand(0), visit);
}

SmallVector<IndexArgument> rmsnorm::getIndexArguments(func::FuncOp function) {
  SmallVector<IndexArgument> all;
  function.walk([&](tensor::ExtractOp extract) {
    for (auto [dim, index] : llvm::enumerate(extract.getIndices())) {
      const int64_t number = dim;
      visitArguments(index, [&](BlockArgument argument) {
        all.push_back({argument, extract.getTensor(), number});
      });
    }
  });
  return all;
}
