// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AddMagnitudes.cpp - rmsnorm-add-magnitudes ------------------------===//

#include "RMSNorm/Conversion/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_ADDMAGNITUDES
#include "RMSNorm/Conversion/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// Computes magnitudes beside the values of a generic's body, and yields those.
class BodyRewriter {
public:
  /// `written`: buffers that hold what ops before have computed.
  BodyRewriter(linalg::GenericOp op, const DenseSet<Value> &written)
      : op(op), builder(op.getContext()), block(*op.getBody()),
        written(written) {}
  void run();

private:
  Value absolute(Location loc, Value value) {
    return math::AbsFOp::create(builder, loc, value);
  }
  Value getMagnitude(Value value);
  Value getMagnitude(Operation *op);

  linalg::GenericOp op;
  OpBuilder builder;
  Block &block;
  const DenseSet<Value> &written;
  DenseMap<Value, Value> magnitudes;
  /// Values that are computed without an error, of which the body has the value
  /// itself, not only the magnitude: elements of arguments that are still as
  /// they were given, constants.
  DenseSet<Value> exact;
};
} // namespace

/// The buffer that `value` is a view of.
static Value getBuffer(Value value) {
  while (auto view = value.getDefiningOp<ViewLikeOpInterface>())
    value = view.getViewSource();
  return value;
}

static bool isFloat(Value value) { return isa<FloatType>(value.getType()); }

Value BodyRewriter::getMagnitude(Value value) {
  if (!isFloat(value))
    return value;
  Value &magnitude = magnitudes[value];
  if (!magnitude) { // captured: a constant, a size
    exact.insert(value);
    magnitude = absolute(op.getLoc(), value);
  }
  return magnitude;
}

Value BodyRewriter::getMagnitude(Operation *inner) {
  Location loc = inner->getLoc();
  SmallVector<Value> operands;
  bool allExact = true;
  for (Value operand : inner->getOperands()) {
    operands.push_back(getMagnitude(operand));
    allExact &= exact.contains(operand);
  }
  Value result = inner->getResult(0);
  if (isa<arith::AddFOp, arith::SubFOp>(inner)) {
    // No error yet that the magnitude of an operand would say anything about.
    if (allExact)
      return absolute(loc, result);
    return arith::AddFOp::create(builder, loc, operands[0], operands[1]);
  }
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(inner)) {
    if (isa<BlockArgument>(inner->getOperand(0)))
      exact.insert(result);
    return absolute(loc, result);
  }
  if (isa<arith::ExtFOp>(inner) && allExact)
    exact.insert(result);
  if (isa<arith::NegFOp>(inner))
    return operands[0];
  if (isa<arith::ExtFOp>(inner))
    // A rounding to a type of less range, back in the wide type.
    if (auto rounding = operands[0].getDefiningOp<arith::TruncFOp>())
      if (rounding.getIn().getType() == result.getType())
        return rounding.getIn();
  IRMapping mapping;
  mapping.map(inner->getOperands(), operands);
  return builder.clone(*inner, mapping)->getResult(0);
}

void BodyRewriter::run() {
  SmallVector<Operation *> body;
  for (Operation &inner : block.without_terminator())
    if (inner.getNumResults() == 1 && isFloat(inner.getResult(0)) &&
        !inner.hasTrait<OpTrait::ConstantLike>())
      body.push_back(&inner);
  builder.setInsertionPointToStart(&block);
  for (OpOperand *operand : op.getDpsInputOperands()) {
    BlockArgument element = op.getMatchingBlockArgument(operand);
    if (!isFloat(element))
      continue;
    if (isa<BlockArgument>(operand->get()) && !written.contains(operand->get()))
      exact.insert(element);
    magnitudes[element] = absolute(op.getLoc(), element);
  }
  for (BlockArgument element : op.getRegionOutputArgs())
    magnitudes[element] = element;

  Operation *yield = block.getTerminator();
  builder.setInsertionPoint(yield);
  for (Operation *inner : body)
    magnitudes[inner->getResult(0)] = getMagnitude(inner);
  for (OpOperand &operand : yield->getOpOperands())
    operand.set(getMagnitude(operand.get()));
}

namespace {
struct AddMagnitudes final : rmsnorm::impl::AddMagnitudesBase<AddMagnitudes> {
  using AddMagnitudesBase::AddMagnitudesBase;

  void runOnOperation() override {
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (function->removeAttr(kMagnitudesAttrName))
        functions.push_back(function);
    for (func::FuncOp function : functions)
      if (failed(add(function)))
        return signalPassFailure();
  }

private:
  LogicalResult add(func::FuncOp function) {
    OpBuilder builder(function);
    builder.setInsertionPointAfter(function);
    auto clone = cast<func::FuncOp>(builder.clone(*function));
    clone.setName(getMagnitudesName(function.getName()));
    IRRewriter rewriter(&getContext());
    SmallVector<linalg::LinalgOp> ops;
    clone.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    DenseSet<Value> written;
    for (linalg::LinalgOp op : ops) {
      // Zeros, and a maximum's minus infinity, are where a reduction begins.
      if (isa<linalg::FillOp>(op))
        continue;
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!generic) {
        rewriter.setInsertionPoint(op);
        FailureOr<linalg::GenericOp> made =
            linalg::generalizeNamedOp(rewriter, op);
        if (failed(made))
          return op.emitOpError("expected an op that is a linalg.generic with "
                                "a name");
        generic = *made;
      }
      BodyRewriter(generic, written).run();
      for (OpOperand &init : generic.getDpsInitsMutable())
        written.insert(getBuffer(init.get()));
    }
    return success();
  }
};
} // namespace
