// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WrapMemRefs.cpp - rmsnorm-wrap-memrefs ----------------------------===//

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Source/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_WRAPMEMREFS
#include "RMSNorm/Source/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

static void wrap(RewriterBase &rewriter, DestinationStyleOpInterface norm) {
  rewriter.setInsertionPoint(norm);
  Location loc = norm.getLoc();
  llvm::SmallDenseMap<Value, Value> tensors;
  for (Value buffer : norm->getOperands()) {
    Value &tensor = tensors[buffer];
    if (tensor)
      continue;
    const bool writable = llvm::is_contained(norm.getDpsInits(), buffer);
    tensor = bufferization::ToTensorOp::create(
        rewriter, loc, memref::getTensorTypeFromMemRefType(buffer.getType()),
        buffer, /*restrict=*/true, writable);
  }
  SmallVector<Value> operands = llvm::map_to_vector(
      norm->getOperands(), [&](Value buffer) { return tensors[buffer]; });
  SmallVector<Type> types;
  for (Value init : norm.getDpsInits())
    types.push_back(tensors[init].getType());
  Operation *wrapped =
      mlir::clone(rewriter, norm.getOperation(), types, operands);
  for (auto [result, init] :
       llvm::zip(wrapped->getResults(), norm.getDpsInits()))
    bufferization::MaterializeInDestinationOp::create(
        rewriter, loc, /*result=*/Type(), result, init, /*restrict=*/false,
        /*writable=*/true);
  rewriter.eraseOp(norm);
}

namespace {
struct WrapMemRefs final : rmsnorm::impl::WrapMemRefsBase<WrapMemRefs> {
  using WrapMemRefsBase::WrapMemRefsBase;

  void runOnOperation() override {
    SmallVector<DestinationStyleOpInterface> norms;
    getOperation()->walk([&](DestinationStyleOpInterface op) {
      if (isa<ForwardOp, BackwardOp>(op) && op.hasPureBufferSemantics())
        norms.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (DestinationStyleOpInterface norm : norms)
      wrap(rewriter, norm);
  }
};
} // namespace
