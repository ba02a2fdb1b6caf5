// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BlockSums.cpp - what a block has summed over its rows -------------===//

#include "BlockSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// The place of a sum: the row `offset` of the buffer at `pointer`.
struct SumPlace {
  Value pointer, offset;
  FloatType element;
  /// Whether it is a workspace: rows lie packed after an aligned beginning. In
  /// another buffer only elements are certainly aligned.
  bool packed;
  /// The initial value, and its row; null if there is none.
  Value init, initOffset;
  FloatType initElement;
};

class BlockSum {
public:
  BlockSum(Kernel &kernel, const SumPlace &dest, Value sum, Value columns)
      : kernel(kernel), layout(kernel.layout), builder(kernel.builder),
        dest(dest), sum(sum), columns(columns),
        kind(kernel.rows.getTiles().getSumKind(
            cast<OpResult>(sum).getResultNumber())),
        perColumn(isPerColumn(sum.getType())),
        isOfRow(!perColumn && layout.getColumns() != 1) {}

  void storeColumns(ArrayRef<VectorPosition> positions);
  void storeRowValue();
  void combineRowGroups();

private:
  void leave();
  Value addGroups(Value first, int64_t step, int64_t end, Value index);
  int64_t combineParts(Value thread);
  void store(Value value, Value column, Value valid, int64_t alignment);
  Value add(Value lhs, Value rhs) {
    return arith::AddIOp::create(builder, lhs, rhs);
  }
  Value mul(Value lhs, int64_t rhs) {
    return arith::MulIOp::create(builder, lhs, kernel.emitI32(rhs));
  }
  /// Byte offset of element `index` of group `group`.
  Value place(Value group, Value index) {
    return add(kernel.emitI32(begin), mul(add(mul(group, perGroup), index), 4));
  }

  Kernel &kernel;
  const Layout &layout;
  ImplicitLocOpBuilder &builder;
  SumPlace dest;
  Value sum, columns;
  const ReduceKind kind;
  const bool perColumn;
  /// Whether it is one value of rows that have more columns.
  const bool isOfRow;
  /// The sums of row groups in workgroup memory: from `begin` on, `perGroup`
  /// sums each; a thread adds up `piece` of them.
  int64_t begin = 0, perGroup = 0, piece = 0;
};
} // namespace

/// `value` is rounded once, here.
void BlockSum::store(Value value, Value column, Value valid,
                     int64_t alignment) {
  auto type = cast<VectorType>(value.getType());
  if (dest.init) {
    Value init = GlobalLoadOp::create(
        builder, VectorType::get(type.getShape(), dest.initElement), dest.init,
        dest.initOffset, column, valid, dest.initElement.getWidth() / 8);
    if (dest.initElement != type.getElementType())
      init = arith::ExtFOp::create(builder, type, init);
    value = kernel.emitCombine(kind, init, value);
  }
  if (type.getElementType() != dest.element)
    value = arith::TruncFOp::create(
        builder, VectorType::get(type.getShape(), dest.element), value);
  GlobalStoreOp::create(builder, value, dest.pointer, dest.offset, column,
                        valid, alignment, CachePolicy::normal);
}

/// One row group: a thread has the sums of its columns.
void BlockSum::storeColumns(ArrayRef<VectorPosition> positions) {
  for (auto [position, fragment] : llvm::zip(positions, kernel.fragments[sum]))
    store(fragment, position.column, position.valid,
          dest.packed ? layout.getAccessBytes(4, bool(position.valid),
                                              /*packed=*/true)
                      : dest.element.getWidth() / 8);
}

/// The same of rows of one column: all threads have it, one stores it.
void BlockSum::storeRowValue() {
  // Of the blocks that share a row the first does.
  Value place =
      isOfRow ? kernel.threads.firstColumn : kernel.threads.threadInRow;
  Value owner = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, place,
                                      kernel.emitI32(0));
  Value value = vector::BroadcastOp::create(
      builder, VectorType::get({1}, builder.getF32Type()),
      kernel.fragments[sum].front());
  Value valid = arith::ExtUIOp::create(builder, builder.getI32Type(), owner);
  store(value, kernel.emitI32(0), valid, dest.element.getWidth() / 8);
}

/// Leaves the sums of the thread's row group in workgroup memory, as the row
/// lies in global memory. A value of a row is held by all threads of its group,
/// the first leaves it.
void BlockSum::leave() {
  const int64_t width = perColumn ? layout.getVectorWidth() : 1;
  const int64_t threads = perColumn ? layout.getThreadsPerRow() : 1;
  OpBuilder::InsertionGuard guard(builder);
  if (!perColumn) {
    Value first =
        arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                              kernel.threads.threadInRow, kernel.emitI32(0));
    auto branch = scf::IfOp::create(builder, first, /*withElseRegion=*/false);
    builder.setInsertionPointToStart(branch.thenBlock());
  }
  for (auto [number, fragment] : llvm::enumerate(kernel.fragments[sum])) {
    OpBuilder::InsertionGuard guard(builder);
    Value index = kernel.emitI32(0);
    if (perColumn && !layout.isInOrder()) {
      VectorPosition position =
          emitPosition(kernel, kernel.threads.firstColumn, number,
                       !layout.isFull(number), /*columns=*/Value());
      index = position.column;
      // Past its digit a vector would be in the place of another.
      if (position.valid) {
        Value exists = arith::CmpIOp::create(builder, arith::CmpIPredicate::sgt,
                                             position.valid, kernel.emitI32(0));
        auto branch =
            scf::IfOp::create(builder, exists, /*withElseRegion=*/false);
        builder.setInsertionPointToStart(branch.thenBlock());
      }
    } else if (perColumn) {
      index =
          mul(add(kernel.emitI32(number * threads), kernel.threads.threadInRow),
              width);
    }
    WorkgroupStoreOp::create(builder, fragment,
                             place(kernel.threads.rowGroup, index));
  }
}

/// The sum of the values of groups `first`, `first` + `step`, ... at `index`,
/// in this order.
Value BlockSum::addGroups(Value first, int64_t step, int64_t end, Value index) {
  Value total;
  for (int64_t group = 0; group < end; group += step) {
    Value number = kernel.emitI32(group);
    if (first)
      number = add(first, number);
    // There may be fewer than `step` left.
    Value exists;
    if (first && group + step > end) {
      exists = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, number,
                                     kernel.emitI32(end));
      number = arith::MinUIOp::create(builder, number, kernel.emitI32(end - 1));
    }
    Value one = WorkgroupLoadOp::create(
        builder, VectorType::get({piece}, builder.getF32Type()),
        place(number, index));
    if (exists)
      one = arith::SelectOp::create(builder, exists, one,
                                    kernel.emitIdentity(kind, one.getType()));
    total = total ? kernel.emitCombine(kind, total, one) : one;
  }
  return total;
}

/// Of many groups every `parts`-th first, by threads of their own, in place of
/// the first of them: by one thread alone they would wait for each other.
/// Returns how many are left.
int64_t BlockSum::combineParts(Value thread) {
  const int64_t groups = layout.getRowGroups();
  // Of single values there may be a thousand: about as many parts as each has.
  const int64_t parts =
      perColumn
          ? 4
          : std::max<int64_t>(4, int64_t(1) << llvm::Log2_64_Ceil(groups) / 2);
  const int64_t pieces = perGroup / piece;
  if (groups < 2 * parts || parts * pieces > layout.getBlockThreads())
    return groups;
  Value part = arith::DivUIOp::create(builder, thread, kernel.emitI32(pieces));
  Value index = mul(
      arith::RemUIOp::create(builder, thread, kernel.emitI32(pieces)), piece);
  Value helps = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, part,
                                      kernel.emitI32(parts));
  auto branch = scf::IfOp::create(builder, helps, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    Value total = addGroups(part, parts, groups, index);
    WorkgroupStoreOp::create(builder, total, place(part, index));
  }
  BarrierOp::create(builder);
  return parts;
}

/// Each group leaves its sums; then the threads of the block share out the
/// columns, 16 bytes each, and add up their own in the order of the groups.
/// Stores of neighbours are neighbours, too, which single columns, apart by the
/// width of a vector, would not be.
void BlockSum::combineRowGroups() {
  const int64_t width = perColumn ? layout.getVectorWidth() : 1;
  const int64_t threads = perColumn ? layout.getThreadsPerRow() : 1;
  perGroup = perColumn && !layout.isInOrder()
                 ? layout.getColumns()
                 : kernel.fragments[sum].size() * width * threads;
  // Columns of a thread in the second half: a power of two, as the width.
  piece = std::min<int64_t>(width, 4);
  begin = kernel.workgroup.reserve(layout.getRowGroups() * perGroup * 4,
                                   /*alignment=*/4 * width);
  leave();
  BarrierOp::create(builder);

  const Threads &ids = kernel.threads;
  Value thread =
      add(mul(ids.rowGroup, layout.getThreadsPerRow()), ids.threadInRow);
  const int64_t groups = combineParts(thread);
  // Where the strip or the row begins.
  Value origin =
      !layout.isWhole()
          ? kernel.emitI32(0)
          : arith::SubIOp::create(builder, ids.firstColumn,
                                  mul(ids.threadInRow, layout.getVectorWidth()))
                .getResult();
  Value count = isOfRow   ? kernel.emitI32(1)
                : columns ? columns
                          : kernel.emitI32(layout.getColumns());
  const int64_t step = layout.getBlockThreads() * piece;
  int64_t alignment = dest.element.getWidth() / 8;
  if (dest.packed && !layout.hasDynamicColumns())
    alignment *= std::gcd(piece, layout.getColumns());
  for (int64_t done = 0; done < perGroup; done += step) {
    Value index = add(mul(thread, piece), kernel.emitI32(done));
    Value exists;
    if (done + step > perGroup) {
      exists = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult, index,
                                     kernel.emitI32(perGroup));
      index = arith::MinUIOp::create(builder, index,
                                     kernel.emitI32(perGroup - piece));
    }
    Value total = addGroups(/*first=*/Value(), 1, groups, index);
    Value column = add(origin, index);
    Value valid = arith::SubIOp::create(builder, count, column);
    if (exists)
      valid =
          arith::SelectOp::create(builder, exists, valid, kernel.emitI32(0));
    store(total, column, valid, alignment);
  }
}

/// How many columns a row has, where only a call knows it.
static Value emitColumns(Kernel &kernel) {
  if (!kernel.rows.getDynamicColumns())
    return {};
  return kernel.emitCast(kernel.getScalar(kernel.rows.getColumnsArgument()));
}

/// Stores the sums of the block, each to its place.
static void emitSums(Kernel &kernel, Rings &rings, ValueRange sums,
                     ArrayRef<SumPlace> dests, Value columns) {
  const Layout &layout = kernel.layout;
  // Where a thread's columns are.
  SmallVector<VectorPosition> positions;
  const bool isStrip = layout.hasStrips();
  for (int64_t index = 0; index < layout.getNumVectors(); ++index)
    positions.push_back(emitPosition(
        kernel, kernel.threads.firstColumn, index,
        isStrip ? layout.hasPartialStrips() : !layout.isFull(index), columns));
  for (auto [sum, dest] : llvm::zip(sums, dests)) {
    BlockSum one(kernel, dest, sum, columns);
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

void rmsnorm::emitBlockSums(Kernel &kernel, Rings &rings, ValueRange sums,
                            ValueRange partials, Value block) {
  if (sums.empty())
    return;
  ImplicitLocOpBuilder &builder = kernel.builder;
  Value columns = emitColumns(kernel);
  SmallVector<SumPlace> dests;
  for (Value buffer : partials) {
    Value row = arith::MulIOp::create(builder, block,
                                      kernel.arguments.getStride(buffer, 0));
    Value offset = arith::IndexCastOp::create(
        builder, builder.getI64Type(),
        arith::AddIOp::create(builder, kernel.emitIndex(0), row));
    dests.push_back({Value(), offset, builder.getF32Type(),
                     /*packed=*/true, Value(), Value(), FloatType()});
  }
  for (auto [dest, buffer] : llvm::zip(dests, partials))
    dest.pointer = kernel.arguments.getPointer(buffer);
  emitSums(kernel, rings, sums, dests, columns);
}

void rmsnorm::emitSumStores(Kernel &kernel, Rings &rings,
                            ArrayRef<SumStoreOp> stores) {
  if (stores.empty())
    return;
  SmallVector<Value> sums;
  SmallVector<SumPlace> dests;
  for (SumStoreOp store : stores) {
    Value first = arith::ConstantIntOp::create(kernel.builder, 0, 64);
    sums.push_back(store.getValue());
    auto getElement = [](Value buffer) {
      return cast<FloatType>(getElementTypeOrSelf(buffer.getType()));
    };
    Value init = store.getInit();
    auto getOffset = [&](Value buffer) -> Value {
      if (!buffer || !store.getMap())
        return first;
      return arith::IndexCastOp::create(kernel.builder,
                                        kernel.builder.getI64Type(),
                                        kernel.emitSegmentOffset(buffer));
    };
    Value offset = getOffset(store.getBase());
    dests.push_back({kernel.getPointer(store.getBase()), offset,
                     getElement(store.getBase()), /*packed=*/false,
                     init ? kernel.getPointer(init) : Value(), getOffset(init),
                     init ? getElement(init) : FloatType()});
  }
  emitSums(kernel, rings, sums, dests, emitColumns(kernel));
}
