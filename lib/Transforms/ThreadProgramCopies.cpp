// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadProgramCopies.cpp - tiles in workgroup memory ---------------===//
//
// A slot of a ring holds, for each vector a thread owns, the vectors of all
// threads of the block side by side: a thread reads what it copied itself, at
// its own number, and neighbours are in neighbouring banks.
//
//===----------------------------------------------------------------------===//

#include "ThreadProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace mlir::rmsnorm;

int64_t ThreadProgram::getNumVectors() const {
  return llvm::divideCeil(schedule.getPartColumns(facts.columns),
                          getColumnStep());
}

/// Vectors whose columns all exist, for every thread of every rank; at most one
/// is left, but for the last rank's, whose part may be smaller.
int64_t ThreadProgram::getNumFullVectors() const {
  const int64_t part = schedule.getPartColumns(facts.columns);
  const int64_t lastPart = facts.columns - (schedule.getCluster() - 1) * part;
  return std::max<int64_t>(0, lastPart) / getColumnStep();
}

LogicalResult ThreadProgram::emitControl(Operation *op) {
  if (auto load = dyn_cast<TileLoadOp>(op)) {
    emitHeldLoad(load);
    return success();
  }
  if (auto ring = dyn_cast<TileRingOp>(op)) {
    emitRing(ring);
    return success();
  }
  if (auto copy = dyn_cast<RingCopyOp>(op))
    return emitRingCopy(copy);
  if (auto branch = dyn_cast<scf::IfOp>(op)) {
    if (branch.getNumResults() != 0 || branch.elseBlock())
      return op->emitOpError("expected no results and no else in a tile "
                             "program");
    auto copy = scf::IfOp::create(builder, branch.getLoc(),
                                  getScalar(branch.getCondition(), *scalars),
                                  /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(copy.thenBlock());
    return emitOps(getOps(branch.thenBlock()->without_terminator()));
  }
  if (auto end = dyn_cast<RowReduceEndOp>(op))
    return emitEnd(end);
  if (isa<CopyWaitOp>(op) && readyAtWait) {
    // Before the first publish, while the copies are on their way.
    ExchangeReadyOp::create(builder, loc, exchange);
    readyAtWait = false;
  }
  // copy_commit, copy_wait: the same for a thread.
  builder.clone(*op);
  return success();
}

/// A per-column operand that stays in registers: all of a thread's vectors.
void ThreadProgram::emitHeldLoad(TileLoadOp load) {
  Value pointer = arguments.getPointer(load.getBase());
  Type element = load.getType().getElementType();
  SmallVector<Value> results;
  for (int64_t index = 0; index < getNumVectors(); ++index) {
    VectorPosition position =
        getVector(firstColumn, index, index >= getNumFullVectors());
    results.push_back(GlobalLoadOp::create(
        builder, load.getLoc(), getFragmentType(load.getType()), pointer,
        getRowOffset(load, 0), position.column, position.valid,
        getAlignment(element, bool(position.valid), load.getBase()),
        load.getSegment(), load.getPolicy()));
  }
  held.insert(load);
  fragments[load] = std::move(results);
}

void ThreadProgram::emitRing(TileRingOp ring) {
  MemRefType type = ring.getType();
  const int64_t vectorBytes =
      getVectorWidth() * type.getElementTypeBitWidth() / 8;
  rings[ring] = workgroup.reserve(
      type.getDimSize(0) * schedule.getRowsPerGroup() * getNumVectors() *
          schedule.getBlockThreads() * vectorBytes,
      /*alignment=*/128);
}

void ThreadProgram::releaseRings() {
  if (rings.empty())
    return;
  workgroup.release(*llvm::min_element(llvm::make_second_range(rings)));
  rings.clear();
  BarrierOp::create(builder, loc);
}

std::pair<Value, int64_t> ThreadProgram::getRingSlot(Value ring, Value slot) {
  const int64_t vectorBytes =
      getVectorWidth() *
      cast<MemRefType>(ring.getType()).getElementTypeBitWidth() / 8;
  const int64_t step = schedule.getBlockThreads() * vectorBytes;
  const int64_t slotBytes = schedule.getRowsPerGroup() * getNumVectors() * step;
  Value number = arith::IndexCastUIOp::create(
      builder, loc, builder.getI32Type(), getScalar(slot, *scalars));
  Value offset = emitColumnSum(
      arith::MulIOp::create(builder, loc, thread, emitI32(vectorBytes)),
      arith::MulIOp::create(builder, loc, number, emitI32(slotBytes)));
  return {emitColumnSum(offset, emitI32(rings.lookup(ring))), step};
}

LogicalResult ThreadProgram::emitRingCopy(RingCopyOp copy) {
  Value pointer = arguments.getPointer(copy.getBase());
  auto ring = cast<MemRefType>(copy.getRing().getType());
  auto fragment = VectorType::get({getVectorWidth()}, ring.getElementType());
  if (!rings.count(copy.getRing()))
    return copy.emitOpError("expected a ring that is made before the loop");
  auto [offset, step] = getRingSlot(copy.getRing(), copy.getSlot());
  for (int64_t row = 0; row < schedule.getRowsPerGroup(); ++row)
    for (int64_t index = 0; index < getNumVectors(); ++index) {
      VectorPosition position =
          getVector(firstColumn, index, index >= getNumFullVectors());
      Value to = emitColumnSum(offset,
                               emitI32((row * getNumVectors() + index) * step));
      AsyncCopyOp::create(builder, copy.getLoc(), pointer,
                          getRowOffset(copy, row), position.column, to,
                          position.valid,
                          getAlignment(ring.getElementType(),
                                       bool(position.valid), copy.getBase()),
                          schedule.getCopy(), fragment);
    }
  return success();
}

void ThreadProgram::emitRingLoad(RingLoadOp load, int64_t numVectors) {
  auto [offset, step] = getRingSlot(load.getRing(), load.getSlot());
  SmallVector<Value> results;
  for (int64_t row = 0; row < getNumRows(load.getType()); ++row)
    for (int64_t index = 0; index < numVectors; ++index) {
      Value from = emitColumnSum(
          offset, emitI32((row * getNumVectors() + chunkBegin + index) * step));
      results.push_back(WorkgroupLoadOp::create(builder, load.getLoc(),
                                                getFragmentType(load.getType()),
                                                from, load.getSegment()));
    }
  fragments[load] = std::move(results);
}
