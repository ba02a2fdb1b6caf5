// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CarrySums.cpp - rmsnorm-carry-sums --------------------------------===//

#include "RMSNorm/Transforms/Passes.h"
#include "RowsProgram.h"

#include "RMSNorm/Schedule/Select.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_CARRYSUMS
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// `tiles` with a zero of `types` for each more sum over rows. Its body has
/// their accumulators as last arguments, and yields them.
static TilesOp addInits(RewriterBase &rewriter, TilesOp tiles,
                        ArrayRef<Type> types) {
  rewriter.setInsertionPoint(tiles);
  SmallVector<Value> inits(tiles.getInits());
  for (Type type : types)
    inits.push_back(arith::ConstantOp::create(rewriter, tiles.getLoc(),
                                              rewriter.getZeroAttr(type)));
  auto carrying =
      TilesOp::create(rewriter, tiles.getLoc(), TypeRange(ValueRange(inits)),
                      tiles.getCopies(), inits, tiles.getStages());
  carrying.getBegin().takeBody(tiles.getBegin());
  carrying.getBody().takeBody(tiles.getBody());
  for (Type type : types)
    carrying.getBody().addArgument(type, tiles.getLoc());
  auto yield = cast<YieldOp>(carrying.getBody().front().getTerminator());
  rewriter.modifyOpInPlace(yield, [&] {
    yield.getValuesMutable().append(
        carrying.getAccumulators().take_back(types.size()));
  });
  rewriter.replaceOp(tiles,
                     carrying.getResults().take_front(tiles.getNumResults()));
  return carrying;
}

namespace {
/// Where a sum goes, and what is added to it, which may be null.
struct SumDest {
  Value dest, init;
};
} // namespace

/// The program that adds up `partials`, what the blocks of `rows` have come to,
/// into `dest`.
static RowsOp createSumRows(RewriterBase &rewriter, RowsOp rows, Value partials,
                            const SumDest &dest, const ScheduleFields &fields) {
  Location loc = rows.getLoc();
  auto type = cast<MemRefType>(partials.getType());
  Value columns = type.isDynamicDim(1) ? rows.getDynamicColumns() : Value();
  const int64_t bound =
      columns ? int64_t(rows.getColumns()) : type.getDimSize(1);
  Value count = memref::DimOp::create(rewriter, loc, partials, 0);
  auto access = [&](AccessKind kind) -> Attribute {
    return AccessAttr::get(rewriter.getContext(), kind, /*constant=*/false,
                           /*alias=*/-1);
  };
  const bool inPlace = dest.init == dest.dest;
  SmallVector<Value> operands = {partials, dest.dest};
  SmallVector<Attribute> accesses = {
      access(AccessKind::read),
      access(inPlace ? AccessKind::update : AccessKind::write)};
  if (dest.init && !inPlace) {
    operands.push_back(dest.init);
    accesses.push_back(access(AccessKind::read));
  }
  auto sumRows =
      RowsOp::create(rewriter, loc, /*partials=*/TypeRange(), count, columns,
                     operands, /*scalars=*/ValueRange(), {ShapedType::kDynamic},
                     bound, rewriter.getArrayAttr(accesses),
                     ScheduleAttr::get(rewriter.getContext(), fields));
  Block &tile = createBody(rewriter, sumRows);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(&tile);
  MutableArrayRef<BlockArgument> buffers = sumRows.getBufferArguments();
  Value load = TileLoadOp::create(
      rewriter, loc,
      VectorType::get({fields.getTileRows(), bound}, rewriter.getF32Type()),
      TileKind::tile, buffers[0], tile.getArgument(0), /*gather=*/Value(),
      /*columns=*/Value(), /*dims=*/nullptr);
  AccumulateOp::create(rewriter, loc, /*result=*/Type(), load, buffers[1],
                       /*columns=*/Value(),
                       dest.init ? Value(inPlace ? buffers[1] : buffers[2])
                                 : Value());
  YieldOp::create(rewriter, loc);
  return sumRows;
}

/// Carries the sums of `rows` and writes them behind its tiles.
static void storeSums(RewriterBase &rewriter, RowsOp rows,
                      ArrayRef<SumDest> dests) {
  TilesOp tiles = rows.getTiles();
  rewriter.setInsertionPointAfter(tiles);
  for (auto [sum, dest] : llvm::zip(tiles.getResults(), dests))
    SumStoreOp::create(rewriter, sum.getLoc(), sum, dest.dest, dest.init);
}

/// Makes the sums of `rows` results of it, and adds up those.
static void yieldSums(RewriterBase &rewriter, RowsOp rows,
                      ArrayRef<SumDest> dests, const ScheduleFields &fields,
                      SmallVectorImpl<RowsOp> &made) {
  SmallVector<Type> types;
  SmallVector<SumDest> operands;
  for (auto [sum, dest] : llvm::zip(rows.getTiles().getResults(), dests)) {
    const int64_t columns = cast<VectorType>(sum.getType()).getDimSize(1);
    const bool isDynamic = columns != 1 && rows.getDynamicColumns();
    types.push_back(MemRefType::get(
        {ShapedType::kDynamic, isDynamic ? ShapedType::kDynamic : columns},
        rewriter.getF32Type()));
    operands.push_back({rows.getOperandOf(dest.dest),
                        dest.init ? rows.getOperandOf(dest.init) : Value()});
  }
  Operation *end = rows.getBody().front().getTerminator();
  rewriter.modifyOpInPlace(
      end, [&] { end->setOperands(rows.getTiles().getResults()); });
  rewriter.setInsertionPoint(rows);
  auto carrying = RowsOp::create(
      rewriter, rows.getLoc(), types, rows.getSizes(), rows.getDynamicColumns(),
      rows.getBuffers(), rows.getScalars(), rows.getStaticSizes(),
      rows.getColumns(), rows.getAccesses(), rows.getScheduleAttr());
  carrying.getBody().takeBody(rows.getBody());
  for (auto [sum, dest] : llvm::zip(carrying.getPartials(), operands))
    made.push_back(createSumRows(
        rewriter, carrying, sum, dest,
        getSumRowsFields(fields,
                         cast<MemRefType>(sum.getType()).isDynamicDim(1))));
  rewriter.eraseOp(rows);
  pruneOperands(rewriter, carrying);
}

/// Adds to `made` what adds up what the blocks have come to.
static LogicalResult carrySums(RowsOp rows, SmallVectorImpl<RowsOp> &made) {
  SmallVector<AccumulateOp> sums;
  rows.walk([&](AccumulateOp sum) {
    if (!sum.getResult())
      sums.push_back(sum);
  });
  if (sums.empty())
    return success();
  FailureOr<ScheduleAttr> schedule = rows.getRequiredSchedule();
  if (failed(schedule) || failed(verifyNotPlaced(rows)))
    return failure();
  const bool hasAllRows = schedule->getColumnSums() == ColumnSums::all_rows;
  if (schedule->getBlocksPerSm() == 0 && !hasAllRows)
    return sums.front().emitOpError("expected a schedule with blocks_per_sm >= "
                                    "1, as a persistent block adds up its "
                                    "rows");

  IRRewriter rewriter(rows.getContext());
  SmallVector<Type> types;
  for (AccumulateOp sum : sums)
    types.push_back(VectorType::get(
        {schedule->getRowGroups(), sum.getSource().getType().getDimSize(1)},
        rewriter.getF32Type()));
  TilesOp tiles = addInits(rewriter, rows.getTiles(), types);
  auto yield = cast<YieldOp>(tiles.getBody().front().getTerminator());
  SmallVector<SumDest> dests;
  for (auto [sum, accumulator, next] :
       llvm::zip(sums, tiles.getAccumulators(), yield.getValuesMutable())) {
    dests.push_back({sum.getDest(), sum.getInit()});
    rewriter.setInsertionPoint(sum);
    next.set(AccumulateOp::create(rewriter, sum.getLoc(), accumulator.getType(),
                                  sum.getSource(), accumulator,
                                  /*columns=*/Value(), /*init=*/Value())
                 .getResult());
    rewriter.eraseOp(sum);
  }
  if (hasAllRows)
    storeSums(rewriter, rows, dests);
  else
    yieldSums(rewriter, rows, dests, schedule->getFields(), made);
  return success();
}

namespace {
struct CarrySums final : rmsnorm::impl::CarrySumsBase<CarrySums> {
  using CarrySumsBase::CarrySumsBase;

  void runOnOperation() override {
    SmallVector<RowsOp> worklist = getRows(getOperation());
    while (!worklist.empty())
      if (failed(carrySums(worklist.pop_back_val(), worklist)))
        return signalPassFailure();
  }
};
} // namespace
