// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Tile.cpp - what a thread does for one tile, but along the columns -===//

#include "Tile.h"
#include "ColumnOps.h"

#include "RMSNorm/IR/AccessMap.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

#include <numeric>

using namespace mlir;
using namespace mlir::rmsnorm;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

Value Tile::getScalar(Value value) const {
  if (Value mapped = scalars.lookupOrNull(value))
    return mapped;
  return kernel.getScalar(value);
}

Value Tile::getUniform(Value value) const {
  DenseElementsAttr splat;
  if (matchPattern(value, m_Constant(&splat)) && splat.isSplat()) {
    Type type = kernel.getFragmentType(value.getType());
    TypedAttr attr = splat.getSplatValue<TypedAttr>();
    if (auto vectorType = dyn_cast<VectorType>(type))
      attr = SplatElementsAttr::get(vectorType, attr);
    return arith::ConstantOp::create(kernel.builder, attr);
  }
  return isa<VectorType>(value.getType()) ? Value() : getScalar(value);
}

Value Tile::getFragment(Value value, int64_t row, int64_t vector) const {
  if (Value uniform = getUniform(value))
    return uniform;
  if (kernel.getNumRows(value.getType()) == 1)
    row = 0;
  if (!isPerColumn(value.getType()))
    return kernel.fragments[value][row];
  return kernel.fragments[value][row * kernel.layout.getNumVectors() + vector];
}

void Tile::emitScalars(Block &block) {
  for (Operation &op : block.without_terminator())
    if (op.getNumResults() != 0 &&
        llvm::all_of(op.getResultTypes(),
                     [](Type type) { return type.isIntOrIndexOrFloat(); })) {
      for (Value operand : op.getOperands())
        if (!scalars.contains(operand))
          scalars.map(operand, kernel.getScalar(operand));
      kernel.builder.clone(op, scalars);
    }
}

Value Tile::emitElementwise(Operation *op, function_ref<Value(Value)> get) {
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, get(operand));
  Operation *clone = kernel.builder.clone(*op, mapping);
  clone->getResult(0).setType(
      kernel.getFragmentType(op->getResult(0).getType()));
  return clone->getResult(0);
}

Value Tile::emitStoreValid(TileStoreOp store, int64_t row, Value valid,
                           int64_t count) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  Value live = addresses.getLive(row);
  if (store.getSkipNegative())
    for (Value indices : store.getIndices()) {
      Value isPlace = arith::CmpIOp::create(builder, arith::CmpIPredicate::sge,
                                            getFragment(indices, row, 0),
                                            kernel.emitIndex(0));
      live = live ? arith::AndIOp::create(builder, live, isPlace).getResult()
                  : isPlace;
    }
  if (!live)
    return valid;
  return arith::SelectOp::create(
      builder, live, valid ? valid : kernel.emitI32(count), kernel.emitI32(0));
}

//===----------------------------------------------------------------------===//
// Per-row values, per-column operands
//===----------------------------------------------------------------------===//

void Tile::emitRowOp(Operation *op) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  if (auto store = dyn_cast<TileStoreOp>(op))
    return emitRowStore(store);
  Value result = op->getResult(0);
  SmallVector<Value> rows;
  const int64_t numRows = kernel.getNumRows(result.getType());
  if (auto load = dyn_cast<TileLoadOp>(op)) {
    emitIndexed(load, load);
    auto type = VectorType::get({1}, load.getType().getElementType());
    for (int64_t row = 0; row < numRows; ++row) {
      Value loaded = kernel.emitLoad(load, type, addresses.getOffset(load, row),
                                     kernel.emitI32(0),
                                     /*valid=*/Value(), getElementBytes(load));
      rows.push_back(vector::ExtractOp::create(builder, loaded, int64_t(0)));
    }
  } else if (auto sum = dyn_cast<AccumulateOp>(op)) {
    Value total = kernel.fragments[sum.getDest()].front();
    for (int64_t row = 0; row < kernel.getNumRows(sum.getSource().getType());
         ++row)
      emitAccumulate(kernel, *this, sum, row, total,
                     [&](Value value) { return getFragment(value, row, 0); });
    rows.push_back(total);
  } else if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    for (int64_t row = 0; row < numRows; ++row)
      rows.push_back(getFragment(broadcast.getSource(), row, 0));
  } else {
    for (int64_t row = 0; row < numRows; ++row)
      rows.push_back(emitElementwise(
          op, [&](Value value) { return getFragment(value, row, 0); }));
  }
  kernel.fragments[result] = std::move(rows);
}

template <typename OpTy> void Tile::emitIndexed(OpTy op, Value vector) {
  if (!op.getIndices().empty())
    addresses.emitIndexed(op, cast<VectorType>(vector.getType()),
                          [&](Value indices, int64_t row) {
                            return getFragment(indices, row, 0);
                          });
}

template void Tile::emitIndexed(TileLoadOp, Value);
template void Tile::emitIndexed(TileStoreOp, Value);

/// All threads of the row group hold the value, one writes it.
void Tile::emitRowStore(TileStoreOp store) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  const Threads &threads = kernel.threads;
  Type element = getElementTypeOrSelf(store.getValue().getType());
  Value owner = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                      threads.threadInRow, kernel.emitI32(0));
  if (threads.rank)
    owner = arith::AndIOp::create(
        builder, owner,
        arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, threads.rank,
                              kernel.emitI32(0)));
  emitIndexed(store, store.getValue());
  const int64_t numRows = kernel.getNumRows(store.getValue().getType());
  for (int64_t row = 0; row < numRows; ++row) {
    Value value =
        vector::BroadcastOp::create(builder, VectorType::get({1}, element),
                                    getFragment(store.getValue(), row, 0));
    Value valid = arith::ExtUIOp::create(builder, builder.getI32Type(), owner);
    kernel.emitStore(store, value, addresses.getOffset(store, row),
                     kernel.emitI32(0), emitStoreValid(store, row, valid, 1),
                     getElementBytes(store.getValue()));
  }
}

void Tile::emitHeldLoad(TileLoadOp load) {
  SmallVector<Value> vectors;
  for (int64_t index = 0; index < kernel.getNumVectors(load.getType());
       ++index) {
    const int64_t number = getRowVector(kernel, load.getType(), index);
    VectorPosition position =
        emitPosition(kernel, kernel.threads.firstColumn, number,
                     !kernel.layout.isFull(number), addresses.getColumns());
    vectors.push_back(emitVectorLoad(kernel, load, addresses.getOffset(load, 0),
                                     position, index));
  }
  kernel.fragments[load] = std::move(vectors);
}

//===----------------------------------------------------------------------===//
// Columns and sums
//===----------------------------------------------------------------------===//

Value rmsnorm::emitDigitsValid(Kernel &kernel, int64_t index,
                               function_ref<bool(size_t)> has) {
  Value valid;
  for (auto [number, digit] : llvm::enumerate(kernel.layout.getDigits())) {
    if (!has(number))
      continue;
    const int64_t first =
        kernel.layout.getRegister(index, number) * digit.getStep();
    if (first + digit.getStep() <= digit.size)
      continue;
    Value left = arith::SubIOp::create(
        kernel.builder, kernel.emitI32((digit.size - first) * digit.stride),
        kernel.threads.columns[number]);
    valid =
        valid ? arith::MinSIOp::create(kernel.builder, valid, left).getResult()
              : left;
  }
  return valid;
}

VectorPosition rmsnorm::emitPosition(Kernel &kernel, Value firstColumn,
                                     int64_t index, bool partial,
                                     Value columns) {
  VectorPosition position;
  position.index = index;
  position.column = position.first = firstColumn;
  if (index != 0)
    position.column = kernel.emitColumnSum(
        firstColumn, kernel.emitI32(kernel.layout.getVectorColumn(index)));
  if (!partial)
    return position;
  if (!kernel.layout.isWhole()) {
    position.valid =
        emitDigitsValid(kernel, index, [](size_t) { return true; });
    return position;
  }
  Value end = columns ? columns : kernel.threads.endColumn;
  if (!end)
    end = kernel.emitI32(kernel.layout.getColumns());
  position.valid = arith::SubIOp::create(kernel.builder, end, position.column);
  return position;
}

bool rmsnorm::isZeroOnPadding(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (matchPattern(value, m_AnyZeroFloat()))
    return true;
  if (auto load = dyn_cast<TileLoadOp>(op))
    return load.getKind() != TileKind::row;
  if (isa<SlotLoadOp>(op))
    return true;
  if (auto traverse = dyn_cast<TraverseOp>(op))
    return isPerColumn(value.getType()) &&
           isZeroOnPadding(
               traverse.getYield()
                   .getValues()[cast<OpResult>(value).getResultNumber()]);
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::NegFOp, math::AbsFOp, KeepOp>(
          op))
    return isZeroOnPadding(op->getOperand(0));
  // Both operands: zero times a per-row value may be zero times infinity.
  if (isa<arith::AddFOp, arith::SubFOp, arith::MulFOp, arith::MaximumFOp,
          arith::MinimumFOp>(op))
    return isZeroOnPadding(op->getOperand(0)) &&
           isZeroOnPadding(op->getOperand(1));
  return false;
}

arith::MulFOp rmsnorm::getFusedProduct(Value value) {
  auto product = value.getDefiningOp<arith::MulFOp>();
  if (!product || !product->hasOneUse() || !isPerColumn(product.getType()) ||
      !getElementTypeOrSelf(product.getType()).isF32())
    return {};
  OpOperand &use = *product->use_begin();
  if (auto sum = dyn_cast<AccumulateOp>(use.getOwner()))
    return sum.getKind() == ReduceKind::add ? product : arith::MulFOp();
  auto traverse = dyn_cast<TraverseOp>(use.getOwner()->getParentOp());
  const int64_t index = use.getOperandNumber();
  if (isa<YieldOp>(use.getOwner()) && traverse &&
      index < traverse.getNumReductions() &&
      traverse.getKind(index) == ReduceKind::add && isZeroOnPadding(product))
    return product;
  return {};
}

Value rmsnorm::emitAllLoaded(Kernel &kernel, ArrayRef<Value> fragments) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  Value all;
  for (Value fragment : fragments) {
    Value bits =
        vector::ExtractOp::create(builder, fragment, ArrayRef<int64_t>{0});
    const unsigned width = bits.getType().getIntOrFloatBitWidth();
    bits =
        arith::BitcastOp::create(builder, builder.getIntegerType(width), bits);
    if (width < 32)
      bits = arith::ExtUIOp::create(builder, builder.getI32Type(), bits);
    else if (width > 32)
      bits = arith::TruncIOp::create(builder, builder.getI32Type(), bits);
    all = all ? arith::OrIOp::create(builder, all, bits).getResult() : bits;
  }
  return vector::BroadcastOp::create(
      builder, VectorType::get({1}, builder.getI32Type()), all);
}

Value rmsnorm::emitMasked(Kernel &kernel, Value value, ReduceKind kind,
                          Value valid) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  const int64_t width = cast<VectorType>(value.getType()).getNumElements();
  auto lanesType = VectorType::get({width}, builder.getI32Type());
  SmallVector<int32_t> lanes(width);
  std::iota(lanes.begin(), lanes.end(), 0);
  Value element = arith::ConstantOp::create(
      builder, DenseElementsAttr::get(lanesType, ArrayRef<int32_t>(lanes)));
  Value count = vector::BroadcastOp::create(builder, lanesType, valid);
  Value exists =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::slt, element, count);
  return arith::SelectOp::create(builder, exists, value,
                                 kernel.emitIdentity(kind, value.getType()));
}

/// A row that does not exist leaves the sum as it is: its contribution is
/// selected away, not an operand of it, as zero times infinity would be NaN.
/// Columns that do not exist hold anything and are not stored.
void rmsnorm::emitAccumulate(Kernel &kernel, const Tile &tile, AccumulateOp op,
                             int64_t row, Value &sum,
                             function_ref<Value(Value)> get) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  Location loc = op.getLoc();
  Value next;
  if (arith::MulFOp product = getFusedProduct(op.getSource())) {
    Value rhs = get(product.getRhs());
    next = math::FmaOp::create(builder, loc, get(product.getLhs()), rhs, sum);
  } else {
    next = kernel.emitCombine(op.getKind(), sum, get(op.getSource()));
  }
  if (Value live = tile.addresses.getLive(row))
    next = arith::SelectOp::create(builder, loc, live, next, sum);
  sum = next;
}
