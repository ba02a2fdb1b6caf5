// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ToIntervals.cpp - rmsnorm-to-intervals ----------------------------===//

#include "RMSNorm/Conversion/Passes.h"

#include "IntervalBuilder.h"
#include "RMSNorm/IR/ElementOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SmallVectorExtras.h"

#include <cmath>
#include <complex>

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_TOINTERVALS
#include "RMSNorm/Conversion/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

static bool isData(Type type) { return isa<FloatType, IntegerType>(type); }

namespace {
/// Rewrites a module's functions. Until all is done, intervals of scalars stand
/// beside the old values, whose types are still needed.
class IntervalRewriter {
public:
  explicit IntervalRewriter(ModuleOp module)
      : module(module), b(module), interval(b.interval) {}
  LogicalResult run();

private:
  Type convert(Type type) const;
  void convertTypes(Operation *op);
  void convertGlobal(memref::GlobalOp global);
  bool isOfData(Operation *op) const;
  LogicalResult rewrite(Operation *op);
  Value evaluate(Operation *op);
  void enterGeneric(linalg::GenericOp op);
  void enterReduction(linalg::GenericOp op);
  SmallVector<Value> clampIndices(memref::LoadOp load);
  Value getDepth(linalg::GenericOp op, unsigned termsOfIteration);
  void updateInPlace(Value buffer, function_ref<Value(Value)> update);

  /// The interval of a scalar, made where it is no data but a size or such.
  Value get(Value value);

  ModuleOp module;
  IntervalBuilder b;
  Type interval;
  DenseMap<Value, Value> intervals;
  SmallVector<Operation *> old;
  SmallVector<BlockArgument> oldArguments;
  struct Sum {
    unsigned operand; // which one is the sum so far
    Value depth;
  };
  DenseMap<Operation *, Sum> sums;
  DenseSet<Operation *> products;
};
} // namespace

Type IntervalRewriter::convert(Type type) const {
  if (auto buffer = dyn_cast<MemRefType>(type))
    if (isData(buffer.getElementType()))
      return MemRefType(MemRefType::Builder(buffer).setElementType(interval));
  return type;
}

void IntervalRewriter::convertTypes(Operation *op) {
  auto convertAll = [&](ValueRange values) {
    for (Value value : values)
      value.setType(convert(value.getType()));
  };
  convertAll(op->getResults());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      convertAll(block.getArguments());
  if (auto function = dyn_cast<func::FuncOp>(op)) {
    auto converted = [&](ArrayRef<Type> types) {
      return llvm::map_to_vector(types, [&](Type t) { return convert(t); });
    };
    function.setType(b.getFunctionType(converted(function.getArgumentTypes()),
                                       converted(function.getResultTypes())));
  }
}

void IntervalRewriter::convertGlobal(memref::GlobalOp global) {
  auto value =
      dyn_cast_or_null<DenseElementsAttr>(global.getInitialValueAttr());
  if (!value || !isData(value.getElementType()))
    return;
  SmallVector<std::complex<double>> points;
  if (isa<FloatType>(value.getElementType()))
    for (const APFloat &element : value.getValues<APFloat>())
      points.emplace_back(element.convertToDouble(), element.convertToDouble());
  else
    for (const APInt &element : value.getValues<APInt>())
      points.emplace_back(element.getSExtValue(), element.getSExtValue());
  global.setTypeAttr(TypeAttr::get(convert(global.getType())));
  global.setInitialValueAttr(
      DenseElementsAttr::get(cast<ShapedType>(value.getType().clone(interval)),
                             ArrayRef<std::complex<double>>(points)));
}

Value IntervalRewriter::get(Value value) {
  if (Value known = intervals.lookup(value))
    return known;
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointAfterValue(value);
  FloatAttr constant;
  Value end;
  if (matchPattern(value, m_Constant(&constant)))
    end = b.number(constant.getValue().convertToDouble());
  else if (value.getType().isInteger(1))
    end = arith::UIToFPOp::create(b, b.getF64Type(), value);
  else
    end = arith::SIToFPOp::create(b, b.getF64Type(), value);
  return intervals[value] = complex::CreateOp::create(b, interval, end, end);
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// See the pass's description.
static double getDepthOf(double terms) { return 8 + std::sqrt(terms); }

Value IntervalRewriter::getDepth(linalg::GenericOp op,
                                 unsigned termsOfIteration) {
  double known = termsOfIteration;
  Value terms;
  SmallVector<Range> ranges = cast<linalg::LinalgOp>(op.getOperation())
                                  .createLoopRanges(b, op.getLoc());
  for (auto [range, kind] : llvm::zip(ranges, op.getIteratorTypesArray())) {
    if (kind != utils::IteratorType::reduction)
      continue;
    if (std::optional<int64_t> size = getConstantIntValue(range.size)) {
      known *= double(*size);
      continue;
    }
    Value size = getValueOrCreateConstantIndexOp(b, op.getLoc(), range.size);
    size = arith::IndexCastOp::create(b, b.getI64Type(), size);
    size = arith::SIToFPOp::create(b, b.getF64Type(), size);
    terms = terms ? arith::MulFOp::create(b, terms, size).getResult() : size;
  }
  if (!terms)
    return b.number(getDepthOf(known));
  terms = arith::MulFOp::create(b, terms, b.number(known));
  Value root = math::SqrtOp::create(b, terms);
  return arith::AddFOp::create(b, root, b.number(getDepthOf(0)));
}

/// Whether the op that writes `buffer` last before `op` fills it with a
/// constant.
static bool isFilledBefore(Operation *op, Value buffer) {
  while ((op = op->getPrevNode()))
    if (auto other = dyn_cast<linalg::LinalgOp>(op))
      if (llvm::is_contained(other.getDpsInits(), buffer))
        return isa<linalg::FillOp>(op);
  return false;
}

void IntervalRewriter::updateInPlace(Value buffer,
                                     function_ref<Value(Value)> update) {
  int64_t rank = cast<MemRefType>(buffer.getType()).getRank();
  SmallVector<utils::IteratorType> parallel(rank,
                                            utils::IteratorType::parallel);
  linalg::GenericOp::create(
      b, TypeRange(), ValueRange(), buffer, b.getMultiDimIdentityMap(rank),
      parallel, [&](OpBuilder &nested, Location loc, ValueRange arguments) {
        OpBuilder::InsertionGuard guard(b);
        b.restoreInsertionPoint(nested.saveInsertionPoint());
        linalg::YieldOp::create(b, update(arguments[0]));
      });
}

/// Finds the values that are added to, or multiplied into, the elements of each
/// output.
void IntervalRewriter::enterReduction(linalg::GenericOp op) {
  for (OpOperand &init : op.getDpsInitsMutable()) {
    SmallVector<Value> partial{op.getMatchingBlockArgument(&init)};
    SmallVector<Operation *> additions;
    for (unsigned i = 0; i < partial.size(); ++i)
      for (OpOperand &use : partial[i].getUses()) {
        Operation *user = use.getOwner();
        unsigned operand = use.getOperandNumber();
        if (isa<arith::MulFOp>(user)) {
          products.insert(user);
        } else if (isa<arith::AddFOp>(user) ||
                   (isa<arith::SubFOp>(user) && operand == 0) ||
                   (isa<math::FmaOp>(user) && operand == 2)) {
          additions.push_back(user);
          sums[user].operand = operand;
        } else {
          continue;
        }
        if (!llvm::is_contained(partial, user->getResult(0)))
          partial.push_back(user->getResult(0));
      }
    Type type = partial[0].getType();
    OpBuilder::InsertionGuard guard(b);
    if (additions.empty()) {
      b.setInsertionPointAfter(op);
      if (partial.size() > 1 && type.getIntOrFloatBitWidth() < 32)
        updateInPlace(init.get(),
                      [&](Value value) { return b.round(value, type); });
      continue;
    }
    b.setInsertionPoint(op);
    Value depth = getDepth(op, additions.size());
    for (Operation *addition : additions)
      sums[addition].depth = depth;
    if (!isFilledBefore(op, init.get()))
      updateInPlace(init.get(), [&](Value value) {
        return b.call("sum_begin", {value, depth});
      });
    b.setInsertionPointAfter(op);
    updateInPlace(init.get(), [&](Value value) {
      return b.round(b.call("sum_finish", {value, depth}), type);
    });
  }
}

void IntervalRewriter::enterGeneric(linalg::GenericOp op) {
  if (op.getNumReductionLoops() != 0)
    enterReduction(op);
  for (OpOperand &operand : op->getOpOperands())
    if (isData(operand.get().getType()))
      operand.set(get(operand.get()));
  // Added after the old ones, which go in the end.
  Block &body = *op.getBody();
  for (BlockArgument argument : llvm::to_vector(body.getArguments())) {
    intervals[argument] = body.addArgument(interval, argument.getLoc());
    oldArguments.push_back(argument);
  }
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

bool IntervalRewriter::isOfData(Operation *op) const {
  auto isFloat = [](Type type) { return isa<FloatType>(type); };
  return llvm::any_of(op->getOperandTypes(), isFloat) ||
         llvm::any_of(op->getResultTypes(), isFloat) ||
         llvm::any_of(op->getOperands(), [&](Value operand) {
           return intervals.contains(operand) && isData(operand.getType());
         });
}

Value IntervalRewriter::evaluate(Operation *op) {
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    if (!isData(operand.getType()))
      return Value();
    operands.push_back(get(operand));
  }
  if (products.contains(op))
    return b.call("factor", operands);
  auto it = sums.find(op);
  if (it == sums.end()) {
    Value result = b.evaluate(op, operands);
    return result ? b.round(result, op->getResult(0).getType()) : result;
  }
  auto [operand, depth] = it->second;
  Value term = isa<math::FmaOp>(op) ? b.call("mul", {operands[0], operands[1]})
                                    : operands[1 - operand];
  if (isa<arith::SubFOp>(op))
    term = b.call("neg", term);
  return b.call("sum", {operands[operand], term, depth});
}

/// Where `load` reads. An index that is not there is undefined behaviour, which
/// the simulator finds if the kernel has it: here any element serves.
SmallVector<Value> IntervalRewriter::clampIndices(memref::LoadOp load) {
  SmallVector<Value> indices(load.getIndices());
  for (auto [dim, index] : llvm::enumerate(indices)) {
    if (index.getDefiningOp<linalg::IndexOp>())
      continue;
    Value last = arith::SubIOp::create(
        b, memref::DimOp::create(b, load.getMemRef(), dim),
        arith::ConstantIndexOp::create(b, 1));
    index = arith::MaxSIOp::create(b, arith::MinSIOp::create(b, index, last),
                                   arith::ConstantIndexOp::create(b, 0));
  }
  return indices;
}

LogicalResult IntervalRewriter::rewrite(Operation *op) {
  b.setLoc(op->getLoc());
  b.setInsertionPoint(op);
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    enterGeneric(generic);
    return success();
  }
  if (auto load = dyn_cast<memref::LoadOp>(op);
      load && isData(load.getType())) {
    intervals[load.getResult()] =
        memref::LoadOp::create(b, load.getMemRef(), clampIndices(load));
    old.push_back(op);
    return success();
  }
  // Into buffers of intervals go constants, too.
  if (isa<linalg::YieldOp, memref::StoreOp>(op)) {
    for (OpOperand &operand : op->getOpOperands())
      if (isData(operand.get().getType()))
        operand.set(get(operand.get()));
    return success();
  }
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    linalg::FillOp::create(b, get(fill.getInputs()[0]), fill.getOutputs()[0]);
    old.push_back(op);
    return success();
  }
  if (op->hasTrait<OpTrait::ConstantLike>() || !isOfData(op))
    return success();
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op)) {
    // The index of a gather must be certain.
    Value index = complex::ReOp::create(b, get(op->getOperand(0)));
    index = arith::FPToSIOp::create(b, b.getI64Type(), index);
    op->getResult(0).replaceAllUsesWith(
        arith::IndexCastOp::create(b, b.getIndexType(), index));
    old.push_back(op);
    return success();
  }
  if (isa<arith::ArithDialect, math::MathDialect>(op->getDialect()))
    if (std::string reason = whyNotComputable(op); !reason.empty())
      return op->emitOpError(reason);
  Value result = evaluate(op);
  if (!result)
    return op->emitOpError("is nothing that the oracle has a rule for: what it "
                           "computes cannot be checked");
  intervals[op->getResult(0)] = result;
  old.push_back(op);
  return success();
}

LogicalResult IntervalRewriter::run() {
  IRRewriter rewriter(module.getContext());
  SmallVector<linalg::LinalgOp> named;
  module.walk([&](linalg::LinalgOp op) {
    if (!isa<linalg::GenericOp, linalg::FillOp>(op))
      named.push_back(op);
  });
  for (linalg::LinalgOp op : named) {
    rewriter.setInsertionPoint(op);
    if (failed(linalg::generalizeNamedOp(rewriter, op)))
      return op.emitOpError("expected an op that is a linalg.generic with a "
                            "name");
  }
  SmallVector<Operation *> ops;
  module.walk<WalkOrder::PreOrder>([&](Operation *op) { ops.push_back(op); });
  for (Operation *op : ops) {
    convertTypes(op);
    if (auto global = dyn_cast<memref::GlobalOp>(op))
      convertGlobal(global);
  }
  for (Operation *op : ops)
    if (failed(rewrite(op)))
      return failure();
  for (Operation *op : llvm::reverse(old))
    op->erase();
  for (BlockArgument argument : llvm::reverse(oldArguments))
    argument.getOwner()->eraseArgument(argument.getArgNumber());
  return success();
}

namespace {
struct ToIntervals final : rmsnorm::impl::ToIntervalsBase<ToIntervals> {
  using ToIntervalsBase::ToIntervalsBase;

  void runOnOperation() override {
    if (failed(IntervalRewriter(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
