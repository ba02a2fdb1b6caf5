// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- CarrySums.cpp - rmsnorm-carry-sums --------------------------------===//

#include "RMSNorm/IR/AccessMap.h"
#include "RMSNorm/IR/TileTypes.h"
#include "RMSNorm/Rows/Passes.h"
#include "RMSNorm/Rows/RowsProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_CARRYSUMS
#include "RMSNorm/Rows/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// `tiles` with one more sum over rows for each of `values`, its initial value.
/// The body gets their accumulators as last arguments, and yields them.
static TilesOp addInits(RewriterBase &rewriter, TilesOp tiles,
                        ArrayRef<DenseElementsAttr> values) {
  rewriter.setInsertionPoint(tiles);
  SmallVector<Value> inits(tiles.getInits());
  for (DenseElementsAttr value : values)
    inits.push_back(arith::ConstantOp::create(rewriter, tiles.getLoc(), value));
  auto carrying =
      TilesOp::create(rewriter, tiles.getLoc(), TypeRange(ValueRange(inits)),
                      tiles.getCopies(), inits, tiles.getStages());
  carrying.getBegin().takeBody(tiles.getBegin());
  carrying.getBody().takeBody(tiles.getBody());
  for (DenseElementsAttr value : values)
    carrying.getBody().addArgument(value.getType(), tiles.getLoc());
  auto yield = cast<YieldOp>(carrying.getBody().front().getTerminator());
  rewriter.modifyOpInPlace(yield, [&] {
    yield.getValuesMutable().append(
        carrying.getAccumulators().take_back(values.size()));
  });
  rewriter.replaceOp(tiles,
                     carrying.getResults().take_front(tiles.getNumResults()));
  return carrying;
}

namespace {
/// The destination of a sum, its initial value, which may be null, and the
/// other operands of rmsnorm.accumulate.
struct CarriedSum {
  Value dest, init;
  ReduceKind kind;
  FloatAttr start;
  SmallVector<int64_t> dims;
};
} // namespace

/// The map of a sum into `dest`, which has rows for `dims` of `numSizes`.
static AffineMapAttr getSumMap(Value dest, int64_t numSizes,
                               ArrayRef<int64_t> dims) {
  return AccessMap::getSum(dest.getContext(), numSizes, dims,
                           cast<MemRefType>(dest.getType()).getRank());
}

/// The schedule of the kernel that adds up what the blocks of `blocks` have
/// left: rows of f32 without padding or, if `values`, one value each.
static ScheduleFields getSumRowsFields(const ScheduleFields &blocks,
                                       bool dynamicColumns, bool values) {
  ScheduleFields fields;
  fields.columnSums = ColumnSums::all_rows;
  fields.cache = Cache::reload;
  fields.columnOperands = fields.getDefaultColumnOperands();
  fields.constants = fields.getDefaultConstants();
  fields.threadsPerRow = blocks.sumLanes;
  fields.rowGroups = blocks.sumWalkers;
  fields.vectorWidth = 4;
  fields.rowsPerGroup = blocks.sumInFlight;
  fields.alignment = dynamicColumns ? 4 : 16;
  if (values) {
    // A value a thread of the largest block: there are as many as the rows'
    // program has blocks, which are many where it is not persistent.
    fields.rowGroups = 1024;
    fields.threadsPerRow = fields.vectorWidth = 1;
    fields.rowsPerGroup = fields.getDefaultSumInFlight();
  }
  return fields;
}

/// The program that adds up `partials`, the sums of the blocks of `rows`, into
/// `dest`.
static RowsOp createSumRows(RewriterBase &rewriter, RowsOp rows, Value partials,
                            const CarriedSum &dest,
                            const ScheduleFields &fields) {
  Location loc = rows.getLoc();
  auto type = cast<MemRefType>(partials.getType());
  Value columns = type.isDynamicDim(1) ? rows.getDynamicColumns() : Value();
  const int64_t bound =
      columns ? int64_t(rows.getColumns()) : type.getDimSize(1);
  SmallVector<OpFoldResult> sizes = {
      memref::DimOp::create(rewriter, loc, partials, 0).getResult()};
  SmallVector<int64_t> segments;
  if (!dest.dims.empty()) {
    // The rows of a segment lie together.
    Value count = arith::MaxUIOp::create(
        rewriter, loc, rows.createNumSegments(rewriter),
        arith::ConstantIndexOp::create(rewriter, loc, 1));
    sizes[0] =
        arith::DivUIOp::create(rewriter, loc, cast<Value>(sizes[0]), count)
            .getResult();
    for (auto [index, dim] : llvm::enumerate(dest.dims)) {
      sizes.insert(sizes.begin() + index, rows.getMixedSizes()[dim]);
      segments.push_back(index);
    }
  }
  const bool inPlace = dest.init == dest.dest;
  SmallVector<Value> operands = {partials, dest.dest};
  SmallVector<AccessKind> kinds = {
      AccessKind::read, inPlace ? AccessKind::update : AccessKind::write};
  if (dest.init && !inPlace) {
    operands.push_back(dest.init);
    kinds.push_back(AccessKind::read);
  }
  RowsOp sumRows = createRows(
      rewriter, loc, /*results=*/TypeRange(), sizes, columns, bound, operands,
      kinds, ScheduleAttr::get(rewriter.getContext(), fields), segments);
  Block &tile = sumRows.getTiles().getBody().front();
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToEnd(&tile);
  MutableArrayRef<BlockArgument> buffers = sumRows.getBufferArguments();
  Value load = TileLoadOp::create(
      rewriter, loc,
      VectorType::get({fields.getTileRows(), bound}, rewriter.getF32Type()),
      TileKind::tile, buffers[0], tile.getArgument(0), /*indices=*/ValueRange(),
      /*map=*/nullptr);
  AccumulateOp::create(
      rewriter, loc, /*result=*/Type(), load, buffers[1],
      dest.init ? Value(inPlace ? buffers[1] : buffers[2]) : Value(), dest.kind,
      dest.start, getSumMap(buffers[1], sizes.size(), segments));
  YieldOp::create(rewriter, loc);
  return sumRows;
}

/// Carries the sums of `rows` and writes them after its tiles.
static void storeSums(RewriterBase &rewriter, RowsOp rows,
                      ArrayRef<CarriedSum> dests) {
  TilesOp tiles = rows.getTiles();
  rewriter.setInsertionPointAfter(tiles);
  for (auto [sum, dest] : llvm::zip(tiles.getResults(), dests))
    SumStoreOp::create(
        rewriter, sum.getLoc(), sum, dest.dest, dest.init,
        getSumMap(dest.dest, rows.getStaticSizes().size(), dest.dims));
}

/// Makes the sums of `rows` results of it, and adds up those.
static void yieldSums(RewriterBase &rewriter, RowsOp rows,
                      ArrayRef<CarriedSum> dests, const ScheduleFields &fields,
                      SmallVectorImpl<RowsOp> &made) {
  SmallVector<Type> types;
  SmallVector<CarriedSum> operands;
  for (auto [sum, dest] : llvm::zip(rows.getTiles().getResults(), dests)) {
    const int64_t columns = getNumColumns(sum.getType());
    const bool isDynamic = columns != 1 && rows.getDynamicColumns();
    types.push_back(MemRefType::get(
        {ShapedType::kDynamic, isDynamic ? ShapedType::kDynamic : columns},
        rewriter.getF32Type()));
    operands.push_back(dest);
    operands.back().dest = rows.getOperandOf(dest.dest);
    if (dest.init)
      operands.back().init = rows.getOperandOf(dest.init);
  }
  Operation *end = rows.getBody().front().getTerminator();
  rewriter.modifyOpInPlace(
      end, [&] { end->setOperands(rows.getTiles().getResults()); });
  rewriter.setInsertionPoint(rows);
  auto carrying = RowsOp::create(
      rewriter, rows.getLoc(), types, rows.getSizes(), rows.getDynamicColumns(),
      rows.getBuffers(), rows.getScalars(), rows.getStaticSizes(),
      rows.getDigits(), rows.getAccesses(), rows.getScheduleAttr(),
      rows.getSegments());
  carrying.getBody().takeBody(rows.getBody());
  for (auto [sum, dest] : llvm::zip(carrying.getPartials(), operands))
    made.push_back(createSumRows(
        rewriter, carrying, sum, dest,
        getSumRowsFields(
            fields, cast<MemRefType>(sum.getType()).isDynamicDim(1),
            rows.getColumns() != 1 &&
                cast<MemRefType>(sum.getType()).getDimSize(1) == 1)));
  rewriter.eraseOp(rows);
  pruneOperands(rewriter, carrying);
}

/// Adds the programs that add up the sums of blocks to `made`.
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
  SmallVector<AccumulateOp> columnSums =
      getColumnSums(rows.getTiles().getBody().front());
  if (schedule->getBlocksPerSm() == 0 && !hasAllRows && !columnSums.empty())
    return columnSums.front().emitOpError(
        "expected a schedule with blocks_per_sm >= 1, as a persistent block "
        "adds up its rows");

  IRRewriter rewriter(rows.getContext());
  SmallVector<DenseElementsAttr> values;
  for (AccumulateOp sum : sums) {
    const VectorType type =
        getTypeOfRows(sum.getSource().getType(), schedule->getRowGroups())
            .clone(rewriter.getF32Type());
    values.push_back(DenseElementsAttr::get(
        type, sum.getStart().value_or(getIdentity(
                  sum.getKind(), rewriter.getF32Type().getFloatSemantics()))));
  }
  TilesOp tiles = addInits(rewriter, rows.getTiles(), values);
  auto yield = cast<YieldOp>(tiles.getBody().front().getTerminator());
  SmallVector<CarriedSum> dests;
  for (auto [sum, accumulator, next] :
       llvm::zip(sums, tiles.getAccumulators(), yield.getValuesMutable())) {
    dests.push_back({sum.getDest(), sum.getInit(), sum.getKind(),
                     sum.getStartAttr(), sum.getDims()});
    rewriter.setInsertionPoint(sum);
    next.set(AccumulateOp::create(rewriter, sum.getLoc(), accumulator.getType(),
                                  sum.getSource(), accumulator,
                                  /*init=*/Value(), sum.getKind(),
                                  /*start=*/FloatAttr(),
                                  /*map=*/nullptr)
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
