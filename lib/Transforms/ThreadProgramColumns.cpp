// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadProgramColumns.cpp - what a thread does along a row ------- ===//

#include "ThreadProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::rmsnorm;

/// Columns stay below 2^31: the sum does not wrap, so that a constant part of
/// it can become the offset of an access.
Value ThreadProgram::emitColumnSum(Value lhs, Value rhs) {
  return arith::AddIOp::create(builder, loc, lhs, rhs,
                               arith::IntegerOverflowFlags::nsw |
                                   arith::IntegerOverflowFlags::nuw);
}

ThreadProgram::VectorPosition
ThreadProgram::getVector(Value first, int64_t index, bool predicated) {
  VectorPosition position;
  position.index = index;
  position.column = first;
  if (index != 0)
    position.column = emitColumnSum(first, emitI32(index * getColumnStep()));
  if (predicated) {
    Value count = columns     ? columns
                  : endColumn ? endColumn
                              : emitI32(facts.columns);
    position.valid =
        arith::SubIOp::create(builder, loc, count, position.column);
  }
  return position;
}

/// One vector a thread; the strips end where the row does or behind it.
LogicalResult ThreadProgram::emitStripColumns(Segment &segment) {
  if (segment.reduce)
    return segment.reduce.op->emitOpError(
        "expected no reduction along a row whose columns are divided into "
        "strips (rmsnorm-split-strips removes it)");
  const bool predicated = facts.hasDynamicColumns() ||
                          facts.columns % schedule.getStripColumns() != 0;
  SmallVector<Value> partials;
  chunkBegin = 0;
  return emitChunk(segment, getVector(firstColumn, 0, predicated), partials);
}

LogicalResult
ThreadProgram::emitStaticColumns(Segment &segment,
                                 SmallVectorImpl<Value> &partials) {
  // Vectors whose columns all exist, for every thread; at most one is left.
  const int64_t full = getNumFullVectors();
  const int64_t total = getNumVectors();
  int64_t inFlight = schedule.getVectorsInFlight();
  if (schedule.getCache() == Cache::registers || (isOnce && !segment.reduce))
    inFlight = total;
  int64_t done = 0;
  // Accumulators are registers: a loop could not tell which.
  const bool accumulates = llvm::any_of(
      segment.columnOps, [](Operation *op) { return isa<AccumulateOp>(op); });
  if (full > schedule.getUnrolled() && inFlight != total && !accumulates &&
      schedule.getCache() == Cache::reload) {
    const int64_t trips = full / inFlight;
    if (failed(emitColumnLoop(segment, emitI32(trips), partials)))
      return failure();
    done = trips * inFlight;
  }
  while (done < total) {
    SmallVector<VectorPosition> chunk;
    chunkBegin = done;
    for (; done < total && static_cast<int64_t>(chunk.size()) < inFlight;
         ++done)
      chunk.push_back(getVector(firstColumn, done, done >= full));
    if (failed(emitChunk(segment, chunk, partials)))
      return failure();
  }
  return success();
}

LogicalResult
ThreadProgram::emitDynamicColumns(Segment &segment,
                                  SmallVectorImpl<Value> &partials) {
  // Trips in which every thread's columns exist, then one that asks.
  const int64_t inFlight = schedule.getVectorsInFlight();
  Value step = emitI32(inFlight * getColumnStep());
  Value trips = arith::DivUIOp::create(builder, loc, columns, step);
  if (failed(emitColumnLoop(segment, trips, partials)))
    return failure();
  Value first =
      arith::AddIOp::create(builder, loc, firstColumn,
                            arith::MulIOp::create(builder, loc, trips, step));
  SmallVector<VectorPosition> chunk;
  for (int64_t index = 0; index < inFlight; ++index)
    chunk.push_back(getVector(first, index, /*predicated=*/true));
  return emitChunk(segment, chunk, partials);
}

/// `trips` chunks of vectors_in_flight vectors, all of whose columns exist.
/// Partial sums are carried by the loop.
LogicalResult ThreadProgram::emitColumnLoop(Segment &segment, Value trips,
                                            SmallVectorImpl<Value> &partials) {
  const int64_t inFlight = schedule.getVectorsInFlight();
  if (segment.reduce && partials.empty())
    for (auto [kind, input] :
         llvm::zip(segment.reduce.kinds, segment.reduce.inputs))
      for (int64_t row = 0; row < getNumRows(input.getType()); ++row)
        partials.push_back(emitIdentity(
            cast<ReduceKindAttr>(kind).getValue(),
            VectorType::get({getVectorWidth()}, builder.getF32Type())));
  auto loop =
      scf::ForOp::create(builder, loc, emitI32(0), trips, emitI32(1), partials);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value first = emitColumnSum(
      firstColumn, arith::MulIOp::create(builder, loc, loop.getInductionVar(),
                                         emitI32(inFlight * getColumnStep())));
  SmallVector<VectorPosition> chunk;
  for (int64_t index = 0; index < inFlight; ++index)
    chunk.push_back(getVector(first, index, /*predicated=*/false));
  SmallVector<Value> carried(loop.getRegionIterArgs());
  if (failed(emitChunk(segment, chunk, carried)))
    return failure();
  if (!carried.empty()) {
    scf::YieldOp::create(builder, loc, carried);
  }
  partials.assign(loop.getResults().begin(), loop.getResults().end());
  return success();
}

LogicalResult ThreadProgram::emitChunk(Segment &segment, Chunk chunk,
                                       SmallVectorImpl<Value> &partials) {
  auto emit = [&](bool loads, bool others) -> LogicalResult {
    for (Operation *op : segment.columnOps)
      if ((isa<TileLoadOp, RingLoadOp>(op) ? loads : others) &&
          !isFusedProduct(op) && failed(emitColumnOp(op, chunk)))
        return failure();
    if (others && segment.reduce)
      accumulate(segment.reduce, chunk, partials);
    return success();
  };
  if (facts.numColumnSums == 0 || isOnce)
    return emit(/*loads=*/true, /*others=*/true);
  // Much is computed from what is loaded, and accumulators take registers
  // besides: one vector is done with before the next is begun.
  if (failed(emit(/*loads=*/true, /*others=*/false)))
    return failure();
  LogicalResult result = success();
  for (int64_t index = 0, e = chunk.size(); index < e; ++index)
    for (int64_t row = 0; row < schedule.getRowsPerGroup(); ++row) {
      onlyVector = index;
      onlyRow = row;
      if (succeeded(result))
        result = emit(/*loads=*/false, /*others=*/true);
    }
  onlyVector = onlyRow = std::nullopt;
  return result;
}

int64_t ThreadProgram::getAlignment(Type elementType, bool predicated,
                                    Value base) const {
  const int64_t bytes = elementType.getIntOrFloatBitWidth() / 8;
  int64_t alignment = std::min(
      {schedule.getAlignment(), getVectorWidth() * bytes, int64_t(16)});
  // A vector that exists in part: accesses no larger than that part allows.
  if (predicated && !facts.hasDynamicColumns())
    alignment =
        std::min(alignment, std::gcd(getVectorWidth(), facts.columns) * bytes);
  // Nobody checks the rows of a workspace; they lie packed behind an aligned
  // beginning.
  if (base.getDefiningOp<WorkspaceOp>() && !facts.hasDynamicColumns())
    alignment =
        std::min(alignment, std::gcd(int64_t(16), facts.columns * bytes));
  return std::max(alignment, bytes);
}

template <typename OpTy>
Value ThreadProgram::getRowOffset(OpTy op, int64_t row) {
  return rowOffsets[{op.getBase(), op.getRow()}][row];
}
// Other files use them, too: inlined here they would have no symbol.
template Value ThreadProgram::getRowOffset(TileLoadOp, int64_t);
template Value ThreadProgram::getRowOffset(TileStoreOp, int64_t);
template Value ThreadProgram::getRowOffset(RingCopyOp, int64_t);

Value ThreadProgram::getStoreValid(TileStoreOp store, int64_t row, Value valid,
                                   int64_t count) {
  if (!store.getRows())
    return valid;
  return arith::SelectOp::create(builder, loc, rowLive[store.getRows()][row],
                                 valid ? valid : emitI32(count), emitI32(0));
}

LogicalResult ThreadProgram::emitColumnOp(Operation *op, Chunk chunk) {
  const int64_t numVectors = chunk.size();
  if (op->hasTrait<OpTrait::ConstantLike>())
    return success();

  if (auto load = dyn_cast<TileLoadOp>(op)) {
    Value pointer = arguments.getPointer(load.getBase());
    Type element = load.getType().getElementType();
    if (schedule.getAlignment() > 1)
      arguments.requireRowAlignment(load.getBase(), schedule.getAlignment());
    SmallVector<Value> results;
    for (int64_t row = 0; row < getNumRows(load.getType()); ++row)
      for (const VectorPosition &position : chunk)
        results.push_back(GlobalLoadOp::create(
            builder, load.getLoc(), getFragmentType(load.getType()), pointer,
            getRowOffset(load, row), position.column, position.valid,
            getAlignment(element, bool(position.valid), load.getBase()),
            load.getSegment(), load.getPolicy()));
    fragments[load] = std::move(results);
    return success();
  }

  if (auto sum = dyn_cast<AccumulateOp>(op)) {
    emitAccumulate(sum, chunk);
    return success();
  }

  // What its result is stored to has it.
  if (isa<ColumnReduceOp>(op))
    return success();

  if (auto store = dyn_cast<TileStoreOp>(op)) {
    if (auto reduce = store.getValue().getDefiningOp<ColumnReduceOp>())
      return emitColumnReduce(store, reduce);
    if (store.getKind() != TileKind::tile)
      return store.emitOpError("expected per-column values to leave a tile "
                               "program through a column sum");
    Value pointer = arguments.getPointer(store.getBase());
    Type type = store.getValue().getType();
    if (schedule.getAlignment() > 1)
      arguments.requireRowAlignment(store.getBase(), schedule.getAlignment());
    forEachFragment(type, numVectors, [&](int64_t row, int64_t index) {
      const VectorPosition &position = chunk[index];
      GlobalStoreOp::create(
          builder, store.getLoc(),
          getFragment(store.getValue(), row, index, numVectors), pointer,
          getRowOffset(store, row), position.column,
          getStoreValid(store, row, position.valid, getVectorWidth()),
          getAlignment(getElementTypeOrSelf(type), bool(position.valid),
                       store.getBase()),
          store.getPolicy());
    });
    return success();
  }

  if (auto load = dyn_cast<RingLoadOp>(op)) {
    emitRingLoad(load, numVectors);
    return success();
  }

  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    Type type = getFragmentType(broadcast.getType());
    emitFragments(broadcast, numVectors, [&](int64_t row, int64_t index) {
      Value source = getFragment(broadcast.getSource(), row, index, numVectors);
      if (source.getType() != type)
        source = vector::BroadcastOp::create(builder, loc, type, source);
      return source;
    });
    return success();
  }

  if (auto keep = dyn_cast<KeepOp>(op)) {
    auto after = [&](int64_t row) -> Value {
      Value value = getFragment(keep.getAfter(), row, 0, 1);
      if (!value.getType().isIndex())
        return value;
      return arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(),
                                          value);
    };
    emitFragments(keep, numVectors, [&](int64_t row, int64_t index) -> Value {
      return KeepOp::create(
          builder, keep.getLoc(), getFragmentType(keep.getType()),
          getFragment(keep.getValue(), row, index, numVectors), after(row));
    });
    return success();
  }
  return emitElementwise(op, numVectors);
}

void ThreadProgram::accumulate(const Reduction &reduce, Chunk chunk,
                               SmallVectorImpl<Value> &partials) {
  const int64_t numVectors = chunk.size();
  int64_t count = 0;
  for (Value input : reduce.inputs)
    count += getNumRows(input.getType());
  partials.resize(count);
  auto vectorType = VectorType::get({getVectorWidth()}, builder.getF32Type());
  int64_t first = 0;
  for (auto [kindAttr, input] : llvm::zip(reduce.kinds, reduce.inputs)) {
    ReduceKind kind = cast<ReduceKindAttr>(kindAttr).getValue();
    arith::MulFOp product = getFusedProduct(input);
    const bool masked = !(kind == ReduceKind::add && isZeroOnPadding(input));
    forEachFragment(
        input.getType(), numVectors, [&](int64_t row, int64_t index) {
          Value &sum = partials[first + row];
          if (product) {
            Value lhs = getFragment(product.getLhs(), row, index, numVectors);
            Value rhs = getFragment(product.getRhs(), row, index, numVectors);
            sum =
                sum ? math::FmaOp::create(builder, loc, lhs, rhs, sum)
                          .getResult()
                    : arith::MulFOp::create(builder, loc, lhs, rhs).getResult();
            return;
          }
          Value value = getFragment(input, row, index, numVectors);
          if (!getElementTypeOrSelf(value.getType()).isF32())
            value = arith::ExtFOp::create(builder, loc, vectorType, value);
          if (Value valid = chunk[index].valid; valid && masked) {
            // The contribution of a column that does not exist, not an operand
            // of it: zero times infinity would be NaN.
            auto lanesType =
                VectorType::get({getVectorWidth()}, builder.getI32Type());
            SmallVector<int32_t> lanes(getVectorWidth());
            std::iota(lanes.begin(), lanes.end(), 0);
            Value element = arith::ConstantOp::create(
                builder, loc,
                DenseElementsAttr::get(lanesType, ArrayRef<int32_t>(lanes)));
            Value count =
                vector::BroadcastOp::create(builder, loc, lanesType, valid);
            Value exists = arith::CmpIOp::create(
                builder, loc, arith::CmpIPredicate::slt, element, count);
            value = arith::SelectOp::create(builder, loc, exists, value,
                                            emitIdentity(kind, vectorType));
          }
          sum = sum ? emitCombine(kind, sum, value) : value;
        });
    first += getNumRows(input.getType());
  }
}
