// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FuseReductions.cpp - rmsnorm-fuse-reductions ----------------------===//

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Rows/Passes.h"
#include "RMSNorm/Rows/RowsProgram.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/IR/Dominance.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/CSE.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_FUSEREDUCTIONS
#include "RMSNorm/Rows/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

static ArrayRef<int64_t> getShape(RowReduceOp op) {
  return cast<VectorType>(op.getInputs().front().getType()).getShape();
}

/// Moves the operands of `op` before `position`, which precedes it in the
/// block. Returns false, with nothing moved, if it depends on `position` or on
/// something that cannot move.
static bool moveInputsBefore(RowReduceOp op, Operation *position) {
  BackwardSliceOptions options;
  options.omitBlockArguments = true;
  options.filter = [&](Operation *definition) {
    return definition->getBlock() == op->getBlock() &&
           !definition->isBeforeInBlock(position);
  };
  llvm::SetVector<Operation *> slice;
  if (failed(getBackwardSlice(op.getOperation(), &slice, options)))
    return false;
  for (Operation *definition : slice)
    if (definition == position || !isMemoryEffectFree(definition))
      return false;
  // The slice is in topological order.
  for (Operation *definition : slice)
    definition->moveBefore(position);
  return true;
}

/// One op in the place of `first` for both.
static RowReduceOp merge(RewriterBase &rewriter, RowReduceOp first,
                         RowReduceOp second) {
  SmallVector<Attribute> kinds;
  SmallVector<Value> inputs, results;
  SmallVector<unsigned> numbers;
  SmallVector<Type> types;
  for (RowReduceOp op : {first, second})
    for (auto [kind, input, result] :
         llvm::zip(op.getKinds(), op.getInputs(), op.getResults())) {
      unsigned number = 0;
      while (number < inputs.size() &&
             (inputs[number] != input || kinds[number] != kind))
        ++number;
      results.push_back(result);
      numbers.push_back(number);
      if (number < inputs.size())
        continue;
      kinds.push_back(kind);
      inputs.push_back(input);
      types.push_back(result.getType());
    }
  rewriter.setInsertionPoint(first);
  auto merged = RowReduceOp::create(rewriter, first.getLoc(), types,
                                    rewriter.getArrayAttr(kinds), inputs);
  for (auto [result, number] : llvm::zip(results, numbers))
    rewriter.replaceAllUsesWith(result, merged.getResult(number));
  rewriter.eraseOp(second);
  rewriter.eraseOp(first);
  return merged;
}

static void fuseBlock(RewriterBase &rewriter, Block &block) {
  eraseDeadOps(rewriter, block);
  SmallVector<RowReduceOp> groups;
  for (RowReduceOp reduce : llvm::to_vector(block.getOps<RowReduceOp>())) {
    auto group = llvm::find_if(groups, [&](RowReduceOp candidate) {
      return getShape(candidate) == getShape(reduce) &&
             moveInputsBefore(reduce, candidate);
    });
    if (group != groups.end())
      *group = merge(rewriter, *group, reduce);
    else
      groups.push_back(reduce);
  }
}

namespace {
struct FuseReductions final
    : rmsnorm::impl::FuseReductionsBase<FuseReductions> {
  using FuseReductionsBase::FuseReductionsBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    llvm::SetVector<Operation *> programs;
    getOperation()->walk(
        [&](RowReduceOp op) { programs.insert(op->getParentOp()); });
    for (Operation *program : programs) {
      auto mergeEqual = [&] {
        DominanceInfo dominance(program);
        eliminateCommonSubExpressions(rewriter, dominance, program);
      };
      // Equal inputs have to be one value to be reduced once.
      mergeEqual();
      llvm::SetVector<Block *> blocks;
      program->walk([&](RowReduceOp op) { blocks.insert(op->getBlock()); });
      for (Block *block : blocks)
        fuseBlock(rewriter, *block);
      mergeEqual();
    }
  }
};
} // namespace
