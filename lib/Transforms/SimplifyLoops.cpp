// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SimplifyLoops.cpp - rmsnorm-simplify-loops ------------------------===//

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Transforms/Passes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_SIMPLIFYLOOPS
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
struct SimplifyLoops final : rmsnorm::impl::SimplifyLoopsBase<SimplifyLoops> {
  using SimplifyLoopsBase::SimplifyLoopsBase;

  LogicalResult initialize(MLIRContext *context) override {
    RewritePatternSet all(context);
    for (Dialect *dialect : context->getLoadedDialects())
      dialect->getCanonicalizationPatterns(all);
    for (RegisteredOperationName op : context->getRegisteredOperations())
      op.getCanonicalizationPatterns(all, context);
    patterns = std::move(all);
    return success();
  }

  void runOnOperation() override {
    SmallVector<scf::ForallOp> loops;
    getOperation()->walk([&](scf::ForallOp loop) {
      if (loop->hasAttr(RMSNormDialect::kRowsAttrName))
        loops.push_back(loop);
    });
    IRRewriter rewriter(&getContext());
    for (scf::ForallOp loop : loops) {
      canonicalize(loop);
      DominanceInfo dominance(loop);
      eliminateCommonSubExpressions(rewriter, dominance, loop);
      // Copies of a buffer to itself, which are seen only now.
      canonicalize(loop);
    }
  }

private:
  /// What is in the loop, and nothing that it uses from outside.
  void canonicalize(scf::ForallOp loop) {
    SmallVector<Operation *> ops;
    loop.getBody()->walk([&](Operation *op) { ops.push_back(op); });
    GreedyRewriteConfig config;
    config.setScope(&loop.getRegion());
    (void)applyOpPatternsGreedily(ops, patterns, config);
  }

  FrozenRewritePatternSet patterns;
};
} // namespace
