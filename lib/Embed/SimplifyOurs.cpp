// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimplifyOurs.cpp - rmsnorm-simplify -------------------------------===//

#include "RMSNorm/Embed/Passes.h"
#include "RMSNorm/IR/KernelTarget.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_SIMPLIFYOURS
#include "RMSNorm/Embed/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
struct SimplifyOurs final : rmsnorm::impl::SimplifyOursBase<SimplifyOurs> {
  using SimplifyOursBase::SimplifyOursBase;

  void runOnOperation() override {
    OpPassManager passes;
    if (canonicalize)
      passes.addPass(createCanonicalizerPass());
    passes.addPass(createCSEPass());
    WalkResult walk =
        getOperation()->walk<WalkOrder::PreOrder>([&](Operation *op) {
          if (op == getOperation() || !(isa<RowsOp>(op) || getKernelTarget(op)))
            return WalkResult::advance();
          return failed(runPipeline(passes, op)) ? WalkResult::interrupt()
                                                 : WalkResult::skip();
        });
    if (walk.wasInterrupted())
      signalPassFailure();
  }
};
} // namespace
