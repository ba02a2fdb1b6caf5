// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Combine.cpp - what the threads of a row have summed becomes one ---===//

#include "Combine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

Combine::Combine(Kernel &kernel, TilesOp tiles) : kernel(kernel) {
  for (auto traverse : tiles.getBody().getOps<TraverseOp>()) {
    numReductions += traverse.getNumReductions() != 0;
    numValues = std::max(numValues, traverse.getNumReductions());
  }
  numValues = std::max<int64_t>(numValues, tiles.getSums().size());
  if (kernel.layout.getCluster() == 1 || numValues == 0)
    return;
  // At most one reduction in two halves begins before another one ends, so that
  // four slots need no other flow control.
  constexpr int64_t slots = 4;
  auto get = [&](int64_t offset) {
    return ExchangeAttr::get(kernel.builder.getContext(), slots, numValues,
                             kernel.layout.getSubgroupsPerRow(),
                             kernel.layout.getCluster(), offset);
  };
  exchange = get(kernel.workgroup.reserve(get(0).getBytes(), /*alignment=*/16));
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void Combine::emitInit() {
  if (exchange)
    ExchangeInitOp::create(kernel.builder, exchange);
}

void Combine::emitReady() { ExchangeReadyOp::create(kernel.builder, exchange); }

bool Combine::needsNumber() const {
  if (kernel.layout.getCluster() > 1)
    return numReductions > 0;
  // Two exchanges a tile already alternate between two places.
  return numReductions == 1 && kernel.layout.hasSeveralSubgroups();
}

Value Combine::emitNextNumber(Value number) {
  Value one = kernel.emitI32(1);
  if (kernel.layout.getCluster() > 1)
    return arith::AddIOp::create(kernel.builder, number, one);
  return arith::XOrIOp::create(kernel.builder, number, one);
}

void Combine::beginTile(Value number) {
  tileNumber = number;
  numDone = 0;
}

//===----------------------------------------------------------------------===//
// Whole reductions
//===----------------------------------------------------------------------===//

void Combine::emit(TraverseOp traverse, ArrayRef<Value> partials) {
  SmallVector<Value> totals = combineThreads(traverse, partials);
  if (kernel.layout.getCluster() > 1)
    totals = exchangeBlocks(traverse, totals);
  else if (kernel.layout.hasSeveralSubgroups())
    totals = exchangeSubgroups(traverse, totals);
  ++numDone;
  setSums(traverse.getSums(), totals);
}

/// `totals`, those of the rows of each sum in turn.
void Combine::setSums(ValueRange sums, ArrayRef<Value> totals) {
  const auto *next = totals.begin();
  for (Value sum : sums) {
    SmallVector<Value> rows;
    Type element = getElementTypeOrSelf(sum.getType());
    for (int64_t row = 0; row < kernel.getNumRows(sum.getType()); ++row, ++next)
      rows.push_back(element.isF32() ? *next
                                     : arith::TruncFOp::create(kernel.builder,
                                                               element, *next)
                                           .getResult());
    kernel.fragments[sum] = std::move(rows);
  }
}

/// The totals of the thread's subgroup, of the threads of it that share a row.
SmallVector<Value> Combine::combineThreads(TraverseOp traverse,
                                           ArrayRef<Value> partials) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  const int64_t width = kernel.layout.getSubgroupThreads();
  const int64_t rows = partials.size() / traverse.getNumReductions();
  SmallVector<Value> totals;
  for (auto [index, partial] : llvm::enumerate(partials)) {
    const ReduceKind kind = traverse.getKind(index / rows);
    // Pairs, then pairs of pairs: short chains.
    SmallVector<Value> elements;
    for (int64_t element = 0; element < kernel.layout.getVectorWidth();
         ++element)
      elements.push_back(vector::ExtractOp::create(builder, partial, element));
    while (elements.size() > 1) {
      SmallVector<Value> half;
      for (size_t i = 0; i < elements.size(); i += 2)
        half.push_back(kernel.emitCombine(kind, elements[i], elements[i + 1]));
      elements = std::move(half);
    }
    Value total = elements.front();
    if (width > 1)
      total = SubgroupReduceOp::create(
          builder, traverse.getLoc(), builder.getF32Type(), kind, total, width);
    totals.push_back(total);
  }
  return totals;
}

/// Lane l takes publishers l, l + subgroup size, ...; lanes without one repeat
/// the last and contribute the identity. `load` gives the value of a publisher.
Value Combine::combineSubgroups(ReduceKind kind, int64_t publishers,
                                function_ref<Value(Value)> load) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  const int64_t width =
      std::min(kernel.layout.getSubgroupSize(),
               static_cast<int64_t>(llvm::PowerOf2Ceil(publishers)));
  Value slot = arith::AndIOp::create(builder, kernel.threads.lane,
                                     kernel.emitI32(width - 1));
  Value result;
  for (int64_t first = 0; first < publishers; first += width) {
    Value publisher = slot;
    if (first > 0)
      publisher = arith::AddIOp::create(builder, slot, kernel.emitI32(first));
    Value exists;
    if (first + width > publishers) {
      exists = arith::CmpIOp::create(builder, arith::CmpIPredicate::ult,
                                     publisher, kernel.emitI32(publishers));
      publisher = arith::MinUIOp::create(builder, publisher,
                                         kernel.emitI32(publishers - 1));
    }
    Value value = load(publisher);
    if (exists)
      value = arith::SelectOp::create(
          builder, exists, value, kernel.emitIdentity(kind, value.getType()));
    result = result ? kernel.emitCombine(kind, result, value) : value;
  }
  return SubgroupReduceOp::create(builder, result.getType(), kind, result,
                                  width);
}

/// Rows that several subgroups share: each leaves its total in workgroup
/// memory, and every subgroup combines them all. Two places are used in turns,
/// by two reductions of a tile or by consecutive tiles, so that one barrier is
/// enough: a subgroup that writes a place again has passed the barrier after
/// which all have read it.
SmallVector<Value> Combine::exchangeSubgroups(TraverseOp traverse,
                                              ArrayRef<Value> totals) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  const int64_t perRow = kernel.layout.getSubgroupsPerRow();
  const int64_t perBlock = kernel.layout.getRowGroups() * perRow;
  const int64_t rows = totals.size() / traverse.getNumReductions();

  // Byte offset of total `index` of the first subgroup.
  const int64_t bytes = totals.size() * perBlock * 4;
  const int64_t begin = kernel.workgroup.reserve((tileNumber ? 2 : 1) * bytes);
  Value base = kernel.emitI32(begin);
  if (tileNumber) {
    base = arith::MulIOp::create(builder, tileNumber, kernel.emitI32(bytes));
    if (begin != 0)
      base = arith::AddIOp::create(builder, base, kernel.emitI32(begin));
  }
  auto place = [&](int64_t index, Value number) -> Value {
    Value offset = arith::AddIOp::create(builder, base,
                                         kernel.emitI32(index * perBlock * 4));
    return arith::AddIOp::create(
        builder, offset,
        arith::MulIOp::create(builder, number, kernel.emitI32(4)));
  };

  Value first = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                      kernel.threads.lane, kernel.emitI32(0));
  auto branch = scf::IfOp::create(builder, first,
                                  /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    for (auto [index, total] : llvm::enumerate(totals))
      WorkgroupStoreOp::create(builder, total,
                               place(index, kernel.threads.subgroup));
  }
  BarrierOp::create(builder, traverse.getLoc());

  SmallVector<Value> results;
  for (int64_t index = 0, e = totals.size(); index < e; ++index)
    results.push_back(combineSubgroups(
        traverse.getKind(index / rows), perRow, [&](Value number) {
          if (kernel.layout.getRowGroups() > 1)
            number = arith::AddIOp::create(
                builder, number,
                arith::MulIOp::create(builder, kernel.threads.rowGroup,
                                      kernel.emitI32(perRow)));
          return WorkgroupLoadOp::create(builder, builder.getF32Type(),
                                         place(index, number))
              .getResult();
        }));
  return results;
}

/// Every subgroup of the cluster publishes its totals when it has them, and
/// combines those of all in the same order.
SmallVector<Value> Combine::exchangeBlocks(TraverseOp traverse,
                                           ArrayRef<Value> totals) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  // The loads of the first row hide the time to prepare the exchange.
  if (numDone == 0) {
    Value first = arith::CmpIOp::create(builder, arith::CmpIPredicate::eq,
                                        tileNumber, kernel.emitI32(0));
    auto branch = scf::IfOp::create(builder, first,
                                    /*withElseRegion=*/false);
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(branch.thenBlock());
    emitReady();
  }

  // Publishes are numbered through all tiles.
  Value number = tileNumber;
  if (numReductions > 1)
    number = arith::AddIOp::create(
        builder,
        arith::MulIOp::create(builder, tileNumber,
                              kernel.emitI32(numReductions)),
        kernel.emitI32(numDone));
  ExchangePublishOp::create(builder, traverse.getLoc(), totals, number,
                            kernel.threads.subgroup, exchange);
  return await(traverse, number);
}

/// The combination of the values that the subgroups of the cluster publish
/// under `number`.
SmallVector<Value> Combine::await(TraverseOp traverse, Value number) {
  ImplicitLocOpBuilder &builder = kernel.builder;
  Location loc = traverse.getLoc();
  ExchangeAwaitOp::create(builder, loc, number, exchange);
  SmallVector<Value> totals;
  for (int64_t index = 0; index < traverse.getNumReductions(); ++index) {
    IntegerAttr value = builder.getI64IntegerAttr(index);
    totals.push_back(combineSubgroups(
        traverse.getKind(index), exchange.getPublishers(),
        [&](Value publisher) {
          return ExchangeReadOp::create(builder, loc, builder.getF32Type(),
                                        number, publisher, value, exchange)
              .getResult();
        }));
  }
  return totals;
}

//===----------------------------------------------------------------------===//
// Reductions in two halves
//===----------------------------------------------------------------------===//

void Combine::emitPublish(TraverseOp traverse, ArrayRef<Value> partials,
                          Value number) {
  SmallVector<Value> totals = combineThreads(traverse, partials);
  ExchangePublishOp::create(kernel.builder, traverse.getLoc(), totals,
                            kernel.emitCast(number), kernel.threads.subgroup,
                            exchange);
}

void Combine::emitAwait(TraverseOp traverse, ValueRange sums, Value number) {
  setSums(sums, await(traverse, kernel.emitCast(number)));
}
