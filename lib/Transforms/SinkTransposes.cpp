// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SinkTransposes.cpp - rmsnorm-sink-transposes ----------------------===//

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Transforms/Passes.h"
#include "RowOps.h"
#include "StoredLayouts.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_SINKTRANSPOSES
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;
using linalg::GenericOp;
using linalg::LinalgOp;

/// Whether `value` is more than a part or another shape of an argument.
static bool isComputed(Value value) {
  while (isa_and_present<tensor::CastOp, tensor::CollapseShapeOp,
                         tensor::ExpandShapeOp, tensor::ExtractSliceOp>(
      value.getDefiningOp()))
    value = value.getDefiningOp()->getOperand(0);
  return !isa<BlockArgument>(value);
}

static std::optional<Transpose> matchComputed(Value value) {
  std::optional<Transpose> match = matchTranspose(value);
  return match && isComputed(match->source) ? match : std::nullopt;
}

/// What stands at i goes to permutation[i].
template <typename T>
static SmallVector<T> undo(ArrayRef<T> values, ArrayRef<int64_t> permutation) {
  return applyPermutation(values, invertPermutationVector(permutation));
}

/// A destination as `init` is, transposed back. Only a fill is read.
static Value createInit(PatternRewriter &rewriter, Value init, bool isRead,
                        ArrayRef<int64_t> permutation) {
  Location loc = init.getLoc();
  SmallVector<OpFoldResult> sizes = tensor::getMixedSizes(rewriter, loc, init);
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, undo<OpFoldResult>(sizes, permutation),
      cast<RankedTensorType>(init.getType()).getElementType());
  if (!isRead)
    return empty;
  Value value = init.getDefiningOp<linalg::FillOp>().value();
  return linalg::FillOp::create(rewriter, loc, value, empty).getResult(0);
}

static Value transpose(PatternRewriter &rewriter, Value value, Value init,
                       ArrayRef<int64_t> permutation) {
  if (auto fill = init.getDefiningOp<linalg::FillOp>())
    init = fill.getOutputs().front();
  return linalg::TransposeOp::create(rewriter, value.getLoc(), value, init,
                                     permutation)
      ->getResult(0);
}

/// Whether `map` indexes with the loops in their order: all, or all but the
/// last, the columns, in place of which there may be one of size 1.
static bool isRows(AffineMap map) {
  const size_t rows = map.getNumDims() - 1;
  if (map.getNumResults() < rows)
    return false;
  return llvm::all_of(llvm::enumerate(map.getResults()), [&](auto result) {
    return result.value() ==
               getAffineDimExpr(result.index(), map.getContext()) ||
           (result.index() == rows && isa<AffineConstantExpr>(result.value()));
  });
}

namespace {
/// op(transpose(x)) -> transpose(op(x)).
struct SinkThroughLinalg : OpInterfaceRewritePattern<LinalgOp> {
  using OpInterfaceRewritePattern::OpInterfaceRewritePattern;

  LogicalResult matchAndRewrite(LinalgOp op,
                                PatternRewriter &rewriter) const override {
    if (!op.hasPureTensorSemantics() || op.hasIndexSemantics() ||
        op->getNumResults() == 0 || matchTranspose(op->getResult(0)))
      return rewriter.notifyMatchFailure(op, "nothing to be computed before");
    for (OpOperand *operand : op.getDpsInputOperands())
      if (std::optional<Transpose> match = matchComputed(operand->get()))
        if (isRows(op.getMatchingIndexingMap(operand)) &&
            succeeded(sink(op, match->permutation, rewriter)))
          return success();
    return foldInputs(op, rewriter);
  }

private:
  /// The loops of `op` in the order of what is transposed.
  static LogicalResult sink(LinalgOp op, SmallVector<int64_t> loops,
                            PatternRewriter &rewriter) {
    const unsigned count = op.getNumLoops();
    if (loops.size() < count)
      loops.push_back(count - 1);
    // Groups of columns are transposed with rows for elementwise ops only.
    if (loops.back() != count - 1 &&
        !llvm::all_of(op.getIndexingMapsArray(), [](AffineMap map) {
          return map.isIdentity() || map.getNumResults() == 0;
        }))
      return failure();
    if (!llvm::all_of(op.getDpsInitsMutable(), [&](OpOperand &init) {
          return isRows(op.getMatchingIndexingMap(&init)) &&
                 (!op.payloadUsesValueFromOperand(&init) ||
                  init.get().getDefiningOp<linalg::FillOp>());
        }))
      return failure();
    SmallVector<Value> inits;
    for (OpOperand &init : op.getDpsInitsMutable())
      inits.push_back(createInit(
          rewriter, init.get(), op.payloadUsesValueFromOperand(&init),
          ArrayRef(loops).take_front(
              cast<ShapedType>(init.get().getType()).getRank())));
    SmallVector<AffineExpr> dims;
    for (int64_t loop : loops)
      dims.push_back(getAffineDimExpr(loop, op.getContext()));
    SmallVector<AffineMap> maps;
    SmallVector<Value> inputs;
    for (OpOperand *input : op.getDpsInputOperands()) {
      AffineMap map = op.getMatchingIndexingMap(input);
      inputs.push_back(input->get());
      maps.push_back(
          fold(inputs.back(), map.replaceDimsAndSymbols(dims, {}, count, 0)));
    }
    for (OpOperand &init : op.getDpsInitsMutable())
      maps.push_back(op.getMatchingIndexingMap(&init));
    auto generic = GenericOp::create(
        rewriter, op.getLoc(), TypeRange(ValueRange(inits)), inputs, inits,
        maps, undo<utils::IteratorType>(op.getIteratorTypesArray(), loops));
    generic->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    rewriter.cloneRegionBefore(op->getRegion(0), generic.getRegion(),
                               generic.getRegion().begin());
    SmallVector<Value> results;
    for (auto [result, init] :
         llvm::zip(generic->getResults(), op.getDpsInits()))
      results.push_back(
          transpose(rewriter, result, init,
                    ArrayRef(loops).take_front(
                        cast<ShapedType>(init.getType()).getRank())));
    rewriter.replaceOp(op, results);
    return success();
  }

  /// The map of what `input`, indexed by `map`, is a transpose of, if it is.
  static AffineMap fold(Value &input, AffineMap map) {
    std::optional<Transpose> match = matchTranspose(input);
    if (!match)
      return map;
    input = match->source;
    return AffineMap::get(
        map.getNumDims(), 0,
        undo<AffineExpr>(map.getResults(), match->permutation),
        map.getContext());
  }

  /// An argument is read in the order of the op that reads it, and so is what
  /// was transposed with what the op is transposed with.
  static LogicalResult foldInputs(LinalgOp op, PatternRewriter &rewriter) {
    auto generic = dyn_cast<GenericOp>(op.getOperation());
    if (!generic)
      return failure();
    SmallVector<AffineMap> maps = generic.getIndexingMapsArray();
    SmallVector<std::pair<OpOperand *, Value>> sources;
    for (OpOperand *input : op.getDpsInputOperands()) {
      Value source = input->get();
      AffineMap &map = maps[input->getOperandNumber()];
      AffineMap folded = fold(source, map);
      if (source == input->get() || (isComputed(source) && !isRows(folded)))
        continue;
      map = folded;
      sources.push_back({input, source});
    }
    if (sources.empty())
      return failure();
    rewriter.modifyOpInPlace(op, [&] {
      for (auto [input, source] : sources)
        input->set(source);
      generic.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
    });
    return success();
  }
};

/// What is computed and written with columns, or groups of them, in front of
/// rows is computed, then transposed.
struct SplitTransposedInit : OpRewritePattern<GenericOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(GenericOp op,
                                PatternRewriter &rewriter) const override {
    auto permutation = matchTransposedInit(op);
    if (!permutation)
      return rewriter.notifyMatchFailure(op, "no init with columns in front");
    OpOperand &init = op.getDpsInitsMutable()[0];
    Value dest = init.get();
    SmallVector<AffineMap> maps = op.getIndexingMapsArray();
    maps.back() =
        AffineMap::get(op.getNumLoops(), 0,
                       undo<AffineExpr>(maps.back().getResults(), *permutation),
                       op.getContext());
    Value own = createInit(rewriter, dest,
                           op.payloadUsesValueFromOperand(&init), *permutation);
    auto computed = GenericOp::create(rewriter, op.getLoc(), own.getType(),
                                      op.getDpsInputs(), own, maps,
                                      op.getIteratorTypesArray());
    computed->setDiscardableAttrs(op->getDiscardableAttrDictionary());
    computed.getRegion().takeBody(op.getRegion());
    rewriter.replaceOp(
        op, transpose(rewriter, computed->getResult(0), dest, *permutation));
    return success();
  }
};

/// norm(transpose(x)) -> transpose(norm(x)).
struct SinkThroughNorm : OpRewritePattern<ForwardOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ForwardOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Transpose> match = matchComputed(op.getInput());
    if (!match || match->permutation.back() + 1 !=
                      static_cast<int64_t>(match->permutation.size()))
      return rewriter.notifyMatchFailure(op, "no transpose of rows");
    SmallVector<Value> operands(op->getOperands()), inits;
    operands[op.getInputMutable().getOperandNumber()] = match->source;
    auto getPermutation = [&](Value init) {
      return ArrayRef(match->permutation)
          .take_front(cast<ShapedType>(init.getType()).getRank());
    };
    for (OpOperand &init : op.getDpsInitsMutable()) {
      inits.push_back(createInit(rewriter, init.get(), /*isRead=*/false,
                                 getPermutation(init.get())));
      operands[init.getOperandNumber()] = inits.back();
    }
    Operation *norm =
        clone(rewriter, op, TypeRange(ValueRange(inits)), operands);
    SmallVector<Value> results;
    for (auto [result, init] :
         llvm::zip(norm->getResults(), op.getDpsInitsMutable()))
      results.push_back(
          transpose(rewriter, result, init.get(), getPermutation(init.get())));
    rewriter.replaceOp(op, results);
    return success();
  }
};

/// Where `op` slices what `permutation` has transposed, before that.
struct UndoneSlice {
  UndoneSlice(OffsetSizeAndStrideOpInterface op, ArrayRef<int64_t> permutation)
      : offsets(undo<OpFoldResult>(op.getMixedOffsets(), permutation)),
        sizes(undo<OpFoldResult>(op.getMixedSizes(), permutation)),
        strides(undo<OpFoldResult>(op.getMixedStrides(), permutation)) {}

  SmallVector<OpFoldResult> offsets, sizes, strides;
};

/// A part of transposed rows is a part of rows, transposed.
struct SinkThroughSlice : OpRewritePattern<tensor::ExtractSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::ExtractSliceOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Transpose> match = matchTranspose(op.getSource());
    if (!match || op.getType().getRank() != op.getSourceType().getRank())
      return rewriter.notifyMatchFailure(op, "no slice of a transpose");
    ArrayRef<int64_t> permutation = match->permutation;
    const UndoneSlice slice(op, permutation);
    Value part = tensor::ExtractSliceOp::create(rewriter, op.getLoc(),
                                                match->source, slice.offsets,
                                                slice.sizes, slice.strides);
    Value empty =
        tensor::EmptyOp::create(rewriter, op.getLoc(), op.getMixedSizes(),
                                op.getType().getElementType());
    rewriter.replaceOp(op, transpose(rewriter, part, empty, permutation));
    return success();
  }
};

/// Parts are put together before they are transposed.
struct SinkThroughInsertion : OpRewritePattern<tensor::InsertSliceOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(tensor::InsertSliceOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Transpose> match = matchComputed(op.getSource());
    std::optional<Transpose> dest = matchTranspose(op.getDest());
    if (!match || op.getType().getRank() != op.getSourceType().getRank() ||
        (dest ? dest->permutation != match->permutation
              : isInitRead(op.getDestMutable())))
      return rewriter.notifyMatchFailure(op, "no insertion of transposes");
    ArrayRef<int64_t> permutation = match->permutation;
    const UndoneSlice slice(op, permutation);
    Value row = dest ? dest->source
                     : createInit(rewriter, op.getDest(), /*isRead=*/false,
                                  permutation);
    Value whole = tensor::InsertSliceOp::create(
        rewriter, op.getLoc(), match->source, row, slice.offsets, slice.sizes,
        slice.strides);
    Value init = dest ? op.getDest()
                            .getDefiningOp<DestinationStyleOpInterface>()
                            .getDpsInits()
                            .front()
                      : op.getDest();
    rewriter.replaceOp(op, transpose(rewriter, whole, init, permutation));
    return success();
  }
};

struct MergeTransposes : OpRewritePattern<linalg::TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(linalg::TransposeOp op,
                                PatternRewriter &rewriter) const override {
    std::optional<Transpose> inner = matchTranspose(op.getInput());
    if (!inner)
      return rewriter.notifyMatchFailure(op, "no transpose of a transpose");
    SmallVector<int64_t> permutation =
        applyPermutation(inner->permutation, op.getPermutation());
    // The destination stays that of a result.
    if (isIdentityPermutation(permutation))
      rewriter.replaceOp(op, createCopy(rewriter, op.getLoc(),
                                        {inner->source, permutation},
                                        op.getInit()));
    else
      rewriter.replaceOp(
          op, transpose(rewriter, inner->source, op.getInit(), permutation));
    return success();
  }
};
} // namespace

namespace {
struct SinkTransposes final
    : rmsnorm::impl::SinkTransposesBase<SinkTransposes> {
  using SinkTransposesBase::SinkTransposesBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    // Patterns would fold these, and with them destinations of results.
    getOperation().walk([&](linalg::TransposeOp op) {
      if (!isIdentityPermutation(op.getPermutation()) ||
          !op.hasPureTensorSemantics())
        return;
      rewriter.setInsertionPoint(op);
      rewriter.replaceOp(
          op, createCopy(rewriter, op.getLoc(),
                         {op.getInput(), llvm::to_vector(op.getPermutation())},
                         op.getInit()));
    });
    auto getTransposes = [&] {
      SmallVector<LinalgOp> transposes;
      getOperation().walk([&](LinalgOp op) {
        if (op->getNumResults() == 1 && matchTranspose(op->getResult(0)))
          transposes.push_back(op);
      });
      return transposes;
    };
    WalkResult walk = getOperation().walk([](GenericOp op) {
      return WalkResult(failure(matchTransposedInit(op).has_value()));
    });
    if (!walk.wasInterrupted() && getTransposes().empty())
      return;
    RewritePatternSet patterns(&getContext());
    patterns.add<SinkThroughLinalg, SinkThroughNorm, SinkThroughSlice,
                 SinkThroughInsertion, MergeTransposes, SplitTransposedInit>(
        &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    for (LinalgOp op : getTransposes())
      if (auto match = matchComputed(op->getResult(0))) {
        rewriter.setInsertionPoint(op);
        rewriter.replaceOp(op, createCopy(rewriter, op.getLoc(), *match,
                                          op.getDpsInits().front()));
      }
  }
};
} // namespace
