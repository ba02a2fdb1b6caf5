// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Groups.cpp - values of groups of columns ---------------------------===//

#include "Groups.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
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
    elements.push_back(vector::ExtractOp::create(kernel.builder, fragment, i));
  return elements;
}

Value rmsnorm::emitGroupReduce(Kernel &kernel, GroupReduceOp op,
                               Value fragment) {
  ImplicitLocOpBuilder &builder = kernel.builder;
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
      builder,
      cast<VectorType>(kernel.getFragmentType(op.getResult().getType())),
      totals);
}

Value rmsnorm::emitGroupBroadcast(Kernel &kernel, GroupBroadcastOp op,
                                  Value fragment) {
  const auto type =
      cast<VectorType>(kernel.getFragmentType(op.getResult().getType()));
  SmallVector<Value> groups = extractAll(kernel, fragment);
  if (groups.size() == 1)
    return vector::BroadcastOp::create(kernel.builder, type, groups.front());
  SmallVector<Value> elements;
  for (int64_t i = 0, e = type.getNumElements(); i < e; ++i)
    elements.push_back(groups[i * groups.size() / e]);
  return vector::FromElementsOp::create(kernel.builder, type, elements);
}

/// Where the groups of the vector at `position` are in a buffer of groups of
/// type `type`, and how many of them there are; null: all.
static VectorPosition emitGroupPosition(Kernel &kernel, VectorType type,
                                        const VectorPosition &position,
                                        bool isStore) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  const int64_t columns = getGroupColumns(kernel, type);
  auto divide = [&](Value value, int64_t by) -> Value {
    return arith::DivSIOp::create(builder, value, kernel.emitI32(by));
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
  Value number = arith::RemUIOp::create(builder, kernel.threads.threadInRow,
                                        kernel.emitI32(threads));
  Value owns = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, number,
                                     kernel.emitI32(0));
  groups.valid = arith::SelectOp::create(
      builder, owns, groups.valid ? groups.valid : kernel.emitI32(1),
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

/// `number`, i32, times the stride of dimension `dim` of `buffer`, i64.
static Value emitElements(Kernel &kernel, Value buffer, int64_t dim,
                          Value number) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  Value elements = arith::MulIOp::create(
      builder,
      arith::IndexCastUIOp::create(builder, builder.getIndexType(), number),
      kernel.getStride(buffer, dim));
  return arith::IndexCastOp::create(builder, builder.getI64Type(), elements);
}

/// Where the group that is `index` behind that of `column`, i32, is in the
/// buffer of `store`, which has `row_dims`, of the row at `offset`.
static Value emitGroupOffset(Kernel &kernel, TileStoreOp store, Value offset,
                             Value column, int64_t index) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  Value base = store.getBase();
  const int64_t columns = getGroupColumns(kernel, store.getValue().getType());
  const SmallVector<int64_t> dims = store.getGroupDims();
  auto add = [&](int64_t dim, Value number) {
    offset = arith::AddIOp::create(builder, offset,
                                   emitElements(kernel, base, dim, number));
  };
  // What is computed ahead of the rows is then one product of a thread, and of
  // each of its vectors one of the launch, which takes no registers of
  // a thread.
  int64_t behind = 0;
  if (auto sum = column.getDefiningOp<arith::AddIOp>(); dims.size() == 1 && sum)
    if (std::optional<int64_t> constant = getConstantIntValue(sum.getRhs());
        constant && *constant % columns == 0) {
      column = sum.getLhs();
      behind = *constant / columns;
    }
  Value group =
      arith::DivSIOp::create(builder, column, kernel.emitI32(columns));
  if (dims.size() > 1 && index != 0)
    group = kernel.emitColumnSum(group, kernel.emitI32(index));
  for (int64_t dim : llvm::reverse(dims)) {
    Value number = group;
    if (dim != dims.front()) {
      Value size =
          kernel.emitI32(cast<MemRefType>(base.getType()).getDimSize(dim));
      number = arith::RemUIOp::create(builder, group, size);
      group = arith::DivUIOp::create(builder, group, size);
    }
    add(dim, number);
  }
  if (dims.size() == 1 && behind + index != 0)
    add(dims.front(), kernel.emitI32(behind + index));
  return offset;
}

void rmsnorm::emitGroupStore(Kernel &kernel, Tile &tile, TileStoreOp store,
                             Value value, int64_t row,
                             const VectorPosition &position) {
  VectorPosition groups = emitGroupPosition(
      kernel, cast<VectorType>(store.getValue().getType()), position,
      /*isStore=*/true);
  const int64_t count = cast<VectorType>(value.getType()).getNumElements();
  Value offset = tile.addresses.getOffset(store.getBase(), row);
  Value valid = tile.emitStoreValid(row, groups.valid, count);
  const int64_t bytes = getElementBytes(store.getValue());
  if (!store.getRowDims())
    return kernel.emitStore(store, value, offset, groups.column, valid, bytes);
  ImplicitLocOpBuilder &builder = kernel.builder;
  for (auto [index, element] : llvm::enumerate(extractAll(kernel, value))) {
    Value one = vector::BroadcastOp::create(
        builder, VectorType::get({1}, element.getType()), element);
    Value isValid =
        valid && index != 0
            ? arith::SubIOp::create(builder, valid, kernel.emitI32(index))
                  .getResult()
            : valid;
    kernel.emitStore(
        store, one,
        emitGroupOffset(kernel, store, offset, position.column, index),
        kernel.emitI32(0), isValid, bytes);
  }
}
