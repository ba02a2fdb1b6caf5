// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Dialect.cpp - registration and discardable attributes -------------===//

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/CompilationInterfaces.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IntegerSet.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace mlir::rmsnorm;

#include "RMSNorm/IR/RMSNormDialect.cpp.inc"

void RMSNormDialect::initialize() {
  registerAttributes();
  registerTypes();
  // By the serialization library: here nobody knows LLVM's code generators.
  declarePromisedInterface<gpu::TargetAttrInterface, TargetAttr>();
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
#include "RMSNorm/IR/RMSNormRowsOps.cpp.inc"
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
  if (attribute.getName() == kSizesAttrName) {
    auto sizes = dyn_cast<IntegerSetAttr>(attribute.getValue());
    if (!sizes || sizes.getValue().getNumDims() != 0)
      return op->emitOpError("expected '")
             << kSizesAttrName << "' to be an integer set of symbols, got "
             << attribute.getValue();
  }
  if (attribute.getName() == kRowWiseAttrName &&
      (!isa<UnitAttr>(attribute.getValue()) ||
       op->getName().getDialectNamespace() != "linalg"))
    return op->emitOpError("expected '")
           << kRowWiseAttrName
           << "' to be a unit attribute of a linalg op, got "
           << attribute.getValue();
  for (StringRef name : {kDependentLaunchAttrName, kMaskBf16AttrName})
    if (attribute.getName() == name && !isa<UnitAttr>(attribute.getValue()))
      return op->emitOpError("expected '")
             << name << "' to be a unit attribute, got "
             << attribute.getValue();
  for (auto [name, bits] :
       {std::pair<StringRef, unsigned>(kBlocksPerMultiprocessorAttrName, 32),
        {kMinBlocksAttrName, 64}}) {
    if (attribute.getName() != name)
      continue;
    auto blocks = dyn_cast<IntegerAttr>(attribute.getValue());
    if (!blocks || !blocks.getType().isSignlessInteger(bits) ||
        blocks.getInt() < 1)
      return op->emitOpError("expected '")
             << name << "' to be a positive i" << bits << ", got "
             << attribute.getValue();
  }
  return success();
}

LogicalResult
RMSNormDialect::verifyRegionArgAttribute(Operation *op, unsigned region,
                                         unsigned argument,
                                         NamedAttribute attribute) {
  if (attribute.getName() != kConstantAttrName)
    return success();
  auto report = [&]() {
    return op->emitOpError("expected '")
           << kConstantAttrName << "' of argument #" << argument << " to be ";
  };
  if (!isa<UnitAttr>(attribute.getValue()))
    return report() << "a unit attribute, got " << attribute.getValue();
  if (region >= op->getNumRegions() || op->getRegion(region).empty())
    return success();
  Type type = op->getRegion(region).getArgument(argument).getType();
  if (!isa<ShapedType>(type))
    return report() << "on a tensor or memref, got " << type;
  auto function = dyn_cast<FunctionOpInterface>(op);
  if (!function)
    return success();
  auto role = function.getArgAttrOfType<StringAttr>(argument, kRoleAttrName);
  if (role && role.getValue() != "input")
    return report() << "on an argument that is only read, got role " << role;
  return success();
}
