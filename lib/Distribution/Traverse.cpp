// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Traverse.cpp - one walk of a thread over its columns --------------===//

#include "Traverse.h"
#include "ColumnOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// The vectors that are handled together.
using Chunk = ArrayRef<VectorPosition>;

class Walker {
public:
  Walker(Kernel &kernel, Tile &tile, const Rings &rings, TraverseOp traverse,
         Order order)
      : kernel(kernel), layout(kernel.layout), tile(tile), rings(rings),
        traverse(traverse), order(order), builder(kernel.builder) {}

  SmallVector<Value> run();

private:
  void walkStatic();
  void walkDynamic();
  void emitLoop(Value trips);
  void emitChunk(Chunk chunk, int64_t begin);
  void emitOps(bool loads, bool others);
  void emitOp(Operation *op);
  void emitLoad(TileLoadOp load);
  void emitKeep(KeepOp keep);
  void emitStore(TileStoreOp store);
  void reduce();
  void hold();

  Value get(Value value, int64_t row, int64_t index);
  void forEach(Type type, function_ref<void(int64_t row, int64_t index)> visit);
  void define(Value value,
              function_ref<Value(int64_t row, int64_t index)> emit);
  VectorPosition getPosition(Value first, int64_t index, bool partial) {
    return emitPosition(kernel, first, index, partial,
                        tile.addresses.getColumns());
  }

  Kernel &kernel;
  const Layout &layout;
  Tile &tile;
  const Rings &rings;
  TraverseOp traverse;
  const Order order;
  ImplicitLocOpBuilder &builder;

  /// The place that is being emitted: the chunk and the number of its first
  /// vector; in it, if not all, the row and the vector.
  Chunk chunk;
  int64_t chunkBegin = 0;
  std::optional<int64_t> onlyRow, onlyVector;
  SmallVector<Value> partials;
};
} // namespace

/// The fragment of `value` for row `row` of vector `index` of the chunk. Of
/// a value from outside of the traverse a thread holds all vectors.
Value Walker::get(Value value, int64_t row, int64_t index) {
  if (value.getParentRegion() != &traverse.getBody())
    return tile.getFragment(value, row, chunkBegin + index);
  if (Value uniform = tile.getUniform(value))
    return uniform;
  if (kernel.getNumRows(value.getType()) == 1)
    row = 0;
  // An accumulator has all vectors, not those of one chunk.
  if (value.getDefiningOp<AccumulateOp>())
    return kernel.fragments[value][chunk[index].index];
  return kernel.fragments[value][row * chunk.size() + index];
}

/// Visits a thread's fragments of a value of type `type` in the chunk, or those
/// of the place that is being emitted. A fragment that is the same for all rows
/// is visited with the first.
void Walker::forEach(Type type,
                     function_ref<void(int64_t row, int64_t index)> visit) {
  // A part of a row has fewer vectors; all are in one chunk then.
  const int64_t count = std::min<int64_t>(
      chunk.size(), isPerColumn(type) ? kernel.getNumVectors(type) : 1 << 30);
  for (int64_t row = 0; row < kernel.getNumRows(type); ++row)
    for (int64_t index = 0; index < count; ++index)
      if (onlyRow.value_or(row) == row && onlyVector.value_or(index) == index)
        visit(row, index);
}

void Walker::define(Value value,
                    function_ref<Value(int64_t row, int64_t index)> emit) {
  kernel.fragments[value].resize(kernel.getNumRows(value.getType()) *
                                 chunk.size());
  forEach(value.getType(), [&](int64_t row, int64_t index) {
    Value fragment = emit(row, index);
    kernel.fragments[value][row * chunk.size() + index] = fragment;
  });
}

//===----------------------------------------------------------------------===//
// Walks
//===----------------------------------------------------------------------===//

SmallVector<Value> Walker::run() {
  for (Value result : traverse.getHeldResults())
    kernel.fragments[result].assign(
        kernel.getNumRows(result.getType()) * layout.getNumVectors(), Value());
  for (auto sum : traverse.getOps<AccumulateOp>()) {
    // A copy: the map moves its values when it grows.
    SmallVector<Value> sums = kernel.fragments[sum.getDest()];
    kernel.fragments[sum.getResult()] = std::move(sums);
  }
  for (Operation &op : traverse.getBody().front()) {
    if (auto load = dyn_cast<TileLoadOp>(op))
      tile.emitIndexed(load, load);
    else if (auto store = dyn_cast<TileStoreOp>(op))
      tile.emitIndexed(store, store.getValue());
  }
  if (layout.hasDynamicColumns() && traverse.getWalk() == Walk::looped)
    walkDynamic();
  else
    walkStatic();
  return std::move(partials);
}

void Walker::walkStatic() {
  const int64_t total = layout.getNumVectors();
  Value first = kernel.threads.firstColumn;
  if (traverse.getWalk() == Walk::strip) {
    // The strips end where the row does or past it.
    emitChunk(getPosition(first, 0, layout.hasPartialStrips()), 0);
    return;
  }
  const int64_t inFlight =
      traverse.getWalk() == Walk::unrolled ? total : traverse.getInFlight();
  int64_t done = 0;
  if (traverse.getWalk() == Walk::looped) {
    const int64_t trips = layout.getNumFullVectors() / inFlight;
    emitLoop(kernel.emitI32(trips));
    done = trips * inFlight;
  }
  while (done < total) {
    SmallVector<VectorPosition> vectors;
    const int64_t begin = done;
    for (; done < total && static_cast<int64_t>(vectors.size()) < inFlight;
         ++done)
      vectors.push_back(getPosition(first, done, !layout.isFull(done)));
    emitChunk(vectors, begin);
  }
}

/// Trips in which every thread's columns exist, then one that asks.
void Walker::walkDynamic() {
  const int64_t inFlight = traverse.getInFlight();
  Value step = kernel.emitI32(inFlight * layout.getColumnStep());
  Value trips =
      arith::DivUIOp::create(builder, tile.addresses.getColumns(), step);
  emitLoop(trips);
  Value first =
      arith::AddIOp::create(builder, kernel.threads.firstColumn,
                            arith::MulIOp::create(builder, trips, step));
  SmallVector<VectorPosition> vectors;
  for (int64_t index = 0; index < inFlight; ++index)
    vectors.push_back(getPosition(first, index, /*partial=*/true));
  emitChunk(vectors, 0);
}

/// `trips` chunks of in_flight vectors, all of whose columns exist. Partial
/// sums are carried by the loop.
void Walker::emitLoop(Value trips) {
  const int64_t inFlight = traverse.getInFlight();
  for (auto [index, input] : llvm::enumerate(traverse.getReduced()))
    for (int64_t row = 0; row < kernel.getNumRows(input.getType()); ++row)
      partials.push_back(kernel.emitIdentity(
          traverse.getKind(index),
          VectorType::get({layout.getVectorWidth()}, builder.getF32Type())));
  auto loop = scf::ForOp::create(builder, kernel.emitI32(0), trips,
                                 kernel.emitI32(1), partials);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value first = kernel.emitColumnSum(
      kernel.threads.firstColumn,
      arith::MulIOp::create(builder, loop.getInductionVar(),
                            kernel.emitI32(inFlight * layout.getColumnStep())));
  SmallVector<VectorPosition> vectors;
  for (int64_t index = 0; index < inFlight; ++index)
    vectors.push_back(getPosition(first, index, /*partial=*/false));
  partials.assign(loop.getRegionIterArgs().begin(),
                  loop.getRegionIterArgs().end());
  emitChunk(vectors, 0);
  if (!partials.empty())
    scf::YieldOp::create(builder, partials);
  partials.assign(loop.getResults().begin(), loop.getResults().end());
}

void Walker::emitChunk(Chunk vectors, int64_t begin) {
  chunk = vectors;
  chunkBegin = begin;
  if (order == Order::ops) {
    emitOps(/*loads=*/true, /*others=*/true);
  } else {
    emitOps(/*loads=*/true, /*others=*/false);
    for (int64_t index = 0, e = chunk.size(); index < e; ++index)
      for (int64_t row = 0; row < layout.getRowsPerGroup(); ++row) {
        onlyVector = index;
        onlyRow = row;
        emitOps(/*loads=*/false, /*others=*/true);
      }
    onlyVector = onlyRow = std::nullopt;
  }
  hold();
}

/// Keeps the chunk's fragments of held values.
void Walker::hold() {
  for (auto [held, heldResult] :
       llvm::zip(traverse.getHeld(), traverse.getHeldResults())) {
    // A lambda of C++17 captures no structured binding.
    Value value = held, result = heldResult;
    forEach(value.getType(), [&](int64_t row, int64_t index) {
      Value fragment = get(value, row, index);
      kernel.fragments[result][row * layout.getNumVectors() + chunkBegin +
                               index] = fragment;
    });
  }
}

//===----------------------------------------------------------------------===//
// Ops
//===----------------------------------------------------------------------===//

void Walker::emitOps(bool loads, bool others) {
  for (Operation &op : traverse.getBody().front().without_terminator())
    if ((isa<TileLoadOp, SlotLoadOp>(op) ? loads : others) &&
        !op.hasTrait<OpTrait::ConstantLike>() &&
        !(op.getNumResults() == 1 && getFusedProduct(op.getResult(0))))
      emitOp(&op);
  if (others && traverse.getNumReductions() != 0)
    reduce();
}

void Walker::emitLoad(TileLoadOp load) {
  define(load, [&](int64_t row, int64_t index) {
    return emitVectorLoad(kernel, load, tile.addresses.getOffset(load, row),
                          chunk[getRowVector(kernel, load.getType(), index)],
                          index);
  });
}

void Walker::emitStore(TileStoreOp store) {
  const Type type = store.getValue().getType();
  forEach(type, [&](int64_t row, int64_t index) {
    emitVectorStore(kernel, tile, store, get(store.getValue(), row, index), row,
                    chunk[getRowVector(kernel, type, index)], index);
  });
}

/// After per-column operands: all that are held of them in the chunk. After a
/// tile: when it is known which one, or which slot it is in.
void Walker::emitKeep(KeepOp keep) {
  Value operands;
  if (isPerColumn(keep.getAfter().getType())) {
    // Also where this is emitted for one vector or row: all are loaded by then.
    SmallVector<Value> all;
    const Type type = keep.getAfter().getType();
    const int64_t count =
        std::min<int64_t>(chunk.size(), kernel.getNumVectors(type));
    for (int64_t row = 0; row < kernel.getNumRows(type); ++row)
      for (int64_t index = 0; index < count; ++index)
        all.push_back(get(keep.getAfter(), row, index));
    operands = emitAllLoaded(kernel, all);
  }
  define(keep, [&](int64_t row, int64_t index) -> Value {
    Value value = get(keep.getValue(), row, index);
    Value after = operands;
    if (!after)
      after = isa<VectorType>(keep.getAfter().getType())
                  ? get(keep.getAfter(), row, 0)
                  : kernel.emitCast(tile.slot ? tile.slot : tile.number);
    return KeepOp::create(builder, keep.getLoc(),
                          kernel.getFragmentType(keep.getType()), value, after);
  });
}

void Walker::emitOp(Operation *op) {
  auto getOwn = [&](Value value, int64_t row, int64_t index) {
    return get(value, row, index);
  };
  auto defineOwn = [&](Value value,
                       function_ref<Value(int64_t, int64_t)> emit) {
    define(value, emit);
  };
  if (emitColumnOp(kernel, op, getOwn, defineOwn))
    return;
  if (auto load = dyn_cast<TileLoadOp>(op))
    return emitLoad(load);
  if (auto load = dyn_cast<SlotLoadOp>(op))
    return rings.emitLoad(load, tile.slot, chunkBegin, chunk.size());
  if (auto store = dyn_cast<TileStoreOp>(op))
    return emitStore(store);
  if (auto sum = dyn_cast<AccumulateOp>(op))
    return forEach(sum.getSource().getType(), [&](int64_t row, int64_t index) {
      Value total = kernel.fragments[sum.getResult()][chunk[index].index];
      emitAccumulate(kernel, tile, sum, row, total,
                     [&](Value value) { return get(value, row, index); });
      kernel.fragments[sum.getResult()][chunk[index].index] = total;
    });
  if (auto reduce = dyn_cast<GroupReduceOp>(op))
    return emitGroupReduce(kernel, reduce, chunk, getOwn, defineOwn);
  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    Type type = kernel.getFragmentType(broadcast.getType());
    return define(broadcast, [&](int64_t row, int64_t index) {
      Value source = get(broadcast.getSource(), row, index);
      if (source.getType() != type)
        source = vector::BroadcastOp::create(builder, type, source);
      return source;
    });
  }
  if (auto keep = dyn_cast<KeepOp>(op))
    return emitKeep(keep);
  define(op->getResult(0), [&](int64_t row, int64_t index) {
    return tile.emitElementwise(
        op, [&](Value value) { return get(value, row, index); });
  });
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

/// Adds the chunk to the partial sums.
void Walker::reduce() {
  int64_t count = 0;
  for (Value input : traverse.getReduced())
    count += kernel.getNumRows(input.getType());
  partials.resize(count);
  auto vectorType =
      VectorType::get({layout.getVectorWidth()}, builder.getF32Type());
  int64_t first = 0;
  for (auto [number, reduced] : llvm::enumerate(traverse.getReduced())) {
    Value input = reduced;
    const ReduceKind kind = traverse.getKind(number);
    arith::MulFOp product = getFusedProduct(input);
    const bool masked = !(kind == ReduceKind::add && isZeroOnPadding(input));
    forEach(input.getType(), [&](int64_t row, int64_t index) {
      Value &sum = partials[first + row];
      if (product) {
        Value lhs = get(product.getLhs(), row, index);
        Value rhs = get(product.getRhs(), row, index);
        sum = sum ? math::FmaOp::create(builder, lhs, rhs, sum).getResult()
                  : arith::MulFOp::create(builder, lhs, rhs).getResult();
        return;
      }
      Value value = get(input, row, index);
      if (!getElementTypeOrSelf(value.getType()).isF32())
        value = arith::ExtFOp::create(builder, vectorType, value);
      if (Value valid = chunk[index].valid; valid && masked)
        value = emitMasked(kernel, value, kind, valid);
      sum = sum ? kernel.emitCombine(kind, sum, value) : value;
    });
    first += kernel.getNumRows(input.getType());
  }
}

SmallVector<Value> rmsnorm::emitTraverse(Kernel &kernel, Tile &tile,
                                         const Rings &rings,
                                         TraverseOp traverse, Order order) {
  return Walker(kernel, tile, rings, traverse, order).run();
}
