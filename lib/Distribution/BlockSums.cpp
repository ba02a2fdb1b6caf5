// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BlockSums.cpp - what a block has summed over its rows -------------===//

#include "BlockSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
class BlockSum {
public:
  BlockSum(Kernel &kernel, Value sum, Value partials, Value offset,
           Value columns)
      : kernel(kernel), layout(kernel.layout), loc(kernel.loc),
        builder(kernel.builder), sum(sum), partials(partials), offset(offset),
        columns(columns), perColumn(isPerColumn(sum.getType())) {}

  void storeColumns(ArrayRef<VectorPosition> positions);
  void storeRowValue();
  void combineRowGroups();

private:
  void leave(int64_t begin, int64_t perGroup);
  Value add(Value lhs, Value rhs) {
    return arith::AddIOp::create(builder, loc, lhs, rhs);
  }
  Value mul(Value lhs, int64_t rhs) {
    return arith::MulIOp::create(builder, loc, lhs, kernel.emitI32(rhs));
  }
  /// Byte offset of element `index` of group `group`.
  Value place(int64_t begin, int64_t perGroup, Value group, Value index) {
    return add(kernel.emitI32(begin), mul(add(mul(group, perGroup), index), 4));
  }

  Kernel &kernel;
  const Layout &layout;
  Location loc;
  OpBuilder &builder;
  Value sum, partials, offset, columns;
  const bool perColumn;
};
} // namespace

/// One row group: a thread has the sums of its columns.
void BlockSum::storeColumns(ArrayRef<VectorPosition> positions) {
  Value pointer = kernel.arguments.getPointer(partials);
  for (auto [position, fragment] : llvm::zip(positions, kernel.fragments[sum]))
    GlobalStoreOp::create(
        builder, loc, fragment, pointer, offset, position.column,
        position.valid,
        layout.getAccessBytes(4, bool(position.valid), /*packed=*/true),
        CachePolicy::normal);
}

/// The same of rows of one column: all threads have it, one stores it.
void BlockSum::storeRowValue() {
  Value pointer = kernel.arguments.getPointer(partials);
  Value owner =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                            kernel.threads.threadInRow, kernel.emitI32(0));
  Value value = vector::BroadcastOp::create(
      builder, loc, VectorType::get({1}, builder.getF32Type()),
      kernel.fragments[sum].front());
  Value valid =
      arith::ExtUIOp::create(builder, loc, builder.getI32Type(), owner);
  GlobalStoreOp::create(builder, loc, value, pointer, offset, kernel.emitI32(0),
                        valid, 4, CachePolicy::normal);
}

/// Leaves the sums of the thread's row group in workgroup memory, as the row
/// lies in global memory. A value of a row is held by all threads of its group,
/// the first leaves it.
void BlockSum::leave(int64_t begin, int64_t perGroup) {
  const int64_t width = perColumn ? layout.getVectorWidth() : 1;
  const int64_t threads = perColumn ? layout.getThreadsPerRow() : 1;
  OpBuilder::InsertionGuard guard(builder);
  if (!perColumn) {
    Value first =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                              kernel.threads.threadInRow, kernel.emitI32(0));
    auto branch =
        scf::IfOp::create(builder, loc, first, /*withElseRegion=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  for (auto [number, fragment] : llvm::enumerate(kernel.fragments[sum])) {
    Value index = perColumn ? mul(add(kernel.emitI32(number * threads),
                                      kernel.threads.threadInRow),
                                  width)
                            : kernel.emitI32(0);
    WorkgroupStoreOp::create(
        builder, loc, fragment,
        place(begin, perGroup, kernel.threads.rowGroup, index));
  }
}

/// Each group leaves its sums; then the threads of the block share out the
/// columns, 16 bytes each, and add up their own in the order of the groups.
/// Stores of neighbours are neighbours, too: with single columns, apart by the
/// width of a vector, 4096x4096 took 4 us longer.
void BlockSum::combineRowGroups() {
  const int64_t width = perColumn ? layout.getVectorWidth() : 1;
  const int64_t threads = perColumn ? layout.getThreadsPerRow() : 1;
  const int64_t perGroup = kernel.fragments[sum].size() * width * threads;
  // Columns of a thread in the second half: a power of two, as the width.
  const int64_t piece = std::min<int64_t>(width, 4);
  const int64_t begin = kernel.workgroup.reserve(
      layout.getRowGroups() * perGroup * 4, /*alignment=*/4 * width);
  leave(begin, perGroup);
  BarrierOp::create(builder, loc);

  const Threads &ids = kernel.threads;
  Value thread =
      add(mul(ids.rowGroup, layout.getThreadsPerRow()), ids.threadInRow);
  // Where the strip or the row begins.
  Value origin =
      arith::SubIOp::create(builder, loc, ids.firstColumn,
                            mul(ids.threadInRow, layout.getVectorWidth()));
  Value count = columns ? columns : kernel.emitI32(layout.getColumns());
  Value pointer = kernel.arguments.getPointer(partials);
  const int64_t step = layout.getBlockThreads() * piece;
  auto pieceType = VectorType::get({piece}, builder.getF32Type());
  // Rows of a workspace are packed, and it is aligned to more than 16 bytes,
  // whatever is known of the arguments.
  const int64_t alignment =
      layout.hasDynamicColumns() ? 4 : 4 * std::gcd(piece, layout.getColumns());
  for (int64_t done = 0; done < perGroup; done += step) {
    Value index = add(mul(thread, piece), kernel.emitI32(done));
    Value exists;
    if (done + step > perGroup) {
      exists = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                     index, kernel.emitI32(perGroup));
      index = arith::MinUIOp::create(builder, loc, index,
                                     kernel.emitI32(perGroup - piece));
    }
    Value total;
    for (int64_t group = 0; group < layout.getRowGroups(); ++group) {
      Value one = WorkgroupLoadOp::create(
          builder, loc, pieceType,
          place(begin, perGroup, kernel.emitI32(group), index));
      total = total
                  ? arith::AddFOp::create(builder, loc, total, one).getResult()
                  : one;
    }
    Value column = add(origin, index);
    Value valid = arith::SubIOp::create(builder, loc, count, column);
    if (exists)
      valid = arith::SelectOp::create(builder, loc, exists, valid,
                                      kernel.emitI32(0));
    GlobalStoreOp::create(builder, loc, total, pointer, offset, column, valid,
                          alignment, CachePolicy::normal);
  }
}

void rmsnorm::emitBlockSums(Kernel &kernel, Rings &rings, ValueRange sums,
                            ValueRange partials, Value block) {
  if (sums.empty())
    return;
  const Layout &layout = kernel.layout;
  OpBuilder &builder = kernel.builder;
  Value columns;
  if (kernel.rows.getDynamicColumns())
    columns =
        kernel.emitCast(kernel.getScalar(kernel.rows.getColumnsArgument()));
  SmallVector<Value> offsets;
  for (Value buffer : partials)
    offsets.push_back(arith::IndexCastOp::create(
        builder, kernel.loc, builder.getI64Type(),
        arith::AddIOp::create(
            builder, kernel.loc, kernel.emitIndex(0),
            arith::MulIOp::create(builder, kernel.loc, block,
                                  kernel.arguments.getStride(buffer, 0)))));
  // Where a thread's columns are.
  SmallVector<VectorPosition> positions;
  const bool isStrip = layout.hasStrips();
  for (int64_t index = 0; index < layout.getNumVectors(); ++index)
    positions.push_back(emitPosition(kernel, kernel.threads.firstColumn, index,
                                     isStrip
                                         ? layout.hasPartialStrips()
                                         : index >= layout.getNumFullVectors(),
                                     columns));
  for (auto [sum, buffer, offset] : llvm::zip(sums, partials, offsets)) {
    BlockSum one(kernel, sum, buffer, offset, columns);
    if (layout.getRowGroups() > 1) {
      rings.release();
      one.combineRowGroups();
    } else if (isPerColumn(sum.getType())) {
      one.storeColumns(positions);
    } else {
      one.storeRowValue();
    }
  }
}
