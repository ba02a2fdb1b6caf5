// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ComputeInPlace.cpp - rmsnorm-compute-in-place ---------------------===//

#include "RMSNorm/Transforms/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_COMPUTEINPLACE
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// Whether `value` is an argument, with nothing but slices put into it.
static bool isArgument(Value value) {
  while (auto insert = value.getDefiningOp<tensor::InsertSliceOp>())
    value = insert.getDest();
  return isa<BlockArgument>(value);
}

/// The slice that `op` overwrites: one there is already, which its contents are
/// computed from, is the same one.
static Value getSlice(RewriterBase &rewriter, SubsetInsertionOpInterface op,
                      tensor::EmptyOp empty, Operation *user) {
  auto insert = dyn_cast<tensor::InsertSliceOp>(op.getOperation());
  if (!insert || !isArgument(insert.getDest()))
    return {};
  Value argument = insert.getDest();
  while (auto before = argument.getDefiningOp<tensor::InsertSliceOp>())
    argument = before.getDest();
  DominanceInfo dominance;
  for (Operation *other : argument.getUsers())
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(other);
        slice && slice.getType() == empty.getType() &&
        slice.getMixedOffsets() == insert.getMixedOffsets() &&
        slice.getMixedSizes() == insert.getMixedSizes() &&
        slice.getMixedStrides() == insert.getMixedStrides() &&
        dominance.properlyDominates(slice.getResult(), user))
      return slice;
  return bufferization::buildSubsetExtraction(rewriter, op, empty, user);
}

namespace {
struct ComputeInPlace final
    : rmsnorm::impl::ComputeInPlaceBase<ComputeInPlace> {
  using ComputeInPlaceBase::ComputeInPlaceBase;

  void runOnOperation() override {
    WalkResult walk = getOperation().walk([](tensor::InsertSliceOp op) {
      return WalkResult(failure(isArgument(op.getDest())));
    });
    if (!walk.wasInterrupted())
      return;
    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    bufferization::OneShotAnalysisState state(getOperation(), options);
    IRRewriter rewriter(&getContext());
    if (failed(bufferization::analyzeModuleOp(getOperation(), state)) ||
        failed(bufferization::eliminateEmptyTensors(rewriter, getOperation(),
                                                    state, getSlice)))
      signalPassFailure();
  }
};
} // namespace
