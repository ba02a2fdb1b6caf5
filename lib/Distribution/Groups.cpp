// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Groups.cpp - values of groups of columns ---------------------------===//

#include "Groups.h"

#include "RMSNorm/IR/AccessMap.h"

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

/// The group of `column`, of groups of type `type`, i32.
static Value emitGroup(Kernel &kernel, Type type, Value column) {
  return arith::DivSIOp::create(kernel.builder, column,
                                kernel.emitI32(getGroupColumns(kernel, type)));
}

/// How many groups of type `type` the vector at `position` has, or has to
/// store; null: all.
static Value emitGroupsValid(Kernel &kernel, Type type,
                             const VectorPosition &position, bool isStore) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  const int64_t columns = getGroupColumns(kernel, type);
  const int64_t threads = kernel.layout.getGroupThreads(columns);
  Value valid = position.valid;
  if (valid)
    valid =
        arith::DivSIOp::create(builder, valid,
                               kernel.emitI32(std::min<int64_t>(
                                   columns, kernel.layout.getVectorWidth())));
  if (threads == 1 || !isStore)
    return valid;
  Value number = arith::RemUIOp::create(builder, kernel.threads.threadInRow,
                                        kernel.emitI32(threads));
  Value owns = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq, number,
                                     kernel.emitI32(0));
  return arith::SelectOp::create(
      builder, owns, valid ? valid : kernel.emitI32(1), kernel.emitI32(0));
}

Value rmsnorm::emitGroupLoad(Kernel &kernel, TileLoadOp load, Value offset,
                             const VectorPosition &position) {
  Value group = emitGroup(kernel, load.getType(), position.column);
  Value valid = emitGroupsValid(kernel, load.getType(), position,
                                /*isStore=*/false);
  auto type = cast<VectorType>(kernel.getFragmentType(load.getType()));
  return kernel.emitLoad(load, type, offset, group, valid,
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

/// Where the group that is `index` after the first of the vector at `position`
/// is in the buffer of `store`, of the row at `offset`.
static Value emitGroupOffset(Kernel &kernel, TileStoreOp store, Value offset,
                             const VectorPosition &position, int64_t index) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  Value base = store.getBase();
  Type type = store.getValue().getType();
  const int64_t columns = getGroupColumns(kernel, type);
  const int64_t step = kernel.layout.getVectorColumn(position.index);
  const AccessMap access = store.getAccess();
  const auto digits = access.getDigits(access.getColumnDim());
  auto add = [&](int64_t dim, Value number) {
    offset = arith::AddIOp::create(builder, offset,
                                   emitElements(kernel, base, dim, number));
  };
  // If a thread's vectors are whole groups apart, the offset splits into a part
  // that depends on the thread and one that does not. The second is computed
  // once for the launch and takes no registers of a thread.
  const bool isApart = digits.size() == 1 && step % columns == 0;
  const int64_t behind = index + (isApart ? step / columns : 0);
  Value group =
      emitGroup(kernel, type, isApart ? position.first : position.column);
  if (digits.size() > 1 && behind != 0)
    group = kernel.emitColumnSum(group, kernel.emitI32(behind));
  for (const AccessMap::Digit &digit : digits) {
    Value number = group;
    if (digit.modulus != 0) {
      Value size = kernel.emitI32(digit.modulus);
      number = arith::RemUIOp::create(builder, group, size);
      group = arith::DivUIOp::create(builder, group, size);
    }
    add(digit.place, number);
  }
  if (digits.size() == 1 && behind != 0)
    add(digits.front().place, kernel.emitI32(behind));
  return offset;
}

void rmsnorm::emitGroupStore(Kernel &kernel, Tile &tile, TileStoreOp store,
                             Value value, int64_t row,
                             const VectorPosition &position) {
  Type type = store.getValue().getType();
  const bool isRowMajor = store.getAccess().hasColumnLast();
  Value group = isRowMajor ? emitGroup(kernel, type, position.column) : Value();
  Value groupsValid = emitGroupsValid(kernel, type, position, /*isStore=*/true);
  const int64_t count = cast<VectorType>(value.getType()).getNumElements();
  Value offset = tile.addresses.getOffset(store.getBase(), row);
  Value valid = tile.emitStoreValid(row, groupsValid, count);
  const int64_t bytes = getElementBytes(store.getValue());
  if (isRowMajor)
    return kernel.emitStore(store, value, offset, group, valid, bytes);
  ImplicitLocOpBuilder &builder = kernel.builder;
  for (auto [index, element] : llvm::enumerate(extractAll(kernel, value))) {
    Value one = vector::BroadcastOp::create(
        builder, VectorType::get({1}, element.getType()), element);
    Value isValid =
        valid && index != 0
            ? arith::SubIOp::create(builder, valid, kernel.emitI32(index))
                  .getResult()
            : valid;
    kernel.emitStore(store, one,
                     emitGroupOffset(kernel, store, offset, position, index),
                     kernel.emitI32(0), isValid, bytes);
  }
}
