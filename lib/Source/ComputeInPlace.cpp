// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ComputeInPlace.cpp - rmsnorm-compute-in-place ---------------------===//

#include "RMSNorm/Source/Passes.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Dominance.h"
#include "mlir/Interfaces/ValueBoundsOpInterface.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_COMPUTEINPLACE
#include "RMSNorm/Source/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// Whether `value` is an argument, with nothing but slices put into it.
static bool isArgument(Value value) {
  while (auto insert = value.getDefiningOp<tensor::InsertSliceOp>())
    value = insert.getDest();
  return isa<BlockArgument>(value);
}

static bool areDisjoint(tensor::InsertSliceOp a, tensor::InsertSliceOp b) {
  FailureOr<bool> overlap = ValueBoundsConstraintSet::areOverlappingSlices(
      a.getContext(), HyperrectangularSlice(a), HyperrectangularSlice(b));
  return succeeded(overlap) && !*overlap;
}

/// Moves `insert` in front of insertions beside it whose values are computed
/// later: kernels write in the order in which they compute.
static void putInOrder(tensor::InsertSliceOp insert) {
  while (auto before =
             insert.getDest().getDefiningOp<tensor::InsertSliceOp>()) {
    Operation *own = insert.getSource().getDefiningOp();
    Operation *other = before.getSource().getDefiningOp();
    Block *block = insert->getBlock();
    if (!own || !other || own->getBlock() != block ||
        other->getBlock() != block || before->getBlock() != block ||
        !own->isBeforeInBlock(other) || !before->hasOneUse() ||
        !areDisjoint(insert, before))
      return;
    insert.getResult().replaceAllUsesWith(before.getResult());
    insert.getDestMutable().assign(before.getDest());
    before.getDestMutable().assign(insert.getResult());
    before->moveAfter(insert);
  }
}

/// A slice of `tensor` that `insert` overwrites and that is there for `user`.
static tensor::ExtractSliceOp
findSlice(Value tensor, tensor::InsertSliceOp insert, Operation *user) {
  DominanceInfo dominance;
  for (Operation *other : tensor.getUsers())
    if (auto slice = dyn_cast<tensor::ExtractSliceOp>(other);
        slice && slice.getType() == insert.getSourceType() &&
        slice.getMixedOffsets() == insert.getMixedOffsets() &&
        slice.getMixedSizes() == insert.getMixedSizes() &&
        slice.getMixedStrides() == insert.getMixedStrides() &&
        dominance.properlyDominates(slice.getResult(), user))
      return slice;
  return {};
}

/// Takes the slice that `insert` overwrites out of the tensor that it is put
/// into. Other slices of that have been overwritten before; it shares nothing
/// with them, but bufferization could not see that of an argument that is read
/// after it is written.
static void threadSlice(tensor::InsertSliceOp insert) {
  auto before = insert.getDest().getDefiningOp<tensor::InsertSliceOp>();
  tensor::ExtractSliceOp slice;
  for (auto other = before; other && !slice;
       other = other.getDest().getDefiningOp<tensor::InsertSliceOp>()) {
    if (!areDisjoint(insert, other))
      return;
    slice = findSlice(other.getDest(), insert, insert);
  }
  Block *block = insert->getBlock();
  if (!slice || slice->getBlock() != block || before->getBlock() != block)
    return;
  // In front of all its readers, after earlier insertions.
  Operation *first = insert, *last = slice;
  for (Operation *user : slice->getUsers()) {
    Operation *ancestor = block->findAncestorOpInBlock(*user);
    if (ancestor && ancestor->isBeforeInBlock(first))
      first = ancestor;
  }
  for (Value operand : before->getOperands())
    if (Operation *op = operand.getDefiningOp();
        op && op->getBlock() == block && last->isBeforeInBlock(op))
      last = op;
  if (!last->isBeforeInBlock(first))
    return;
  if (last != slice && last->isBeforeInBlock(before))
    before->moveAfter(last);
  if (!before->isBeforeInBlock(first))
    return;
  slice->moveBefore(first);
  slice.getSourceMutable().assign(before.getResult());
}

/// The slice that `op` overwrites: one that is there already, which its
/// contents are computed from, is the same one.
static Value getSlice(RewriterBase &rewriter, SubsetInsertionOpInterface op,
                      tensor::EmptyOp empty, Operation *user) {
  auto insert = dyn_cast<tensor::InsertSliceOp>(op.getOperation());
  if (!insert || !isArgument(insert.getDest()))
    return {};
  for (Value tensor = insert.getDest(); tensor;) {
    if (auto slice = findSlice(tensor, insert, user);
        slice && slice.getType() == empty.getType())
      return slice;
    auto before = tensor.getDefiningOp<tensor::InsertSliceOp>();
    tensor = before ? before.getDest() : Value();
  }
  return bufferization::buildSubsetExtraction(rewriter, op, empty, user);
}

namespace {
struct ComputeInPlace final
    : rmsnorm::impl::ComputeInPlaceBase<ComputeInPlace> {
  using ComputeInPlaceBase::ComputeInPlaceBase;

  void runOnOperation() override {
    auto collect = [&] {
      SmallVector<tensor::InsertSliceOp> insertions;
      getOperation().walk([&](tensor::InsertSliceOp op) {
        if (isArgument(op.getDest()))
          insertions.push_back(op);
      });
      return insertions;
    };
    const SmallVector<tensor::InsertSliceOp> insertions = collect();
    if (insertions.empty())
      return;
    llvm::for_each(insertions, putInOrder);
    llvm::for_each(collect(), threadSlice);
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
