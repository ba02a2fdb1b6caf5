// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadOps.cpp - thread level --------------------------------------===//

#include "EnumFormat.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

#define GET_OP_CLASSES
#include "RMSNorm/IR/RMSNormThreadOps.cpp.inc"

static LogicalResult verifyAlignment(Operation *op, int64_t alignment,
                                     Type fragment) {
  int64_t elementBytes =
      cast<VectorType>(fragment).getElementTypeBitWidth() / 8;
  if (llvm::isPowerOf2_64(alignment) && alignment >= elementBytes &&
      alignment <= 16)
    return success();
  return op->emitOpError("expected an alignment that is a power of two from ")
         << elementBytes << " to 16 bytes, got " << alignment;
}

LogicalResult GlobalLoadOp::verify() {
  return verifyAlignment(*this, getAlignment(), getType());
}

LogicalResult GlobalStoreOp::verify() {
  return verifyAlignment(*this, getAlignment(), getValue().getType());
}

LogicalResult SubgroupReduceOp::verify() {
  if (llvm::isPowerOf2_64(getWidth()) && getWidth() <= 64)
    return success();
  return emitOpError("expected a width that is a power of two up to 64, got ")
         << getWidth();
}
