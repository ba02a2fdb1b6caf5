// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reshapes.cpp - reshapes of arguments and results ------------------===//

#include "Reshapes.h"

#include "RMSNorm/IR/DimTrace.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rmsnorm;

bool rmsnorm::isReshape(Operation *op) {
  return isa_and_present<tensor::CollapseShapeOp, tensor::ExpandShapeOp>(op);
}

bool rmsnorm::isCollapsed(Value tensor) {
  return llvm::any_of(tensor.getUsers(), [](Operation *user) {
    auto collapse = dyn_cast<tensor::CollapseShapeOp>(user);
    return collapse &&
           llvm::any_of(
               llvm::seq<int64_t>(0, collapse.getResultType().getRank()),
               [&](int64_t dim) { return !getUncollapsedDim(user, dim); });
  });
}

Value rmsnorm::undoReshape(OpBuilder &builder, Operation *reshape, Value tensor,
                           Value source) {
  Location loc = reshape->getLoc();
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(reshape))
    return tensor::CollapseShapeOp::create(builder, loc, source.getType(),
                                           tensor,
                                           expand.getReassociationIndices());
  return tensor::ExpandShapeOp::create(
      builder, loc, source.getType(), tensor,
      cast<tensor::CollapseShapeOp>(reshape).getReassociationIndices(),
      tensor::getMixedSizes(builder, loc, source));
}
