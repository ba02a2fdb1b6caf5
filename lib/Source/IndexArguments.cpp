// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- IndexArguments.cpp - arguments that index tables -------------------===//

#include "IndexArguments.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using linalg::LinalgOp;

/// Visits the arguments of which elements become `value`, of the body of a
/// linalg op, or a tensor, as they are but for a limit, or a quotient: what is
/// below a size is so divided, too.
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
  else if (isa<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp,
               arith::ShRSIOp, arith::ShRUIOp>(op))
    visitArguments(op->getOperand(0), visit);
  else if (auto select = dyn_cast<arith::SelectOp>(op))
    for (Value operand : {select.getTrueValue(), select.getFalseValue()})
      visitArguments(operand, visit);
  else if (isa<tensor::CastOp, tensor::CollapseShapeOp, tensor::ExpandShapeOp,
               tensor::ExtractOp, tensor::ExtractSliceOp>(op))
    visitArguments(op->getOperand(0), visit);
}

SmallVector<IndexArgument> rmsnorm::getIndexArguments(func::FuncOp function) {
  SmallVector<IndexArgument> all;
  auto add = [&](Value index, Value table, int64_t dim, bool isDistinct) {
    // Of dimensions that are one a size that somebody knows; it is not larger.
    while (auto collapse = table.getDefiningOp<tensor::CollapseShapeOp>()) {
      table = collapse.getSrc();
      const ReassociationIndices group =
          collapse.getReassociationIndices()[dim];
      dim = *llvm::max_element(group, [&](int64_t a, int64_t b) {
        auto type = collapse.getSrcType();
        return !type.isDynamicDim(a) &&
               (type.isDynamicDim(b) ||
                type.getDimSize(a) < type.getDimSize(b));
      });
    }
    visitArguments(index, [&](BlockArgument argument) {
      if (getElementTypeOrSelf(argument.getType()).isSignlessInteger())
        all.push_back({argument, table, dim, isDistinct});
    });
  };
  function.walk([&](tensor::ExtractOp extract) {
    for (auto [dim, index] : llvm::enumerate(extract.getIndices()))
      add(index, extract.getTensor(), dim, /*isDistinct=*/false);
  });
  // One index alone tells rows apart, the first that has one for each of them,
  // or else all together: more than is needed.
  function.walk([&](ScatterOp scatter) {
    auto isOfEach = [&](Value indices) {
      bool found = false;
      visitArguments(indices, [&](BlockArgument argument) {
        found |= cast<ShapedType>(argument.getType()).getRank() >=
                 scatter.getNumBatchDims();
      });
      return found;
    };
    bool isDistinct = false;
    const bool areAll = llvm::none_of(scatter.getIndices(), isOfEach);
    for (auto [number, indices] : llvm::enumerate(scatter.getIndices())) {
      const bool isFirst = !isDistinct && isOfEach(indices);
      isDistinct |= isFirst;
      add(indices, scatter.getDest(), scatter.getDims()[number],
          isFirst || areAll);
    }
  });
  return all;
}
