// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GeneralizeElementwise.cpp - rmsnorm-generalize-elementwise --------===//

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Source/Elementwise.h"
#include "RMSNorm/Source/Passes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mlir/Transforms/WalkPatternRewriteDriver.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_GENERALIZEELEMENTWISE
#define GEN_PASS_DEF_RESTOREELEMENTWISE
#include "RMSNorm/Source/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
struct Inserted final : RewriterBase::Listener {
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    if (isa<linalg::GenericOp>(op))
      generics.insert(op);
  }
  llvm::SetVector<Operation *> generics;
};
} // namespace

StringRef rmsnorm::getWrittenName(Operation *op) {
  auto name =
      op->getAttrOfType<StringAttr>(RMSNormDialect::kElementwiseAttrName);
  return name ? name.getValue() : op->getName().getStringRef();
}

static void setWrittenName(Operation *op, StringRef name) {
  op->setAttr(RMSNormDialect::kElementwiseAttrName,
              StringAttr::get(op->getContext(), name));
}

llvm::SetVector<Operation *> rmsnorm::generalizeElementwise(Operation *root) {
  Inserted inserted;
  RewritePatternSet patterns(root->getContext());
  linalg::populateElementwiseToLinalgConversionPatterns(patterns);
  walkAndApplyPatterns(root, std::move(patterns), &inserted);
  // Upstream takes an operand for the destination if it has the type: here
  // that would say that it is overwritten.
  IRRewriter rewriter(root->getContext());
  for (Operation *op : inserted.generics) {
    rewriter.setInsertionPoint(op);
    for (OpOperand &init : cast<linalg::GenericOp>(op).getDpsInitsMutable()) {
      if (init.get().getDefiningOp<tensor::EmptyOp>())
        continue;
      Value empty = tensor::EmptyOp::create(
          rewriter, op->getLoc(),
          tensor::getMixedSizes(rewriter, op->getLoc(), init.get()),
          getElementTypeOrSelf(init.get().getType()));
      rewriter.modifyOpInPlace(op, [&] { init.set(empty); });
    }
  }
  return std::move(inserted.generics);
}

llvm::SetVector<Operation *> rmsnorm::expandSoftmaxes(Operation *root) {
  SmallVector<linalg::SoftmaxOp> ops;
  root->walk([&](linalg::SoftmaxOp op) {
    if (op.hasPureTensorSemantics())
      ops.push_back(op);
  });
  Inserted inserted;
  IRRewriter rewriter(root->getContext(), &inserted);
  for (linalg::SoftmaxOp op : ops) {
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> results = op.decomposeOperation(rewriter);
    if (succeeded(results))
      rewriter.replaceOp(op, *results);
  }
  return std::move(inserted.generics);
}

/// Erases what defines `value` if nobody needs it, and what only that needed.
static void eraseDead(RewriterBase &rewriter, Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isOpTriviallyDead(op))
    return;
  SetVector<Value> operands(op->operand_begin(), op->operand_end());
  rewriter.eraseOp(op);
  for (Value operand : operands)
    eraseDead(rewriter, operand);
}

void rmsnorm::restoreElementwise(RewriterBase &rewriter,
                                 linalg::GenericOp generic) {
  Block *body = generic.getBody();
  Operation *scalar = &body->front();
  if (scalar->getNextNode() != body->getTerminator() ||
      body->getTerminator()->getOperands() != scalar->getResults())
    return;
  IRMapping tensors;
  for (OpOperand &operand : generic->getOpOperands()) {
    if (isa<RankedTensorType>(operand.get().getType()) &&
        !generic.getMatchingIndexingMap(&operand).isIdentity())
      return;
    tensors.map(generic.getMatchingBlockArgument(&operand), operand.get());
  }
  rewriter.setInsertionPoint(generic);
  Operation *op = rewriter.clone(*scalar, tensors);
  for (auto [result, type] :
       llvm::zip_equal(op->getResults(), generic->getResultTypes()))
    result.setType(type);
  OperandRange dest = generic.getDpsInits();
  SetVector<Value> inits(dest.begin(), dest.end());
  rewriter.replaceOp(generic, op);
  for (Value init : inits)
    eraseDead(rewriter, init);
}

/// Makes insertions, one after another, of each concatenation whose parts have
/// static sizes, and returns them.
static void expandConcats(Operation *root) {
  SmallVector<tensor::ConcatOp> concats;
  root->walk([&](tensor::ConcatOp concat) {
    const uint64_t dim = concat.getDim();
    if (concat.getInputs().size() > 1 &&
        llvm::none_of(concat.getInputs(), [&](Value input) {
          return cast<RankedTensorType>(input.getType()).isDynamicDim(dim);
        }))
      concats.push_back(concat);
  });
  IRRewriter rewriter(root->getContext());
  for (tensor::ConcatOp concat : concats) {
    rewriter.setInsertionPoint(concat);
    Location loc = concat.getLoc();
    RankedTensorType type = concat.getResultType();
    // Those of the first part: all have them.
    SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, concat.getInputs().front());
    SmallVector<OpFoldResult> offsets(type.getRank(), rewriter.getIndexAttr(0));
    const SmallVector<OpFoldResult> strides(type.getRank(),
                                            rewriter.getIndexAttr(1));
    const uint64_t dim = concat.getDim();
    auto getColumns = [&](Value part) {
      return cast<RankedTensorType>(part.getType()).getDimSize(dim);
    };
    int64_t columns = 0;
    for (Value part : concat.getInputs())
      columns += getColumns(part);
    sizes[dim] = rewriter.getIndexAttr(columns);
    Value whole =
        tensor::EmptyOp::create(rewriter, loc, sizes, type.getElementType());
    columns = 0;
    for (Value part : concat.getInputs()) {
      offsets[dim] = rewriter.getIndexAttr(columns);
      sizes[dim] = rewriter.getIndexAttr(getColumns(part));
      columns += getColumns(part);
      whole = tensor::InsertSliceOp::create(rewriter, loc, part, whole, offsets,
                                            sizes, strides);
      setWrittenName(whole.getDefiningOp(), concat->getName().getStringRef());
    }
    if (whole.getType() != type)
      whole = tensor::CastOp::create(rewriter, loc, type, whole);
    rewriter.replaceOp(concat, whole);
  }
}

/// `size + low + high` or, with -1, `size - low - high`.
static OpFoldResult getSum(OpBuilder &builder, Location loc, OpFoldResult size,
                           OpFoldResult low, OpFoldResult high,
                           int64_t sign = 1) {
  AffineExpr x, y, z;
  bindSymbols(builder.getContext(), x, y, z);
  return affine::makeComposedFoldedAffineApply(builder, loc, x + (y + z) * sign,
                                               {size, low, high});
}

/// Makes an insertion into a filled tensor of each padding by a constant that
/// begins at a static place.
static void expandPads(Operation *root) {
  SmallVector<tensor::PadOp> pads;
  root->walk([&](tensor::PadOp pad) {
    const auto isKnown = [&](int64_t dim) {
      const int64_t low = pad.getStaticLow()[dim],
                    high = pad.getStaticHigh()[dim];
      return !ShapedType::isDynamic(low) && low >= 0 &&
             (ShapedType::isDynamic(high) || high >= 0);
    };
    if (pad.getConstantPaddingValue() && !pad.getNofold() &&
        llvm::all_of(llvm::seq(pad.getSourceType().getRank()), isKnown))
      pads.push_back(pad);
  });
  IRRewriter rewriter(root->getContext());
  for (tensor::PadOp pad : pads) {
    rewriter.setInsertionPoint(pad);
    Location loc = pad.getLoc();
    const SmallVector<OpFoldResult> sizes =
        tensor::getMixedSizes(rewriter, loc, pad.getSource());
    SmallVector<OpFoldResult> whole = sizes;
    for (auto [size, low, high] :
         llvm::zip_equal(whole, pad.getMixedLowPad(), pad.getMixedHighPad()))
      size = getSum(rewriter, loc, size, low, high);
    RankedTensorType type = pad.getResultType();
    Value empty =
        tensor::EmptyOp::create(rewriter, loc, whole, type.getElementType());
    Value filled = linalg::FillOp::create(rewriter, loc,
                                          pad.getConstantPaddingValue(), empty)
                       .getResult(0);
    const SmallVector<OpFoldResult> strides(type.getRank(),
                                            rewriter.getIndexAttr(1));
    Value result =
        tensor::InsertSliceOp::create(rewriter, loc, pad.getSource(), filled,
                                      pad.getMixedLowPad(), sizes, strides);
    for (Value made : {filled, result})
      setWrittenName(made.getDefiningOp(), pad->getName().getStringRef());
    if (result.getType() != type)
      result = tensor::CastOp::create(rewriter, loc, type, result);
    rewriter.replaceOp(pad, result);
  }
}

/// Fills what something is put into, where that is a constant of one value.
static void fillConstants(Operation *root) {
  IRRewriter rewriter(root->getContext());
  root->walk([&](tensor::InsertSliceOp op) {
    SplatElementsAttr splat;
    if (!op.getType().getElementType().isIntOrIndexOrFloat() ||
        !matchPattern(op.getDest(), m_Constant(&splat)))
      return;
    rewriter.setInsertionPoint(op);
    Location loc = op.getLoc();
    const Type element = splat.getElementType();
    Value empty = tensor::EmptyOp::create(rewriter, loc,
                                          op.getType().getShape(), element);
    Value value = arith::ConstantOp::create(rewriter, loc,
                                            splat.getSplatValue<TypedAttr>());
    Value filled =
        linalg::FillOp::create(rewriter, loc, value, empty).getResult(0);
    setWrittenName(filled.getDefiningOp(), op->getName().getStringRef());
    rewriter.modifyOpInPlace(op, [&] { op.getDestMutable().assign(filled); });
  });
}

/// Puts the padding back that `op`, into what `fill` fills, was made of.
static void restorePad(RewriterBase &rewriter, tensor::InsertSliceOp op,
                       linalg::FillOp fill) {
  rewriter.setInsertionPoint(op);
  auto empty = fill.output().getDefiningOp<tensor::EmptyOp>();
  if (!empty)
    return;
  SmallVector<OpFoldResult> high;
  for (auto [whole, offset, size] : llvm::zip_equal(
           empty.getMixedSizes(), op.getMixedOffsets(), op.getMixedSizes()))
    high.push_back(
        getSum(rewriter, op.getLoc(), whole, offset, size, /*sign=*/-1));
  Value pad =
      tensor::PadOp::create(rewriter, op.getLoc(), op.getType(), op.getSource(),
                            op.getMixedOffsets(), high, fill.value());
  const SmallVector<Value> sizes = op.getDynamicSizes();
  rewriter.replaceOp(op, pad);
  for (Value size : sizes)
    eraseDead(rewriter, size);
  eraseDead(rewriter, fill->getResult(0));
}

/// Puts the concatenation back that `last` and the other insertions of `marked`
/// before it were made of. Nothing happens if some are gone.
static void restoreConcat(RewriterBase &rewriter, tensor::InsertSliceOp last,
                          const DenseSet<Operation *> &marked) {
  SmallVector<Value> parts;
  Value whole = last.getResult();
  std::optional<int64_t> dim;
  int64_t size = 0;
  while (auto insertion = whole.getDefiningOp<tensor::InsertSliceOp>()) {
    if (!marked.contains(insertion) ||
        (insertion != last && !insertion->hasOneUse()))
      return;
    auto type = insertion.getSourceType();
    for (int64_t i = 0; !dim && i < type.getRank(); ++i)
      if (type.getDimSize(i) != last.getType().getDimSize(i))
        dim = i;
    if (!dim)
      return;
    size += type.getDimSize(*dim);
    parts.push_back(insertion.getSource());
    whole = insertion.getDest();
  }
  if (!whole.getDefiningOp<tensor::EmptyOp>() ||
      size != last.getType().getDimSize(*dim))
    return;
  std::reverse(parts.begin(), parts.end());
  rewriter.setInsertionPoint(last);
  Value concat = tensor::ConcatOp::create(rewriter, last.getLoc(),
                                          last.getType(), *dim, parts);
  Operation *op = last;
  while (auto insertion = dyn_cast<tensor::InsertSliceOp>(op)) {
    op = insertion.getDest().getDefiningOp();
    const SmallVector<Value> operands(insertion->getOperands());
    if (insertion == last)
      rewriter.replaceOp(insertion, concat);
    else
      rewriter.eraseOp(insertion);
    // Sizes, and the destination at last.
    for (Value operand : operands)
      if (operand.getType().isIndex())
        eraseDead(rewriter, operand);
  }
  eraseDead(rewriter, op->getResult(0));
}

namespace {
struct GeneralizeElementwise final
    : rmsnorm::impl::GeneralizeElementwiseBase<GeneralizeElementwise> {
  using GeneralizeElementwiseBase::GeneralizeElementwiseBase;

  void runOnOperation() override {
    expandConcats(getOperation());
    expandPads(getOperation());
    auto generalize = [&] {
      for (Operation *op : generalizeElementwise(getOperation()))
        setWrittenName(op, cast<linalg::GenericOp>(op)
                               .getBody()
                               ->front()
                               .getName()
                               .getStringRef());
    };
    if (restorable)
      return generalize();
    fillConstants(getOperation());
    for (Operation *op : expandSoftmaxes(getOperation()))
      setWrittenName(op, linalg::SoftmaxOp::getOperationName());
    RewritePatternSet scaling(&getContext());
    arith::populateExpandScalingExtTruncPatterns(scaling);
    walkAndApplyPatterns(getOperation(), std::move(scaling));
    // Of a maximum with its place often only the maximum is used.
    SmallVector<Operation *> ops;
    getOperation()->walk([&](linalg::GenericOp op) {
      if (op.hasPureTensorSemantics() && op.hasIndexSemantics() &&
          llvm::any_of(op->getResults(),
                       [](Value result) { return result.use_empty(); }))
        ops.push_back(op);
    });
    RewritePatternSet unused(&getContext());
    linalg::populateEraseUnusedOperandsAndResultsPatterns(unused);
    (void)applyOpPatternsGreedily(ops, std::move(unused));
    generalize();
  }
};

struct RestoreElementwise final
    : rmsnorm::impl::RestoreElementwiseBase<RestoreElementwise> {
  using RestoreElementwiseBase::RestoreElementwiseBase;

  void runOnOperation() override {
    SmallVector<linalg::GenericOp> ops;
    SmallVector<tensor::InsertSliceOp> insertions;
    DenseSet<Operation *> marked;
    getOperation()->walk([&](Operation *op) {
      if (!op->removeAttr(RMSNormDialect::kElementwiseAttrName))
        return;
      if (auto insertion = dyn_cast<tensor::InsertSliceOp>(op)) {
        insertions.push_back(insertion);
        marked.insert(op);
      } else if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
        ops.push_back(generic);
      }
    });
    IRRewriter rewriter(&getContext());
    llvm::erase_if(insertions, [&](tensor::InsertSliceOp insertion) {
      return llvm::any_of(insertion->getUses(), [&](OpOperand &use) {
        auto next = dyn_cast<tensor::InsertSliceOp>(use.getOwner());
        return next && marked.contains(next) && &use == &next.getDestMutable();
      });
    });
    for (tensor::InsertSliceOp last : insertions) {
      if (auto fill = last.getDest().getDefiningOp<linalg::FillOp>())
        restorePad(rewriter, last, fill);
      else
        restoreConcat(rewriter, last, marked);
    }
    for (linalg::GenericOp op : ops)
      restoreElementwise(rewriter, op);
  }
};
} // namespace
