// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadProgramAccumulators.cpp - sums over rows --------------------===//

#include "ThreadProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::rmsnorm;

/// The fragments a thread holds of an accumulator: one for each of its vectors.
int64_t ThreadProgram::getNumAccumulators(Type type) const {
  if (!isPerColumn(type) || ownsStrip())
    return 1;
  return llvm::divideCeil(schedule.getPartColumns(facts.columns),
                          getColumnStep());
}

SmallVector<Value> ThreadProgram::emitZeros(Type accumulator) {
  Value zero = emitIdentity(ReduceKind::add, getFragmentType(accumulator));
  return SmallVector<Value>(getNumAccumulators(accumulator), zero);
}

/// Adds the rows of a thread's row group, one after the other. A row that does
/// not exist leaves the sum as it is: what it would contribute is selected
/// away, not an operand of it, as zero times infinity would be NaN. Columns
/// that do not exist hold anything and are not stored.
void ThreadProgram::emitAccumulate(AccumulateOp op, Chunk chunk) {
  Location loc = op.getLoc();
  SmallVector<Value> &sums = fragments[op.getResult()];
  if (sums.empty())
    sums = fragments[op.getDest()];
  const int64_t numVectors = chunk.size();
  arith::MulFOp product = getFusedProduct(op.getSource());
  forEachFragment(
      op.getSource().getType(), numVectors, [&](int64_t row, int64_t index) {
        Value &sum = sums[chunk[index].index];
        auto get = [&](Value value) {
          return getFragment(value, row, index, numVectors);
        };
        Value next;
        if (product)
          next = math::FmaOp::create(builder, loc, get(product.getLhs()),
                                     get(product.getRhs()), sum);
        else
          next = arith::AddFOp::create(builder, loc, sum, get(op.getSource()));
        if (Value rows = op.getRows())
          next = arith::SelectOp::create(builder, loc, getRowLive(rows)[row],
                                         next, sum);
        sum = next;
      });
}

/// The sum over the row groups of a block, stored. Each group leaves its sums
/// in workgroup memory, as the row lies in global memory; then the threads of
/// the block share out the columns, 16 bytes each, and add up their own in the
/// order of the groups. Stores of neighbours are neighbours, too: with single
/// columns, apart by the width of a vector, 4096x4096 took 4 us longer.
LogicalResult ThreadProgram::emitColumnReduce(TileStoreOp store,
                                              ColumnReduceOp reduce) {
  const bool perColumn = isPerColumn(reduce.getInput().getType());
  const int64_t width = perColumn ? getVectorWidth() : 1;
  // A value of a row is held by all threads of its group, the first leaves it.
  const int64_t threads = perColumn ? schedule.getThreadsPerRow() : 1;
  const int64_t perGroup =
      getNumAccumulators(reduce.getInput().getType()) * width * threads;
  // Columns of a thread in the second half: a power of two, as the width.
  const int64_t piece = std::min<int64_t>(width, 4);
  releaseRings();
  const int64_t begin = workgroup.reserve(
      schedule.getRowGroups() * perGroup * 4, /*alignment=*/4 * width);

  auto add = [&](Value lhs, Value rhs) -> Value {
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  };
  auto mul = [&](Value lhs, int64_t rhs) -> Value {
    return arith::MulIOp::create(builder, loc, lhs, emitI32(rhs));
  };
  // Byte offset of element `index` of group `group`.
  auto place = [&](Value group, Value index) -> Value {
    return add(emitI32(begin), mul(add(mul(group, perGroup), index), 4));
  };

  auto leave = [&] {
    for (auto [number, fragment] :
         llvm::enumerate(fragments[reduce.getInput()])) {
      Value index =
          perColumn ? mul(add(emitI32(number * threads), threadInRow), width)
                    : emitI32(0);
      WorkgroupStoreOp::create(builder, loc, fragment, place(rowGroup, index));
    }
  };
  if (perColumn) {
    leave();
  } else {
    Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        threadInRow, emitI32(0));
    auto branch =
        scf::IfOp::create(builder, loc, first, /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    leave();
  }
  BarrierOp::create(builder, reduce.getLoc());

  Value thread =
      add(arith::MulIOp::create(builder, loc, rowGroup,
                                emitI32(schedule.getThreadsPerRow())),
          threadInRow);
  // Where the strip or the row begins.
  Value origin = arith::SubIOp::create(builder, loc, firstColumn,
                                       mul(threadInRow, getVectorWidth()));
  Value count = columns ? columns : emitI32(facts.columns);
  Value pointer = arguments.getPointer(store.getBase());
  const int64_t step = schedule.getBlockThreads() * piece;
  auto pieceType = VectorType::get({piece}, builder.getF32Type());
  // Rows of a workspace are packed, and it is aligned to more than 16 bytes,
  // whatever is known of the arguments.
  int64_t alignment = 4;
  if (store.getBase().getDefiningOp<WorkspaceOp>() &&
      !facts.hasDynamicColumns())
    alignment = 4 * std::gcd(piece, facts.columns);
  for (int64_t done = 0; done < perGroup; done += step) {
    Value index = add(mul(thread, piece), emitI32(done));
    Value exists;
    if (done + step > perGroup) {
      exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                     index, emitI32(perGroup));
      index = arith::MinUIOp::create(builder, loc, index,
                                     emitI32(perGroup - piece));
    }
    Value total;
    for (int64_t group = 0; group < schedule.getRowGroups(); ++group) {
      Value one = WorkgroupLoadOp::create(builder, loc, pieceType,
                                          place(emitI32(group), index));
      total = total
                  ? arith::AddFOp::create(builder, loc, total, one).getResult()
                  : one;
    }
    Value column = add(origin, index);
    Value valid = arith::SubIOp::create(builder, loc, count, column);
    if (exists)
      valid = arith::SelectOp::create(builder, loc, exists, valid, emitI32(0));
    GlobalStoreOp::create(builder, store.getLoc(), total, pointer,
                          getRowOffset(store, 0), column, valid, alignment,
                          store.getPolicy());
  }
  return success();
}
