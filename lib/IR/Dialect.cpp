// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dialect.cpp - registration and discardable attributes -------------===//

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::rmsnorm;

#include "RMSNorm/IR/RMSNormDialect.cpp.inc"

void RMSNormDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "RMSNorm/IR/RMSNormOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "RMSNorm/IR/RMSNormTileOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "RMSNorm/IR/RMSNormThreadOps.cpp.inc"
      >();
}

LogicalResult
RMSNormDialect::verifyOperationAttribute(Operation *op,
                                         NamedAttribute attribute) {
  if (attribute.getName() == kTargetAttrName &&
      !isa<TargetAttr>(attribute.getValue()))
    return op->emitOpError("expected '")
           << kTargetAttrName << "' to be a #rmsnorm.target, got "
           << attribute.getValue();
  if (attribute.getName() == kScheduleAttrName &&
      !isa<ScheduleAttr>(attribute.getValue()))
    return op->emitOpError("expected '")
           << kScheduleAttrName << "' to be a #rmsnorm.schedule, got "
           << attribute.getValue();
  return success();
}
