// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- VectorizeLinalg.cpp - the tile program of a linalg op -------------===//

#include "VectorizeLinalg.h"
#include "TileProgram.h"

#include "RMSNorm/IR/TileTypes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// Vectorizes the payload of one op.
class PayloadVectorizer {
public:
  PayloadVectorizer(OpBuilder &builder, linalg::LinalgOp op, RowValues &values)
      : builder(builder), op(op), values(values), loc(op.getLoc()) {}

  LogicalResult run();

private:
  LogicalResult bindOperands();
  FailureOr<Value> getVector(Value payloadValue);
  LogicalResult gather(tensor::ExtractOp extract);
  Value multiplyByReciprocal(Operation &op, ArrayRef<int64_t> shape);
  LogicalResult vectorize(Operation &payload);
  Value broadcastTo(Location loc, Value value, ArrayRef<int64_t> shape);
  Value toVector(Value payloadValue, ArrayRef<int64_t> shape);
  FailureOr<Value> reduce(OpOperand &init);
  Value extend(Value value, Type elementType);

  OpBuilder &builder;
  linalg::LinalgOp op;
  RowValues &values;
  Location loc;
  /// The vector of each block argument and payload result. A value that is
  /// missing is a scalar from outside.
  llvm::DenseMap<Value, Value> vectors;
  /// Block arguments whose operand is one value a column and not loaded yet.
  llvm::DenseMap<Value, OpOperand *> columns;
  /// The ops that combine with an accumulator.
  llvm::SmallPtrSet<Operation *, 2> combiners;
  /// The shape of a value that varies along the row.
  SmallVector<int64_t> rowShape;
};
} // namespace

/// Widens `shape` to that of a value that is computed with one of `other`.
static void widen(SmallVectorImpl<int64_t> &shape, ArrayRef<int64_t> other) {
  if (shape.empty())
    shape.assign(other.begin(), other.end());
  for (auto [size, own] : llvm::zip_equal(shape, other))
    size = std::max(size, own);
}

/// `value` as a vector with the digits `shape`: what it lacks is repeated.
Value PayloadVectorizer::broadcastTo(Location loc, Value value,
                                     ArrayRef<int64_t> shape) {
  auto type = cast<VectorType>(value.getType());
  if (getColumnShape(type) == shape)
    return value;
  return vector::BroadcastOp::create(
      builder, loc, getTileType(1, shape, type.getElementType()), value);
}

/// The vector of a payload value, null for a scalar from outside. Loads a
/// column where it is used first.
FailureOr<Value> PayloadVectorizer::getVector(Value value) {
  if (OpOperand *operand = columns.lookup(value)) {
    FailureOr<Value> vector = values.getVector(*operand);
    if (failed(vector))
      return failure();
    columns.erase(value);
    vectors[value] = *vector;
  }
  return vectors.lookup(value);
}

/// `value` as a vector with the digits `shape`; a scalar is repeated.
Value PayloadVectorizer::toVector(Value value, ArrayRef<int64_t> shape) {
  if (Value vector = vectors.lookup(value))
    return broadcastTo(loc, vector, shape);
  const VectorType type = getTileType(1, shape, value.getType());
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return arith::ConstantOp::create(builder, loc,
                                     DenseElementsAttr::get(type, constant));
  return vector::BroadcastOp::create(builder, loc, type, value);
}

LogicalResult PayloadVectorizer::bindOperands() {
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (!isa<RankedTensorType>(operand.get().getType())) {
      // A scalar operand: from outside, like a captured one.
      argument.replaceAllUsesWith(operand.get());
      continue;
    }
    FailureOr<SmallVector<int64_t>> shape = values.getShape(operand);
    if (failed(shape))
      return failure();
    widen(rowShape, *shape);
    if (!op.payloadUsesValueFromOperand(&operand))
      continue;
    if (values.isPerColumn(operand)) {
      columns[argument] = &operand;
      continue;
    }
    FailureOr<Value> vector = values.getVector(operand);
    if (failed(vector))
      return failure();
    vectors[argument] = *vector;
  }
  return success();
}

/// A division of columns by a value of their row or group, as a product with
/// its reciprocal, if `op` is one and allows it.
Value PayloadVectorizer::multiplyByReciprocal(Operation &op,
                                              ArrayRef<int64_t> shape) {
  auto division = dyn_cast<arith::DivFOp>(op);
  if (!division ||
      !bitEnumContainsAll(division.getFastmath(), arith::FastMathFlags::arcp))
    return {};
  Value divisor = *getVector(division.getRhs());
  if (!divisor || getColumnShape(cast<VectorType>(divisor.getType())) == shape)
    return {};
  Value one = createScalarOrSplatConstant(
      builder, op.getLoc(), divisor.getType(),
      APFloat::getOne(
          cast<FloatType>(getElementTypeOrSelf(divisor)).getFloatSemantics()));
  Value reciprocal = arith::DivFOp::create(builder, op.getLoc(), one, divisor);
  return arith::MulFOp::create(builder, op.getLoc(),
                               toVector(division.getLhs(), shape),
                               broadcastTo(op.getLoc(), reciprocal, shape));
}

/// The row of a table that `extract` reads columns, or one element, of.
LogicalResult PayloadVectorizer::gather(tensor::ExtractOp extract) {
  auto getIndex = [&](Value index) -> FailureOr<Value> {
    FailureOr<Value> vector = getVector(index);
    if (failed(vector) || *vector)
      return vector;
    return toVector(index, SmallVector<int64_t>(rowShape.size(), 1));
  };
  FailureOr<Value> vector = values.gather(extract, getIndex);
  if (failed(vector))
    return failure();
  vectors[extract.getResult()] = *vector;
  return success();
}

LogicalResult PayloadVectorizer::vectorize(Operation &payload) {
  if (combiners.contains(&payload) || values.isIndexing(payload))
    return success();
  if (auto extract = dyn_cast<tensor::ExtractOp>(payload))
    return gather(extract);
  // A constant is taken as a scalar from outside.
  if (payload.hasTrait<OpTrait::ConstantLike>())
    return success();
  // What does not vary along the row is computed once for it.
  SmallVector<int64_t> shape(rowShape.size(), 1);
  for (Value operand : payload.getOperands()) {
    FailureOr<Value> vector = getVector(operand);
    if (failed(vector))
      return failure();
    if (*vector)
      widen(shape, getColumnShape(cast<VectorType>(vector->getType())));
  }
  if (Value product = multiplyByReciprocal(payload, shape)) {
    vectors[payload.getResult(0)] = product;
    return success();
  }
  SmallVector<Value> operands;
  for (Value operand : payload.getOperands())
    operands.push_back(toVector(operand, shape));
  Operation *vectorOp = builder.create(
      payload.getLoc(), payload.getName().getIdentifier(), operands,
      getTileType(1, shape, payload.getResult(0).getType()),
      payload.getAttrs());
  vectors[payload.getResult(0)] = vectorOp->getResult(0);
  return success();
}

static bool isIdentity(Value vector, ReduceKind kind) {
  DenseElementsAttr constant;
  return matchPattern(vector, m_Constant(&constant)) && constant.isSplat() &&
         isIdentity(kind, constant.getSplatValue<APFloat>());
}

Value PayloadVectorizer::extend(Value value, Type elementType) {
  auto type = cast<VectorType>(value.getType());
  if (type.getElementType() == elementType)
    return value;
  if (elementType.isF32())
    return arith::ExtFOp::create(builder, loc, type.clone(elementType), value);
  return arith::TruncFOp::create(builder, loc, type.clone(elementType), value);
}

/// The reduction of `init` over the row, 1x1; over rows, the value of this one,
/// which is that of its columns where they are reduced, too.
FailureOr<Value> PayloadVectorizer::reduce(OpOperand &init) {
  BlockArgument accumulator = op.getMatchingBlockArgument(&init);
  Operation *combiner = *accumulator.getUsers().begin();
  ReduceKind kind = *getReduceKind(combiner);
  Value contribution =
      combiner->getOperand(combiner->getOperand(0) == accumulator ? 1 : 0);
  if (contribution == accumulator)
    return op.emitOpError("expected a reduction to combine something with its "
                          "accumulator");
  // Sums of narrow types accumulate in f32 and are rounded once.
  if (failed(getVector(contribution)))
    return failure();
  Value input = extend(toVector(contribution, rowShape), builder.getF32Type());
  auto kinds =
      builder.getArrayAttr(ReduceKindAttr::get(builder.getContext(), kind));
  auto type = cast<VectorType>(input.getType());
  Value result = input;
  FailureOr<SmallVector<int64_t>> groups = values.getShape(init);
  if (failed(groups))
    return failure();
  const bool isValue = llvm::all_of(*groups, [](int64_t n) { return n == 1; });
  // Of loops of one iteration, and of rows, nothing is reduced.
  const bool isSame =
      getColumnShape(type) == ArrayRef(*groups) &&
      (!isValue || values.isOfOneValue(op) || values.sumsRows(op));
  type = getTileType(1, *groups, builder.getF32Type());
  if (!isSame)
    result =
        isValue
            ? RowReduceOp::create(builder, loc, type, kinds, input).getResult(0)
            : Value(GroupReduceOp::create(builder, loc, type, kind, input));
  FailureOr<Value> start = getVector(accumulator);
  if (failed(start))
    return failure();
  if (!isIdentity(*start, kind)) {
    Value startF32 =
        broadcastTo(loc, extend(*start, builder.getF32Type()), *groups);
    result =
        builder
            .create(combiner->getLoc(), combiner->getName().getIdentifier(),
                    {startF32, result}, type, {})
            ->getResult(0);
  }
  return extend(result, accumulator.getType());
}

LogicalResult PayloadVectorizer::run() {
  if (failed(bindOperands()))
    return failure();
  bool reduces = op.getNumReductionLoops() > 0;
  if (reduces)
    for (OpOperand &init : op.getDpsInitsMutable())
      combiners.insert(getCombiner(op, init));
  for (Operation &payload : op.getBlock()->without_terminator())
    if (failed(vectorize(payload)))
      return failure();
  for (OpOperand &init : op.getDpsInitsMutable()) {
    OpResult result = op.getTiedOpResult(&init);
    if (reduces) {
      FailureOr<Value> reduced = reduce(init);
      if (failed(reduced))
        return failure();
      values.setVector(result, *reduced);
      continue;
    }
    FailureOr<SmallVector<int64_t>> shape = values.getShape(init);
    if (failed(shape))
      return failure();
    if (rowShape.front() == kDynamicColumns && shape->front() != 1)
      shape = rowShape;
    Value yielded =
        op.getBlock()->getTerminator()->getOperand(result.getResultNumber());
    if (failed(getVector(yielded)))
      return failure();
    values.setVector(result, toVector(yielded, *shape));
  }
  return success();
}

LogicalResult rmsnorm::vectorizeLinalg(OpBuilder &builder, linalg::LinalgOp op,
                                       RowValues &values) {
  return PayloadVectorizer(builder, op, values).run();
}
