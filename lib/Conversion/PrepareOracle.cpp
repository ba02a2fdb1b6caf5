// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PrepareOracle.cpp - rmsnorm-prepare-oracle ------------------------===//

#include "RMSNorm/Conversion/Passes.h"
#include "RMSNorm/IR/HardViews.h"
#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_PREPAREORACLE
#include "RMSNorm/Conversion/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// The value whose buffer `value` is, through casts, reshapes and loops, which
/// bufferization lets yield the buffers that they begin with.
static Value getBuffer(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (auto loop = dyn_cast<scf::ForOp>(op)) {
      value = loop.getInitArgs()[cast<OpResult>(value).getResultNumber()];
      continue;
    }
    if (!isa<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(
            op))
      break;
    value = op->getOperand(0);
  }
  return value;
}

static LogicalResult dropResults(func::FuncOp function) {
  if (!function.getBody().hasOneBlock())
    return function.emitError("expected a body of one block, got ")
           << function.getBody().getBlocks().size();
  for (Type type : function.getArgumentTypes())
    if (!isa<MemRefType>(type))
      return function.emitError("expected an entry's arguments to be ranked "
                                "tensors or memrefs, got ")
             << type;
  Operation *terminator = function.getBody().front().getTerminator();
  for (OpOperand &operand : terminator->getOpOperands()) {
    Value buffer = getBuffer(operand.get());
    // A result that something else holds, by folding, is still to be written.
    auto bound = function.getResultAttrOfType<IntegerAttr>(
        operand.getOperandNumber(), RMSNormDialect::kArgumentAttrName);
    Value target =
        bound ? function.getArgument(bound.getInt()) : BlockArgument();
    if (!target && !isa<BlockArgument>(buffer))
      return function.emitError("expected result ")
             << operand.getOperandNumber()
             << " to be computed into an argument; run rmsnorm-bind-arguments "
                "first";
    if (target && target != buffer) {
      OpBuilder builder(terminator);
      memref::CopyOp::create(builder, terminator->getLoc(), operand.get(),
                             target);
    }
  }
  llvm::BitVector results(terminator->getNumOperands(), true);
  if (failed(function.eraseResults(results)))
    return failure();
  terminator->eraseOperands(0, terminator->getNumOperands());
  return success();
}

/// Frees the memory that bufferization allocated, at the end of its block.
static LogicalResult addDeallocations(func::FuncOp function) {
  WalkResult walk = function.walk([&](memref::AllocOp alloc) {
    Operation *terminator = alloc->getBlock()->getTerminator();
    for (Value operand : terminator->getOperands())
      if (isa<BaseMemRefType>(operand.getType())) {
        alloc.emitError("expected buffers that live in their block only, got "
                        "one in a block whose terminator '")
            << terminator->getName() << "' passes buffers on";
        return WalkResult::interrupt();
      }
    OpBuilder builder(terminator);
    memref::DeallocOp::create(builder, alloc.getLoc(), alloc);
    return WalkResult::advance();
  });
  return failure(walk.wasInterrupted());
}

namespace {
struct PrepareOracle final : rmsnorm::impl::PrepareOracleBase<PrepareOracle> {
  using PrepareOracleBase::PrepareOracleBase;

  void getDependentDialects(DialectRegistry &registry) const override {
    PrepareOracleBase::getDependentDialects(registry);
    registry.insert<affine::AffineDialect>();
  }

  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      if (function.isPublic()) {
        if (failed(dropResults(function)))
          return signalPassFailure();
        function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(),
                          UnitAttr::get(&getContext()));
      }
      function.removeArgAttrsAttr();
      replaceHardViews(function);
      if (failed(addDeallocations(function)))
        return signalPassFailure();
      // A copy between strided buffers would be a library call.
      function.walk([](memref::CopyOp copy) {
        OpBuilder builder(copy);
        linalg::makeMemRefCopyOp(builder, copy.getLoc(), copy.getSource(),
                                 copy.getTarget());
        copy.erase();
      });
    }
  }
};
} // namespace
