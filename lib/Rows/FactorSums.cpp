// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FactorSums.cpp - rmsnorm-factor-sums ------------------------------===//

#include "RMSNorm/IR/FloatRange.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/IR/TileTypes.h"
#include "RMSNorm/Rows/Passes.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/MathExtras.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_FACTORSUMS
#include "RMSNorm/Rows/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// The per-row value that all columns of `value` have, or null.
static Value getRowFactor(Value value) {
  auto broadcast = value.getDefiningOp<vector::BroadcastOp>();
  if (!broadcast)
    return {};
  auto type = dyn_cast<VectorType>(broadcast.getSourceType());
  return type && !isPerColumn(type) ? broadcast.getSource() : Value();
}

/// Whether `value` is the extension of elements of 16 bits, weighted or not.
static bool hasNarrowElements(Value value) {
  if (auto product = value.getDefiningOp<arith::MulFOp>())
    return hasNarrowElements(product.getLhs()) ||
           hasNarrowElements(product.getRhs());
  auto extension = value.getDefiningOp<arith::ExtFOp>();
  return extension && getElementTypeOrSelf(extension.getIn().getType())
                              .getIntOrFloatBitWidth() == 16;
}

/// Moves `op` after `place` if it is not needed ahead of it, so that it is
/// computed where it is used.
static void sink(RewriterBase &rewriter, Operation *op, Operation *place) {
  if (op->use_empty())
    rewriter.eraseOp(op);
  else if (llvm::all_of(op->getUsers(), [&](Operation *user) {
             return user->getBlock() == place->getBlock() &&
                    place->isBeforeInBlock(user);
           }))
    rewriter.moveOpAfter(op, place);
}

/// Whether `value` is made of constants and elements of at most 16 bits by
/// additions and multiplications.
static bool isOfNarrowElements(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (auto extension = dyn_cast<arith::ExtFOp>(op))
    return getElementTypeOrSelf(extension.getIn().getType())
               .getIntOrFloatBitWidth() <= 16;
  return op->hasTrait<OpTrait::ConstantLike>() ||
         (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp>(op) &&
          llvm::all_of(op->getOperands(), isOfNarrowElements));
}

namespace {
/// A product without one of its factors.
struct RowFactor {
  Value row;
  /// From the outside inwards: the other factor of each product on the way.
  SmallVector<Value, 2> kept;
  Value rest;
};
} // namespace

/// Looks for a row factor in `value` and sets `found`.
static bool findRowFactor(Value value, RowFactor &found) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product || !getElementTypeOrSelf(product.getType()).isF32())
    return false;
  for (unsigned side : {0, 1}) {
    if ((found.row = getRowFactor(product->getOperand(side)))) {
      found.rest = product->getOperand(1 - side);
      return true;
    }
  }
  for (unsigned side : {0, 1}) {
    found.kept.push_back(product->getOperand(1 - side));
    if (findRowFactor(product->getOperand(side), found))
      return true;
    found.kept.pop_back();
  }
  return false;
}

/// The last row_reduce ahead of `place` that `value` depends on, or null.
static RowReduceOp getReduction(Value value, Operation *place) {
  llvm::SetVector<Operation *> slice;
  BackwardSliceOptions options;
  options.inclusive = true;
  (void)getBackwardSlice(value, &slice, options);
  RowReduceOp last;
  for (Operation *op : slice)
    if (auto reduce = dyn_cast<RowReduceOp>(op);
        reduce && reduce->getBlock() == place->getBlock() &&
        (!last || last->isBeforeInBlock(reduce)))
      last = reduce;
  return last;
}

/// Moves `op` ahead of `place`, with its operands: nothing that a tile loads is
/// stored before it.
static void hoist(RewriterBase &rewriter, Operation *op, Operation *place) {
  if (!op || op->getBlock() != place->getBlock() || op->isBeforeInBlock(place))
    return;
  for (Value operand : op->getOperands())
    hoist(rewriter, operand.getDefiningOp(), place);
  rewriter.moveOpBefore(op, place);
}

/// max(|a * r * b|) of a row or of groups of its columns, to be max(|a * b|) *
/// |r|, so that it shares a traversal with the reduction that r is computed
/// from.
static void factorMaximum(RewriterBase &rewriter, OpOperand &input,
                          ReduceKind kind, Value maximum) {
  if (kind != ReduceKind::maximumf && kind != ReduceKind::maxnumf)
    return;
  Operation *op = input.getOwner();
  auto size = input.get().getDefiningOp<math::AbsFOp>();
  RowFactor found;
  if (!size || !findRowFactor(size.getOperand(), found))
    return;
  // As for sums: of f32 the product of the others may leave its range where
  // that with the factor does not.
  if (!found.kept.empty() && !(isOfNarrowElements(found.rest) &&
                               llvm::all_of(found.kept, isOfNarrowElements)))
    return;
  ImplicitLocOpBuilder b(op->getLoc(), rewriter);
  b.setInsertionPoint(op);
  Value rest = found.rest;
  for (Value other : llvm::reverse(found.kept))
    rest = arith::MulFOp::create(b, rest, other);
  rewriter.modifyOpInPlace(
      op, [&] { input.set(math::AbsFOp::create(b, rest).getResult()); });
  b.setInsertionPointAfter(op);
  auto spread = [&](Value row, Type type) -> Value {
    return row.getType() == type
               ? row
               : vector::BroadcastOp::create(b, type, row).getResult();
  };
  // A division by the maximum finds it among the elements, and need not compute
  // the product again.
  Value value = size.getOperand();
  if (!found.kept.empty() &&
      llvm::all_of(value.getUsers(), [&](Operation *user) {
        return user == size || (user->getBlock() == op->getBlock() &&
                                op->isBeforeInBlock(user));
      }))
    rewriter.replaceAllUsesExcept(
        value,
        arith::MulFOp::create(b, rest, spread(found.row, value.getType())),
        size);
  Value factor = math::AbsFOp::create(b, found.row);
  auto result =
      arith::MulFOp::create(b, maximum, spread(factor, maximum.getType()));
  rewriter.replaceAllUsesExcept(maximum, result, result);
  if (isa<GroupReduceOp>(op))
    if (RowReduceOp reduce = getReduction(found.row, op))
      hoist(rewriter, op, reduce);
}

/// sum(a * (b * r)), to be sum(a * b) * r.
static void factor(RewriterBase &rewriter, RowReduceOp op, unsigned number) {
  auto kind = cast<ReduceKindAttr>(op.getKinds()[number]).getValue();
  auto product = op.getInputs()[number].getDefiningOp<arith::MulFOp>();
  if (kind != ReduceKind::add || !product ||
      !getElementTypeOrSelf(product.getType()).isF32())
    return;
  int terms = llvm::Log2_64_Ceil(getNumColumns(product.getType()));
  for (unsigned side : {0, 1}) {
    Value a = product->getOperand(1 - side);
    auto scaled = product->getOperand(side).getDefiningOp<arith::MulFOp>();
    if (!scaled)
      continue;
    for (unsigned factorSide : {0, 1}) {
      Value b = scaled->getOperand(1 - factorSide);
      Value row = getRowFactor(scaled->getOperand(factorSide));
      if (!row)
        continue;
      // bf16 would pay with one more multiply for each element, and registers
      // for it, for values that no network has.
      FloatRange range = getFloatRange(a) * getFloatRange(b);
      if (!(hasNarrowElements(a) && hasNarrowElements(b)) &&
          (!range.isPrecise() || range.bound + terms > FloatRange::most))
        continue;
      rewriter.setInsertionPoint(op);
      Value rest = arith::MulFOp::create(rewriter, product.getLoc(), a, b);
      op.getInputsMutable()[number].set(rest);
      rewriter.setInsertionPointAfter(op);
      Value sum = op.getResult(number);
      auto result = arith::MulFOp::create(rewriter, op.getLoc(), sum, row);
      rewriter.replaceAllUsesExcept(sum, result, result);
      if (product.use_empty())
        rewriter.eraseOp(product);
      // The factor first, as it was.
      Operation *broadcast = scaled->getOperand(factorSide).getDefiningOp();
      sink(rewriter, scaled, result);
      sink(rewriter, broadcast, result);
      return;
    }
  }
}

namespace {
struct FactorSums final : rmsnorm::impl::FactorSumsBase<FactorSums> {
  using FactorSumsBase::FactorSumsBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](RowReduceOp op) {
      for (unsigned number = 0; number < op.getNumResults(); ++number) {
        factor(rewriter, op, number);
        auto kind = cast<ReduceKindAttr>(op.getKinds()[number]).getValue();
        factorMaximum(rewriter, op->getOpOperand(number), kind,
                      op.getResult(number));
      }
    });
    SmallVector<GroupReduceOp> groups;
    getOperation()->walk([&](GroupReduceOp op) { groups.push_back(op); });
    for (GroupReduceOp op : groups)
      factorMaximum(rewriter, op.getInputMutable(), op.getKind(),
                    op.getResult());
  }
};
} // namespace
