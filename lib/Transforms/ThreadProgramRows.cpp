// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadProgramRows.cpp - per-row values and reductions -----------===//

#include "ThreadProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

LogicalResult ThreadProgram::emitRowOp(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return success();

  if (auto load = dyn_cast<TileLoadOp>(op)) {
    Value pointer = arguments.getPointer(load.getBase());
    Type element = load.getType().getElementType();
    SmallVector<Value> results;
    for (int64_t row = 0; row < getNumRows(load.getType()); ++row) {
      Value loaded = GlobalLoadOp::create(
          builder, load.getLoc(), VectorType::get({1}, element), pointer,
          getRowOffset(load, row), emitI32(0), /*valid=*/Value(),
          element.getIntOrFloatBitWidth() / 8, load.getSegment(),
          load.getPolicy());
      results.push_back(
          vector::ExtractOp::create(builder, loc, loaded, int64_t(0)));
    }
    fragments[load] = std::move(results);
    return success();
  }

  if (auto sum = dyn_cast<AccumulateOp>(op)) {
    emitAccumulate(sum, VectorPosition());
    return success();
  }

  // What its result is stored to has it.
  if (isa<ColumnReduceOp>(op))
    return success();

  if (auto store = dyn_cast<TileStoreOp>(op)) {
    if (auto reduce = store.getValue().getDefiningOp<ColumnReduceOp>())
      return emitColumnReduce(store, reduce);
    // All threads of the row group hold the value, one writes it.
    Value pointer = arguments.getPointer(store.getBase());
    Type element = getElementTypeOrSelf(store.getValue().getType());
    Value owner = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        threadInRow, emitI32(0));
    if (rank)
      owner = arith::AndIOp::create(
          builder, loc, owner,
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, rank,
                                emitI32(0)));
    for (int64_t row = 0; row < getNumRows(store.getValue().getType()); ++row) {
      Value value = vector::BroadcastOp::create(
          builder, loc, VectorType::get({1}, element),
          getFragment(store.getValue(), row, 0, 1));
      Value valid =
          arith::ExtUIOp::create(builder, loc, builder.getI32Type(), owner);
      GlobalStoreOp::create(
          builder, store.getLoc(), value, pointer, getRowOffset(store, row),
          emitI32(0), getStoreValid(store, row, valid, 1),
          element.getIntOrFloatBitWidth() / 8, store.getPolicy());
    }
    return success();
  }

  if (auto broadcast = dyn_cast<vector::BroadcastOp>(op)) {
    SmallVector<Value> results;
    for (int64_t row = 0; row < getNumRows(broadcast.getType()); ++row)
      results.push_back(getFragment(broadcast.getSource(), row, 0, 1));
    fragments[broadcast] = std::move(results);
    return success();
  }

  // Rows of one column: what is summed is the sum.
  if (auto reduce = dyn_cast<RowReduceOp>(op)) {
    for (auto [input, result] :
         llvm::zip(reduce.getInputs(), reduce.getResults())) {
      SmallVector<Value> results;
      for (int64_t row = 0; row < getNumRows(result.getType()); ++row)
        results.push_back(getFragment(input, row, 0, 1));
      fragments[result] = std::move(results);
    }
    return success();
  }
  return emitElementwise(op, 1);
}

/// The totals of `partials`, one per input and row, known to all threads of
/// the row group.
SmallVector<Value> ThreadProgram::combineThreads(const Reduction &reduce,
                                                 ArrayRef<Value> partials) {
  const int64_t width =
      std::min(schedule.getThreadsPerRow(), chip.subgroupSize);
  const int64_t numInputs = reduce.inputs.size();
  const int64_t rows = partials.size() / numInputs;
  SmallVector<Value> totals;
  for (auto [index, partial] : llvm::enumerate(partials)) {
    ReduceKind kind = reduce.getKind(index / rows);
    // Pairs, then pairs of pairs: short chains.
    SmallVector<Value> elements;
    for (int64_t element = 0; element < getVectorWidth(); ++element)
      elements.push_back(
          vector::ExtractOp::create(builder, loc, partial, element));
    while (elements.size() > 1) {
      SmallVector<Value> half;
      for (size_t i = 0; i < elements.size(); i += 2)
        half.push_back(emitCombine(kind, elements[i], elements[i + 1]));
      elements = std::move(half);
    }
    Value total = elements.front();
    if (width > 1)
      total =
          SubgroupReduceOp::create(builder, reduce.op->getLoc(),
                                   builder.getF32Type(), kind, total, width);
    totals.push_back(total);
  }
  if (!isa<RowReduceOp>(reduce.op))
    return totals;
  if (schedule.getCluster() > 1)
    totals = exchangeCluster(reduce, totals);
  else if (schedule.getThreadsPerRow() > chip.subgroupSize)
    totals = exchangeSubgroups(reduce, totals);
  ++reductionNumber;
  return totals;
}

/// Lane l takes publishers l, l + subgroup size, ...; lanes without one repeat
/// the last and contribute the identity.
Value ThreadProgram::combineSubgroups(ReduceKind kind, int64_t publishers,
                                      function_ref<Value(Value)> load) {
  const int64_t width = std::min(
      chip.subgroupSize, static_cast<int64_t>(llvm::PowerOf2Ceil(publishers)));
  Value slot = arith::AndIOp::create(builder, loc, lane, emitI32(width - 1));
  Value result;
  for (int64_t first = 0; first < publishers; first += width) {
    Value publisher = slot;
    if (first > 0)
      publisher = arith::AddIOp::create(builder, loc, slot, emitI32(first));
    Value exists;
    if (first + width > publishers) {
      exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                     publisher, emitI32(publishers));
      publisher = arith::MinUIOp::create(builder, loc, publisher,
                                         emitI32(publishers - 1));
    }
    Value value = load(publisher);
    if (exists)
      value = arith::SelectOp::create(builder, loc, exists, value,
                                      emitIdentity(kind, value.getType()));
    result = result ? emitCombine(kind, result, value) : value;
  }
  return SubgroupReduceOp::create(builder, loc, result.getType(), kind, result,
                                  width);
}

/// Rows that several subgroups share: each leaves its total in workgroup
/// memory, and every subgroup combines them all. Two places are used in turns,
/// by two reductions of a tile or by consecutive tiles, so that one barrier is
/// enough: whoever writes a place again has passed the barrier behind which
/// everybody has read it.
SmallVector<Value> ThreadProgram::exchangeSubgroups(const Reduction &reduce,
                                                    ArrayRef<Value> totals) {
  const int64_t perRow = schedule.getThreadsPerRow() / chip.subgroupSize;
  const int64_t perBlock = schedule.getRowGroups() * perRow;
  const int64_t rows = totals.size() / reduce.inputs.size();

  // Byte offset of total `index` of the first subgroup.
  const int64_t bytes = totals.size() * perBlock * 4;
  const int64_t begin = workgroup.reserve((toggle ? 2 : 1) * bytes);
  Value base = emitI32(begin);
  if (toggle) {
    base = arith::MulIOp::create(builder, loc, toggle, emitI32(bytes));
    if (begin != 0)
      base = arith::AddIOp::create(builder, loc, base, emitI32(begin));
  }
  auto place = [&](int64_t index, Value number) -> Value {
    Value offset = arith::AddIOp::create(builder, loc, base,
                                         emitI32(index * perBlock * 4));
    return arith::AddIOp::create(
        builder, loc, offset,
        arith::MulIOp::create(builder, loc, number, emitI32(4)));
  };

  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      lane, emitI32(0));
  auto branch = scf::IfOp::create(builder, loc, first,
                                  /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    for (auto [index, total] : llvm::enumerate(totals))
      WorkgroupStoreOp::create(builder, loc, total, place(index, subgroup));
  }
  BarrierOp::create(builder, reduce.op->getLoc());

  SmallVector<Value> results;
  for (int64_t index = 0, e = totals.size(); index < e; ++index)
    results.push_back(combineSubgroups(
        reduce.getKind(index / rows), perRow, [&](Value number) {
          if (schedule.getRowGroups() > 1)
            number = arith::AddIOp::create(
                builder, loc, number,
                arith::MulIOp::create(builder, loc, rowGroup, emitI32(perRow)));
          return WorkgroupLoadOp::create(builder, loc, builder.getF32Type(),
                                         place(index, number))
              .getResult();
        }));
  return results;
}
