// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileLoop.cpp - the tiles of a block, one after another ------------===//

#include "TileLoop.h"
#include "Traverse.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::rmsnorm;

//===----------------------------------------------------------------------===//
// Tiles ahead of their turn
//===----------------------------------------------------------------------===//

/// The tile `distance` iterations after `tile`.
Value TileLoop::emitTile(Value tile, int64_t distance) {
  Value steps =
      arith::MulIOp::create(builder, step, kernel.emitIndex(distance));
  return arith::AddIOp::create(builder, tile, steps);
}

/// The whole block agrees on whether there is such a tile.
TileLoop::Ahead TileLoop::emitAhead(Value tile, Value slot, Value number) {
  Value exists = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, tile,
                                       getCount());
  return {tile, exists, slot, number};
}

/// Begins the copies of a tile, if there is such a one.
void TileLoop::emitCopies(const Ahead &ahead) {
  auto branch =
      scf::IfOp::create(builder, ahead.exists, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Tile tile(kernel, ahead.tile, ahead.slot);
  tile.addresses.emitTile();
  rings.emitAddresses(tile.addresses);
  rings.emitCopies(tile, ahead.slot);
}

/// Publishes the parts of a tile, if there is such a one.
void TileLoop::emitBegin(const Ahead &ahead, bool isFirst) {
  auto branch =
      scf::IfOp::create(builder, ahead.exists, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  Tile tile(kernel, ahead.tile, ahead.slot);
  Block &block = tiles.getBegin().front();
  tile.addresses.emitTile();
  tile.emitScalars(block);
  tile.addresses.emit(block);
  for (Operation &op : block.without_terminator()) {
    auto traverse = dyn_cast<TraverseOp>(op);
    if (!traverse) {
      emitOp(&op, tile);
      continue;
    }
    // Ahead of the loop nothing else is held.
    SmallVector<Value> partials =
        emitTraverse(kernel, tile, rings, traverse,
                     isFirst ? Order::ops : traverse.getOrder());
    combine.emitPublish(traverse, partials, ahead.publish);
  }
}

/// Per-row values of the body are loaded one tile ahead, as its copies are.
/// ptxas would move their loads to the first use, past the wait for the copies.
void TileLoop::collectRowLoads() {
  auto rows = tiles->getParentOfType<RowsOp>();
  if (!isAhead())
    return;
  for (auto load : tiles.getBody().front().getOps<TileLoadOp>()) {
    WalkResult stores = rows.walk([&](TileStoreOp store) {
      return rows.mayAlias(store.getBase(), load.getBase())
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    if (load.getKind() == TileKind::row && load.getIndices().empty() &&
        !stores.wasInterrupted())
      rowLoads.push_back(load);
  }
}

/// Loads the per-row values of tile `number`, or of the last one if there is no
/// such tile: a block has one at least.
SmallVector<Value> TileLoop::emitRowLoads(Value number) {
  SmallVector<Value> values;
  if (rowLoads.empty())
    return values;
  Value last = arith::SubIOp::create(builder, getCount(), kernel.emitIndex(1));
  Tile tile(kernel, arith::MinUIOp::create(builder, number, last),
            /*slot=*/Value());
  tile.addresses.emitTile();
  for (TileLoadOp load : rowLoads) {
    tile.addresses.emitAccess(load.getBase(), load.getAccess());
    tile.emitRowOp(load);
    llvm::append_range(values, kernel.fragments[load]);
  }
  return values;
}

void TileLoop::emitScalars() {
  const int64_t stages = tiles.getStages();
  for (int64_t distance = 0; distance < stages - 1; ++distance)
    prologue.push_back(
        emitAhead(distance > 0 ? emitTile(first, distance) : first,
                  kernel.emitIndex(distance), Value()));
  if (tiles.isSplit())
    firstBegin = emitAhead(first, kernel.emitIndex(0), kernel.emitIndex(0));
}

/// Tile k + 1 is published before tile k is awaited, so that the wait for the
/// slowest block is hidden behind the work on another tile.
void TileLoop::emitPrologue() {
  for (const Ahead &ahead : prologue) {
    emitCopies(ahead);
    CopyCommitOp::create(builder);
  }
  if (!tiles.isSplit())
    return;
  combine.emitReady();
  CopyWaitOp::create(builder, tiles.getStages() - 2);
  emitBegin(firstBegin, /*isFirst=*/true);
}

//===----------------------------------------------------------------------===//
// The loop
//===----------------------------------------------------------------------===//

/// The loop carries the number that tells tiles apart, a thread's part of each
/// sum over rows, the per-row values that were loaded ahead, the slot of the
/// tile and the number of its publish.
scf::ForOp TileLoop::createLoop() {
  SmallVector<Value> inits;
  if (combine.needsNumber())
    inits.push_back(kernel.emitI32(0));
  for (Value sum : tiles.getInits()) {
    Value start =
        Tile(kernel, /*number=*/Value(), /*slot=*/Value()).getUniform(sum);
    inits.append(isPerColumn(sum.getType()) ? kernel.layout.getNumVectors() : 1,
                 start);
  }
  llvm::append_range(inits, emitRowLoads(first));
  if (isAhead())
    inits.push_back(kernel.emitIndex(0));
  if (tiles.isSplit())
    inits.push_back(kernel.emitIndex(0));
  return scf::ForOp::create(
      builder, first, getCount(), step, inits,
      [](OpBuilder &nested, Location nestedLoc, Value, ValueRange carried) {
        scf::YieldOp::create(nested, nestedLoc, carried);
      });
}

/// Gives each of `sums`, those over rows, its part of the carried values, and
/// the loads that were begun ahead theirs.
void TileLoop::setCarried(ValueRange sums, ValueRange carried) {
  if (combine.needsNumber())
    carried = carried.drop_front();
  auto take = [&](Value value, size_t count) {
    kernel.fragments[value] = SmallVector<Value>(carried.take_front(count));
    carried = carried.drop_front(count);
  };
  for (Value sum : sums)
    take(sum, isPerColumn(sum.getType()) ? kernel.layout.getNumVectors() : 1);
  for (TileLoadOp load : rowLoads)
    take(load, kernel.getNumRows(load.getType()));
}

void TileLoop::emitBody(scf::ForOp loop) {
  ValueRange carried = loop.getRegionIterArgs();
  Value number = combine.needsNumber() ? carried.front() : Value();
  Value slot;
  if (isAhead())
    slot = carried[carried.size() - (tiles.isSplit() ? 2 : 1)];
  else if (!tiles.getCopies().empty())
    slot = kernel.emitIndex(0);
  Block &body = tiles.getBody().front();
  Tile tile(kernel, loop.getInductionVar(), slot);
  combine.beginTile(number);

  // Scalars first.
  tile.addresses.emitTile();
  tile.emitScalars(body);
  Value nextSlot, nextPublish;
  if (isAhead()) {
    Value target = rings.emitSlot(slot, tiles.getStages() - 1);
    refill = emitAhead(emitTile(loop.getInductionVar(), tiles.getStages() - 1),
                       target, {});
  }
  if (tiles.isSplit()) {
    publish = carried.back();
    Value following =
        arith::AddIOp::create(builder, publish, kernel.emitIndex(1));
    Value nextTile = emitTile(loop.getInductionVar(), 1);
    Value ahead = rings.emitSlot(slot, 1);
    next = emitAhead(nextTile, ahead, following);
  }
  if (isAhead())
    nextSlot = rings.emitSlot(slot, 1);
  if (tiles.isSplit())
    nextPublish = arith::AddIOp::create(builder, publish, kernel.emitIndex(1));

  if (!isAhead())
    rings.emitAddresses(tile.addresses);
  tile.addresses.emit(body);
  // After the arithmetic, which needs nothing of the kernels before.
  if (waits)
    kernel.emitGridWait();
  SmallVector<Value> nextRowValues =
      emitRowLoads(emitTile(loop.getInductionVar(), 1));
  setCarried(tiles.getAccumulators(), carried);
  for (Operation &op : body.without_terminator())
    emitOp(&op, tile);

  SmallVector<Value> yielded;
  if (number)
    yielded.push_back(combine.emitNextNumber(number));
  for (Value sum : cast<YieldOp>(body.getTerminator()).getValues())
    llvm::append_range(yielded, kernel.fragments[sum]);
  llvm::append_range(yielded, nextRowValues);
  if (nextSlot)
    yielded.push_back(nextSlot);
  if (nextPublish)
    yielded.push_back(nextPublish);
  loop.getBody()->getTerminator()->setOperands(yielded);
}

void TileLoop::emitOp(Operation *op, Tile &tile) {
  if (auto traverse = dyn_cast<TraverseOp>(op)) {
    SmallVector<Value> partials =
        emitTraverse(kernel, tile, rings, traverse, traverse.getOrder());
    if (!partials.empty())
      combine.emit(traverse, partials);
    return;
  }
  if (isa<FetchOp>(op)) {
    if (isAhead())
      emitCopies(refill);
    else
      rings.emitCopies(tile, tile.slot);
    CopyCommitOp::create(builder);
    return;
  }
  if (isa<ArriveOp>(op)) {
    const int64_t ahead = tiles.getStages() - 1;
    CopyWaitOp::create(builder, tiles.isSplit() ? ahead - 1 : ahead);
    if (tiles.isSplit())
      emitBegin(next, /*isFirst=*/false);
    return;
  }
  if (auto await = dyn_cast<AwaitOp>(op)) {
    auto published = cast<YieldOp>(tiles.getBegin().front().getTerminator());
    combine.emitAwait(published.getValues().front().getDefiningOp<TraverseOp>(),
                      await.getSums(), publish);
    return;
  }
  auto load = dyn_cast<TileLoadOp>(op);
  if (load && llvm::is_contained(rowLoads, load))
    return;
  if (load && load.getKind() == TileKind::column && isPerColumn(load.getType()))
    return tile.emitHeldLoad(load);
  // Scalars are there, constants are where they are used.
  const bool isScalar = op->getNumResults() != 0 &&
                        op->getResult(0).getType().isIntOrIndexOrFloat();
  if (!isScalar && !op->hasTrait<OpTrait::ConstantLike>())
    tile.emitRowOp(op);
}

void TileLoop::emit() {
  collectRowLoads();
  if (isAhead())
    emitPrologue();
  scf::ForOp loop = createLoop();
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    emitBody(loop);
  }
  setCarried(tiles.getResults(), loop.getResults());
}
