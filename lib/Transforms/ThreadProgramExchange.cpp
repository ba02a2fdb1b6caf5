// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ThreadProgramExchange.cpp - exchanges of subgroups' totals --------===//

#include "ThreadProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// Reductions in two halves: at most one begins before another one ends, so
/// that four slots need no other flow control.
void ThreadProgram::emitExchangeInit(Block &program) {
  isSplit = !program.getOps<RowReduceEndOp>().empty();
  if (!isSplit && schedule.getCluster() == 1)
    return;
  // The most totals that one reduction has.
  int64_t most = 0;
  for (Operation &op : program) {
    auto reduce = dyn_cast<RowReduceOp>(op);
    if (isa<RowReduceEndOp>(op) ||
        (reduce && isPerColumn(reduce.getInputs().front().getType())))
      most = std::max<int64_t>(most,
                               op.getNumResults() * schedule.getRowsPerGroup());
  }
  if (most == 0)
    return;
  constexpr int64_t slots = 4;
  auto get = [&](int64_t offset) {
    return ExchangeAttr::get(builder.getContext(), slots, most,
                             schedule.getRowGroups(), getSubgroupsPerRow(),
                             schedule.getCluster(), offset);
  };
  exchange = get(workgroup.reserve(get(0).getBytes(), /*alignment=*/16));
  ExchangeInitOp::create(builder, loc, exchange);
}

void ThreadProgram::publish(Location at, ArrayRef<Value> totals, Value number) {
  Value subgroupInRow = subgroup;
  if (schedule.getRowGroups() > 1)
    subgroupInRow = arith::RemUIOp::create(builder, loc, subgroup,
                                           emitI32(getSubgroupsPerRow()));
  ExchangePublishOp::create(builder, at, totals, number, rowGroup,
                            subgroupInRow, exchange);
}

SmallVector<Value> ThreadProgram::await(Location at, ArrayRef<ReduceKind> kinds,
                                        Value number) {
  ExchangeAwaitOp::create(builder, at, number, rowGroup, exchange);
  SmallVector<Value> totals;
  for (auto [index, kind] : llvm::enumerate(kinds)) {
    const int64_t value = index;
    totals.push_back(
        combineSubgroups(kind, exchange.getPublishers(), [&](Value publisher) {
          return ExchangeReadOp::create(
                     builder, at, builder.getF32Type(), number, rowGroup,
                     publisher, builder.getI64IntegerAttr(value), exchange)
              .getResult();
        }));
  }
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

static Value toI32(OpBuilder &builder, Location loc, Value index) {
  return arith::IndexCastUIOp::create(builder, loc, builder.getI32Type(),
                                      index);
}

void ThreadProgram::emitBegin(RowReduceBeginOp begin, ArrayRef<Value> totals) {
  publish(begin.getLoc(), totals,
          toI32(builder, loc, getScalar(begin.getNumber(), *scalars)));
}

void ThreadProgram::emitEnd(RowReduceEndOp end) {
  SmallVector<ReduceKind> kinds;
  for (auto [kind, result] : llvm::zip(end.getKinds(), end.getResults()))
    kinds.append(getNumRows(result.getType()),
                 cast<ReduceKindAttr>(kind).getValue());
  Value number = toI32(builder, loc, getScalar(end.getNumber(), *scalars));
  setResults(end.getResults(), await(end.getLoc(), kinds, number));
}
