// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Groups.cpp - values of groups of columns ---------------------------===//

#include "Groups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static int64_t getGroupColumns(Kernel &kernel, Type groups) {
  return kernel.layout.getColumns() / cast<VectorType>(groups).getDimSize(1);
}

static SmallVector<Value> extractAll(Kernel &kernel, Value fragment) {
  SmallVector<Value> elements;
  const auto type = cast<VectorType>(fragment.getType());
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    elements.push_back(
        vector::ExtractOp::create(kernel.builder, kernel.loc, fragment, i));
  return elements;
}

Value rmsnorm::emitGroupReduce(Kernel &kernel, GroupReduceOp op,
                               Value fragment) {
  OpBuilder &builder = kernel.builder;
  const int64_t columns = getGroupColumns(kernel, op.getResult().getType());
  const int64_t threads = kernel.layout.getGroupThreads(columns);
  SmallVector<Value> elements = extractAll(kernel, fragment);
  // Pairs, then pairs of pairs, within each group.
  const int64_t count = std::min<int64_t>(columns, elements.size());
  SmallVector<Value> totals;
  for (size_t first = 0; first < elements.size(); first += count) {
    SmallVector<Value> group(ArrayRef<Value>(elements).slice(first, count));
    while (group.size() > 1) {
      SmallVector<Value> half;
      for (size_t i = 0; i + 1 < group.size(); i += 2)
        half.push_back(
            kernel.emitCombine(op.getKind(), group[i], group[i + 1]));
      if (group.size() % 2 != 0)
        half.push_back(group.back());
      group = std::move(half);
    }
    totals.push_back(group.front());
  }
  if (threads > 1)
    totals.front() =
        SubgroupReduceOp::create(builder, op.getLoc(), builder.getF32Type(),
                                 op.getKind(), totals.front(), threads);
  return vector::FromElementsOp::create(
      builder, kernel.loc,
      cast<VectorType>(kernel.getFragmentType(op.getResult().getType())),
      totals);
}

Value rmsnorm::emitGroupBroadcast(Kernel &kernel, GroupBroadcastOp op,
                                  Value fragment) {
  const auto type =
      cast<VectorType>(kernel.getFragmentType(op.getResult().getType()));
  SmallVector<Value> groups = extractAll(kernel, fragment);
  if (groups.size() == 1)
    return vector::BroadcastOp::create(kernel.builder, kernel.loc, type,
                                       groups.front());
  SmallVector<Value> elements;
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i)
    elements.push_back(groups[i * groups.size() / e]);
  return vector::FromElementsOp::create(kernel.builder, kernel.loc, type,
                                        elements);
}

/// Where the groups of the vector at `position` are in a buffer of groups of
/// type `type`, and how many of them there are; null: all.
static VectorPosition emitGroupPosition(Kernel &kernel, VectorType type,
                                        const VectorPosition &position,
                                        bool isStore) {
  OpBuilder &builder = kernel.builder;
  Location loc = kernel.loc;
  const int64_t columns = getGroupColumns(kernel, type);
  auto divide = [&](Value value, int64_t by) -> Value {
    return arith::DivSIOp::create(builder, loc, value, kernel.emitI32(by));
  };
  VectorPosition groups = position;
  groups.column = divide(position.column, columns);
  const int64_t threads = kernel.layout.getGroupThreads(columns);
  if (position.valid)
    groups.valid =
        divide(position.valid,
               std::min<int64_t>(columns, kernel.layout.getVectorWidth()));
  if (threads == 1 || !isStore)
    return groups;
  Value number = arith::RemUIOp::create(
      builder, loc, kernel.threads.threadInRow, kernel.emitI32(threads));
  Value owns = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                     number, kernel.emitI32(0));
  groups.valid = arith::SelectOp::create(
      builder, loc, owns, groups.valid ? groups.valid : kernel.emitI32(1),
      kernel.emitI32(0));
  return groups;
}

Value rmsnorm::emitGroupLoad(Kernel &kernel, TileLoadOp load, Value offset,
                             const VectorPosition &position) {
  VectorPosition groups = emitGroupPosition(kernel, load.getType(), position,
                                            /*isStore=*/false);
  auto type = cast<VectorType>(kernel.getFragmentType(load.getType()));
  return kernel.emitLoad(load, type, offset, groups.column, groups.valid,
                         getElementBytes(load));
}

void rmsnorm::emitGroupStore(Kernel &kernel, Tile &tile, TileStoreOp store,
                             Value value, int64_t row,
                             const VectorPosition &position) {
  VectorPosition groups = emitGroupPosition(
      kernel, cast<VectorType>(store.getValue().getType()), position,
      /*isStore=*/true);
  const int64_t count = cast<VectorType>(value.getType()).getNumElements();
  kernel.emitStore(store, value, tile.addresses.getOffset(store.getBase(), row),
                   groups.column, tile.emitStoreValid(row, groups.valid, count),
                   getElementBytes(store.getValue()));
}
