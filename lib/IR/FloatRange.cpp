// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- FloatRange.cpp - what types and constants tell of f32 values ------===//

#include "RMSNorm/IR/FloatRange.h"
#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/IR/TileTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

constexpr FloatRange anything = {-149, FloatRange::most + 1};

static FloatRange getRange(const APFloat &value) {
  if (value.isZero())
    return {0, 0};
  if (!value.isFinite())
    return anything;
  APFloat single = value;
  bool losesInfo;
  single.convert(APFloat::IEEEsingle(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  int exponent = ilogb(single);
  APFloat integer = scalbn(single, 23 - exponent, APFloat::rmTowardZero);
  auto digits = static_cast<uint64_t>(std::abs(integer.convertToDouble()));
  return {exponent - 23 + int(llvm::countr_zero(digits)), exponent + 1};
}

/// `value`, integers that are converted.
static FloatRange getIntegerRange(Value value) {
  APInt mask;
  if (auto andOp = value.getDefiningOp<arith::AndIOp>();
      andOp && matchPattern(andOp.getRhs(), m_ConstantInt(&mask)) &&
      mask.isNonNegative())
    return {0, int(mask.getActiveBits())};
  return {0, int(getElementTypeOrSelf(value).getIntOrFloatBitWidth())};
}

using KnownRanges = llvm::SmallDenseMap<Value, FloatRange>;

static FloatRange getRange(Value value, KnownRanges &known);

static FloatRange computeRange(Value value, KnownRanges &known) {
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(value.getType()));
  if (!type)
    return anything;
  if (type.isF16())
    return {-24, 16};
  Operation *op = value.getDefiningOp();
  DenseElementsAttr constant;
  if (!op)
    return anything;
  if (matchPattern(value, m_Constant(&constant)) && constant.isSplat())
    return getRange(constant.getSplatValue<APFloat>());
  FloatRange range = anything;
  if (isa<arith::SIToFPOp, arith::UIToFPOp>(op) &&
      isa<VectorType>(value.getType())) {
    range = getIntegerRange(op->getOperand(0));
  } else if (isa<arith::ExtFOp, vector::BroadcastOp>(op)) {
    range = getRange(op->getOperand(0), known);
  } else if (auto elements = dyn_cast<vector::FromElementsOp>(op)) {
    range = getRange(elements.getElements().front(), known);
    for (Value element : elements.getElements().drop_front()) {
      FloatRange other = getRange(element, known);
      range = {std::min(range.unit, other.unit),
               std::max(range.bound, other.bound)};
    }
  } else if (isa<arith::MulFOp>(op)) {
    range =
        getRange(op->getOperand(0), known) * getRange(op->getOperand(1), known);
  } else if (isa<arith::AddFOp, arith::SubFOp>(op)) {
    FloatRange a = getRange(op->getOperand(0), known);
    FloatRange b = getRange(op->getOperand(1), known);
    range = {std::min(a.unit, b.unit), std::max(a.bound, b.bound) + 1};
  } else if (isa<arith::DivFOp>(op)) {
    // By a constant power of two, which is its own unit.
    FloatRange divisor = getRange(op->getOperand(1), known);
    if (matchPattern(op->getOperand(1), m_Constant(&constant)) &&
        divisor.bound == divisor.unit + 1)
      range = getRange(op->getOperand(0), known) *
              FloatRange{-divisor.unit, -divisor.unit};
  } else if (auto reduce = dyn_cast<RowReduceOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    Value input = reduce.getInputs()[number];
    auto kind = cast<ReduceKindAttr>(reduce.getKinds()[number]).getValue();
    if (kind == ReduceKind::add)
      range = getRange(input, known) *
              FloatRange{
                  0, int(llvm::Log2_64_Ceil(getNumColumns(input.getType())))};
  }
  return range.isPrecise() ? range : anything;
}

static FloatRange getRange(Value value, KnownRanges &known) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  FloatRange range = computeRange(value, known);
  known.try_emplace(value, range);
  return range;
}

FloatRange rmsnorm::getFloatRange(Value value) {
  KnownRanges known;
  return getRange(value, known);
}
