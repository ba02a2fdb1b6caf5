// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowOps.cpp - what an op is to a loop over rows -------------------===//

#include "RowOps.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::rmsnorm;

std::optional<int64_t> rmsnorm::getAnchorRowDims(Operation *op) {
  auto rowWise = dyn_cast<RowWiseOpInterface>(op);
  return rowWise ? rowWise.getAnchorRowDims() : std::nullopt;
}

bool rmsnorm::sumsOverRows(OpResult result, int64_t rowDims) {
  auto op = dyn_cast<RowWiseOpInterface>(result.getOwner());
  return op && op.sumsOverRows(result.getResultNumber(), rowDims);
}

bool rmsnorm::isInitRead(OpOperand &init) {
  auto op = dyn_cast<RowWiseOpInterface>(init.getOwner());
  return !op || op.readsInit(init);
}

bool rmsnorm::takesPart(Operation *op) {
  return isa<tensor::ExtractSliceOp, tensor::InsertSliceOp>(op);
}

bool rmsnorm::isCandidate(Operation *op) {
  // Into groups for someone to work on them, and back.
  if (isa<tensor::ExpandShapeOp>(op))
    return llvm::any_of(op->getUsers(), llvm::IsaPred<linalg::LinalgOp>);
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op))
    return collapse.getSrc().getDefiningOp<linalg::LinalgOp>();
  return isa<RowWiseOpInterface>(op) && op->getNumResults() > 0 &&
         (takesPart(op) ||
          (isa<TilingInterface>(op) && isa<DestinationStyleOpInterface>(op)));
}

LogicalResult rmsnorm::checkAnchor(Operation *op, int64_t rowDims) {
  if (isa<ForwardOp, BackwardOp>(op))
    return success();
  std::string reason = cast<RowWiseOpInterface>(op).whyNotRowWise(rowDims);
  if (reason.empty())
    return success();
  return op->emitOpError("expected what is '")
         << RMSNormDialect::kRowWiseAttrName << "' to work row by row, but "
         << reason;
}
