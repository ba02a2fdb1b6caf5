// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- WidenReductions.cpp - rmsnorm-widen-reductions --------------------===//

#include "RMSNorm/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_WIDENREDUCTIONS
#include "RMSNorm/Conversion/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// The op that adds to or multiplies into `op`'s only result, if that is a
/// float reduction narrower than f64 on tensors; null otherwise.
static Operation *getCombiner(linalg::GenericOp op) {
  if (!op.hasPureTensorSemantics() || op.getNumReductionLoops() == 0 ||
      op.getNumDpsInits() != 1)
    return nullptr;
  BlockArgument sum = op.getRegionOutputArgs().front();
  auto type = dyn_cast<FloatType>(sum.getType());
  if (!type || type.getWidth() >= 64 || !sum.hasOneUse())
    return nullptr;
  Operation *combiner = *sum.getUsers().begin();
  Operation *yield = op.getBody()->getTerminator();
  // Maxima and minima are exact in any type.
  if (!isa<arith::AddFOp, arith::MulFOp>(combiner) ||
      yield->getOperand(0) != combiner->getResult(0) ||
      !combiner->getResult(0).hasOneUse())
    return nullptr;
  return combiner;
}

/// `source` converted element by element into `init`.
static Value convert(OpBuilder &builder, Location loc, Value source,
                     Value init) {
  int64_t rank = cast<ShapedType>(init.getType()).getRank();
  AffineMap map = builder.getMultiDimIdentityMap(rank);
  SmallVector<utils::IteratorType> parallel(rank,
                                            utils::IteratorType::parallel);
  auto body = [](OpBuilder &builder, Location loc, ValueRange arguments) {
    auto from = cast<FloatType>(arguments[0].getType());
    auto to = cast<FloatType>(arguments[1].getType());
    Value result =
        from.getWidth() < to.getWidth()
            ? arith::ExtFOp::create(builder, loc, to, arguments[0]).getResult()
            : arith::TruncFOp::create(builder, loc, to, arguments[0])
                  .getResult();
    linalg::YieldOp::create(builder, loc, result);
  };
  return linalg::GenericOp::create(builder, loc, init.getType(), source, init,
                                   ArrayRef<AffineMap>{map, map}, parallel,
                                   body)
      .getResult(0);
}

static void widen(linalg::GenericOp op, Operation *combiner) {
  IRRewriter rewriter(op);
  Location loc = op.getLoc();
  Type f64 = rewriter.getF64Type();
  Value init = op.getDpsInits().front();
  Value empty = tensor::EmptyOp::create(
      rewriter, loc, tensor::getMixedSizes(rewriter, loc, init), f64);
  Value wideInit = convert(rewriter, loc, init, empty);

  IRMapping mapping;
  mapping.map(init, wideInit);
  auto wide = cast<linalg::GenericOp>(rewriter.clone(*op, mapping));
  wide->getResult(0).setType(wideInit.getType());
  BlockArgument sum = wide.getRegionOutputArgs().front();
  sum.setType(f64);
  Operation *wideCombiner = *sum.getUsers().begin();
  rewriter.setInsertionPoint(wideCombiner);
  for (OpOperand &operand : wideCombiner->getOpOperands())
    if (operand.get() != sum)
      operand.set(arith::ExtFOp::create(rewriter, loc, f64, operand.get()));
  wideCombiner->getResult(0).setType(f64);

  rewriter.setInsertionPointAfter(wide);
  rewriter.replaceOp(op, convert(rewriter, loc, wide.getResult(0), init));
}

namespace {
struct WidenReductions final
    : rmsnorm::impl::WidenReductionsBase<WidenReductions> {
  using WidenReductionsBase::WidenReductionsBase;

  void runOnOperation() override {
    // linalg.reduce, linalg.dot and the like are generics with a name.
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> named;
    getOperation()->walk([&](linalg::LinalgOp op) {
      if (!isa<linalg::GenericOp>(op) && op.hasPureTensorSemantics() &&
          op.getNumReductionLoops() != 0)
        named.push_back(op);
    });
    for (linalg::LinalgOp op : named) {
      rewriter.setInsertionPoint(op);
      (void)linalg::generalizeNamedOp(rewriter, op);
    }
    SmallVector<linalg::GenericOp> generics;
    getOperation()->walk([&](linalg::GenericOp op) { generics.push_back(op); });
    for (linalg::GenericOp op : generics)
      if (Operation *combiner = getCombiner(op))
        widen(op, combiner);
  }
};
} // namespace
