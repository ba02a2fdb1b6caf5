// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DropResults.cpp - rmsnorm-drop-results ----------------------------===//

#include "RMSNorm/Transforms/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_DROPRESULTS
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// Whether `value` is an argument, perhaps with a type that says less.
static bool isArgument(Value value) {
  while (auto cast = value.getDefiningOp<memref::CastOp>())
    value = cast.getSource();
  return isa<BlockArgument>(value) && isa<MemRefType>(value.getType());
}

namespace {
struct DropResults final : rmsnorm::impl::DropResultsBase<DropResults> {
  using DropResultsBase::DropResultsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.isPublic() || !function.getBody().hasOneBlock())
      return;
    Operation *terminator = function.front().getTerminator();
    llvm::BitVector dropped(terminator->getNumOperands());
    for (OpOperand &operand : terminator->getOpOperands())
      if (isArgument(operand.get()))
        dropped.set(operand.getOperandNumber());
    terminator->eraseOperands(dropped);
    if (failed(function.eraseResults(dropped)))
      signalPassFailure();
  }
};
} // namespace
