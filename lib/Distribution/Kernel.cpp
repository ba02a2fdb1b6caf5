// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Kernel.cpp - the kernel that is being emitted ---------------------===//

#include "Kernel.h"

#include "RMSNorm/IR/Disjoint.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::rmsnorm;

Value Kernel::emitI32(int64_t value) {
  return arith::ConstantIntOp::create(builder, value, 32);
}

Value Kernel::emitIndex(int64_t value) {
  return arith::ConstantIndexOp::create(builder, value);
}

Value Kernel::emitColumnSum(Value lhs, Value rhs) {
  return arith::AddIOp::create(builder, lhs, rhs,
                               arith::IntegerOverflowFlags::nsw |
                                   arith::IntegerOverflowFlags::nuw);
}

Value Kernel::emitCast(Value value) {
  return arith::IndexCastUIOp::create(builder, builder.getI32Type(), value);
}

void Kernel::emitThreads(Value strip) {
  Threads &t = threads;
  t.thread = emitCast(gpu::ThreadIdOp::create(builder, gpu::Dimension::x));
  Value threadsPerRow = emitI32(layout.getThreadsPerRow());
  Value subgroupSize = emitI32(layout.getSubgroupSize());
  if (layout.getRowGroups() == 1) {
    t.threadInRow = t.thread;
    t.rowGroup = emitI32(0);
  } else {
    t.threadInRow = arith::RemUIOp::create(builder, t.thread, threadsPerRow);
    t.rowGroup = arith::DivUIOp::create(builder, t.thread, threadsPerRow);
  }
  t.lane = arith::RemUIOp::create(builder, t.thread, subgroupSize);
  t.subgroup = arith::DivUIOp::create(builder, t.thread, subgroupSize);
  emitThreadColumns();
  if (strip)
    t.firstColumn = emitColumnSum(
        arith::MulIOp::create(builder, strip, emitI32(layout.getColumnStep())),
        t.firstColumn);
  if (layout.getCluster() == 1)
    return;
  Value block = emitCast(gpu::BlockIdOp::create(builder, gpu::Dimension::x));
  t.rank = arith::RemUIOp::create(builder, block, emitI32(layout.getCluster()));
  const int64_t part = layout.getPart();
  Value begin = arith::MulIOp::create(builder, t.rank, emitI32(part));
  t.firstColumn = emitColumnSum(begin, t.firstColumn);
  t.endColumn = arith::AddIOp::create(builder, begin, emitI32(part));
  if (part * layout.getCluster() != layout.getColumns())
    t.endColumn = arith::MinUIOp::create(builder, t.endColumn,
                                         emitI32(layout.getColumns()));
}

void Kernel::emitThreadColumns() {
  // The place among those that share out the digit and digits around it.
  Value place = threads.threadInRow;
  int64_t count = layout.getThreadsPerRow();
  for (const DigitLayout &digit : llvm::reverse(layout.getDigits())) {
    Value own = place;
    if (digit.threads == 1 && !layout.isWhole()) {
      own = emitI32(0);
    } else if (count != digit.threads) {
      Value size = emitI32(digit.threads);
      own = arith::RemUIOp::create(builder, place, size);
      place = arith::DivUIOp::create(builder, place, size);
    }
    count /= digit.threads;
    threads.places.insert(threads.places.begin(), own);
    own = arith::MulIOp::create(builder, own,
                                emitI32(digit.vector * digit.stride));
    Value &first = threads.firstColumn;
    first = first ? emitColumnSum(own, first) : own;
    threads.columns.insert(threads.columns.begin(), own);
  }
}

void Kernel::emitGridWait() {
  GridWaitOp::create(builder);
  LaunchDependentsOp::create(builder);
}

Value Kernel::getScalar(Value value) {
  Operation *def = value.getDefiningOp();
  if (!def)
    return getHostScalar(getOperand(value));
  if (Value scalar = scalars.lookup(value))
    return scalar;
  IRMapping mapping;
  for (Value operand : def->getOperands())
    mapping.map(operand, getScalar(operand));
  return scalars[value] =
             arguments.addToPrelude(def->clone(mapping))->getResult(0);
}

Value Kernel::getHostScalar(Value value) {
  if (std::optional<int64_t> constant = getConstantIntValue(value))
    return getConstant(*constant);
  return arguments.getScalar(value);
}

Value Kernel::getConstant(int64_t value) {
  Value &constant = constants[value];
  if (!constant)
    constant = arguments.getConstant(value);
  return constant;
}

Value Kernel::getNumRows() {
  if (!numRows)
    numRows = rows.createSegmentRows(host);
  return getHostScalar(numRows);
}

void Kernel::setSegment(Value number) {
  segment = number;
  if (!hasWholeSegments())
    numSegments = rows.createNumSegments(host);
}

Value Kernel::emitRowOfAll(Value row) {
  if (!segment)
    return row;
  const bool isWhole = hasWholeSegments();
  Value first =
      isWhole
          ? arith::MulIOp::create(builder, segment, getNumRows()).getResult()
          : segment;
  if (!isWhole)
    row = arith::MulIOp::create(builder, row, getHostScalar(numSegments));
  return arith::AddIOp::create(builder, first, row);
}

Value Kernel::emitSegmentOffset(Value buffer) {
  Value offset = emitIndex(0), rest = segment;
  ArrayRef<int64_t> dims = rows.getSegments();
  for (int64_t index = dims.size() - 1; index >= 0; --index) {
    Value place = rest;
    if (index > 0)
      std::tie(rest, place) = emitDivision(rest, dims[index]);
    offset = arith::AddIOp::create(
        builder, offset,
        arith::MulIOp::create(builder, place, getStride(buffer, index)));
  }
  return offset;
}

Value Kernel::getLeadingSize(int64_t dim) {
  OpFoldResult size = rows.getMixedSizes()[dim];
  if (auto constant = dyn_cast<Attribute>(size))
    return getConstant(cast<IntegerAttr>(constant).getInt());
  return getHostScalar(cast<Value>(size));
}

std::pair<Value, Value> Kernel::emitDivisionBy(Value number, int64_t size) {
  Value divisor = getConstant(size);
  Value rest = arith::RemUIOp::create(builder, number, divisor);
  return {arith::DivUIOp::create(builder, number, divisor), rest};
}

/// GPUs have no instruction that divides integers: by a size that the host
/// knows they multiply with its reciprocal. With m = floor((2^63 - 1) / d), and
/// so 2^63 - d <= d m, the high half of 2 n m is floor(n / d) or one less.
std::pair<Value, Value> Kernel::emitDivision(Value number, int64_t dim) {
  if (const int64_t size = rows.getStaticSizes()[dim];
      !ShapedType::isDynamic(size))
    return emitDivisionBy(number, size);
  Value size = getLeadingSize(dim);
  Value &reciprocal = reciprocals[dim];
  if (!reciprocal) {
    Value least = arith::MaxUIOp::create(
        host, builder.getLoc(), cast<Value>(rows.getMixedSizes()[dim]),
        arith::ConstantIndexOp::create(host, builder.getLoc(), 1));
    reciprocal = arith::DivUIOp::create(
        host, builder.getLoc(),
        arith::ConstantIndexOp::create(host, builder.getLoc(),
                                       std::numeric_limits<int64_t>::max()),
        least);
  }
  Type i64 = builder.getI64Type(), index = builder.getIndexType();
  auto emitAs = [&](Type type, Value value) -> Value {
    return arith::IndexCastUIOp::create(builder, type, value);
  };
  Value n = emitAs(i64, number), d = emitAs(i64, size);
  Value quotient = arith::MulUIExtendedOp::create(
                       builder, arith::AddIOp::create(builder, n, n),
                       emitAs(i64, getHostScalar(reciprocal)))
                       .getHigh();
  Value rest = arith::SubIOp::create(
      builder, n, arith::MulIOp::create(builder, quotient, d));
  Value more =
      arith::CmpIOp::create(builder, arith::CmpIPredicate::uge, rest, d);
  quotient = arith::AddIOp::create(builder, quotient,
                                   arith::ExtUIOp::create(builder, i64, more));
  rest = arith::SelectOp::create(builder, more,
                                 arith::SubIOp::create(builder, rest, d), rest);
  return {emitAs(index, quotient), emitAs(index, rest)};
}

int64_t Kernel::getNumRows(Type type) const {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? std::max<int64_t>(1, vector.getDimSize(0) /
                                           layout.getRowGroups())
                : 1;
}

Type Kernel::getFragmentType(Type type) const {
  Type element = getElementTypeOrSelf(type);
  return isPerColumn(type) ? VectorType::get({getVectorWidth(type)}, element)
                           : element;
}

int64_t rmsnorm::getElementBytes(Value value) {
  return llvm::divideCeil(getElementTypeOrSelf(value).getIntOrFloatBitWidth(),
                          8);
}

/// The alignment of the rows of `buffer`, at most `bytes`. The rows of the
/// buffer that it is a view of have that alignment, so dynamic strides are
/// multiples of it.
static int64_t getViewAlignment(Value buffer, int64_t bytes) {
  auto limit = [&](MemRefType type, int64_t elements) {
    bytes = std::gcd(bytes, elements * type.getElementTypeBitWidth() / 8);
  };
  auto getStrides = [](MemRefType type) {
    return type.getStridesAndOffset().first;
  };
  if (getViewedBuffer(buffer)) {
    auto type = cast<MemRefType>(buffer.getType());
    for (int64_t stride : ArrayRef(getStrides(type)).drop_back())
      if (!ShapedType::isDynamic(stride))
        limit(type, stride);
  }
  while (Value viewed = getViewedBuffer(buffer)) {
    if (auto subview = buffer.getDefiningOp<memref::SubViewOp>())
      for (auto [offset, stride] : llvm::zip(
               subview.getMixedOffsets(), getStrides(subview.getSourceType())))
        if (!ShapedType::isDynamic(stride))
          limit(subview.getType(),
                getConstantIntValue(offset).value_or(1) * stride);
    buffer = viewed;
  }
  return bytes;
}

int64_t Kernel::getAlignment(Value buffer, Type type, bool partial) const {
  const int64_t bytes = getElementBytes(buffer);
  const bool packed = bool(getOperand(buffer).getDefiningOp<WorkspaceOp>());
  return getViewAlignment(
      getOperand(buffer),
      std::min(layout.getAccessBytes(bytes, partial, packed),
               std::max<int64_t>(getVectorWidth(type) * bytes, bytes)));
}

Value Kernel::emitLoad(TileLoadOp load, VectorType type, Value row,
                       Value column, Value valid, int64_t alignment) {
  const bool isMask = type.getElementType().isInteger(1);
  auto stored =
      isMask ? cast<VectorType>(type.clone(builder.getI8Type())) : type;
  Value loaded = GlobalLoadOp::create(
      builder, load.getLoc(), stored, getPointer(load.getBase()), row, column,
      valid, alignment, load.getAgain(), load.getPolicy());
  if (!isMask)
    return loaded;
  Value zero = arith::ConstantOp::create(builder, builder.getZeroAttr(stored));
  return arith::CmpIOp::create(builder, arith::CmpIPredicate::ne, loaded, zero);
}

void Kernel::emitStore(TileStoreOp store, Value value, Value row, Value column,
                       Value valid, int64_t alignment) {
  auto type = cast<VectorType>(value.getType());
  if (type.getElementType().isInteger(1))
    value =
        arith::ExtUIOp::create(builder, type.clone(builder.getI8Type()), value);
  GlobalStoreOp::create(builder, store.getLoc(), value,
                        getPointer(store.getBase()), row, column, valid,
                        alignment, store.getPolicy());
}

Value Kernel::emitIdentity(ReduceKind kind, Type type) {
  auto floatType = cast<FloatType>(getElementTypeOrSelf(type));
  APFloat value = getIdentity(kind, floatType.getFloatSemantics());
  TypedAttr attr = FloatAttr::get(floatType, value);
  if (auto vector = dyn_cast<VectorType>(type))
    attr = SplatElementsAttr::get(vector, attr);
  return arith::ConstantOp::create(builder, attr);
}

Value Kernel::emitCombine(ReduceKind kind, Value lhs, Value rhs) {
  switch (kind) {
  case ReduceKind::add:
    return arith::AddFOp::create(builder, lhs, rhs);
  case ReduceKind::maximumf:
    return arith::MaximumFOp::create(builder, lhs, rhs);
  case ReduceKind::minimumf:
    return arith::MinimumFOp::create(builder, lhs, rhs);
  case ReduceKind::mul:
    return arith::MulFOp::create(builder, lhs, rhs);
  case ReduceKind::maxnumf:
    return arith::MaxNumFOp::create(builder, lhs, rhs);
  case ReduceKind::minnumf:
    return arith::MinNumFOp::create(builder, lhs, rhs);
  }
  llvm_unreachable("unknown reduction kind");
}
