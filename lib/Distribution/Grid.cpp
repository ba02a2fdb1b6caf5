// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Grid.cpp - how many blocks walk over the rows ---------------------===//

#include "Grid.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

int64_t rmsnorm::getMaxBlocks(int64_t blockThreads) {
  const int64_t maxThreads = (int64_t(1) << 32) - 1;
  return std::min<int64_t>((int64_t(1) << 31) - 1, maxThreads / blockThreads);
}

/// The blocks, or clusters, that a grid has at most.
static Value createLimit(ImplicitLocOpBuilder &host, ScheduleAttr schedule,
                         const ChipInfo &chip) {
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(host, value);
  };
  const int64_t margin = schedule.getSmMargin();
  int64_t perSM = schedule.getBlocksPerSm();
  // With multiprocessors to leave free, a grid is no larger than the number of
  // blocks whose threads fit on the others.
  if (perSM == 0 && margin > 0)
    perSM = std::max<int64_t>(1, chip.threadsPerMultiprocessor /
                                     schedule.getBlockThreads());
  if (perSM == 0)
    return index(getMaxBlocks(schedule.getBlockThreads()) /
                 schedule.getCluster());
  Value count = MultiprocessorCountOp::create(host, host.getIndexType());
  if (margin > 0)
    count = arith::MaxSIOp::create(
        host, arith::SubIOp::create(host, count, index(margin)), index(1));
  Value limit = arith::MulIOp::create(host, count, index(perSM));
  if (schedule.getCluster() == 1)
    return limit;
  // Whole clusters, one at least, and no more than are resident together: the
  // others would follow in a second wave and take twice the time.
  limit = arith::DivUIOp::create(host, limit, index(schedule.getCluster()));
  limit = arith::MinUIOp::create(
      host, limit, ResidentClustersOp::create(host, host.getIndexType()));
  return arith::MaxUIOp::create(host, limit, index(1));
}

Grid rmsnorm::createGrid(OpBuilder &builder, RowsOp rows, ScheduleAttr schedule,
                         const ChipInfo &chip) {
  ImplicitLocOpBuilder host(rows.getLoc(), builder);
  auto index = [&](int64_t value) -> Value {
    return arith::ConstantIndexOp::create(host, value);
  };
  Grid grid;
  grid.tiles = rows.createSegmentRows(host);
  if (schedule.getTileRows() != 1)
    grid.tiles = arith::CeilDivUIOp::create(host, grid.tiles,
                                            index(schedule.getTileRows()));
  Value limit = createLimit(host, schedule, chip);
  if (schedule.hasStrips()) {
    const int64_t width = schedule.getStripColumns();
    grid.strips =
        rows.getDynamicColumns()
            ? arith::CeilDivUIOp::create(host, rows.getDynamicColumns(),
                                         index(width))
                  .getResult()
            : index(llvm::divideCeil(int64_t(rows.getColumns()), width));
    // Also without rows: the sum of none is zero.
    if (schedule.getColumnSums() == ColumnSums::all_rows) {
      grid.walkers = index(1);
      grid.blocks = grid.strips;
      if (!rows.getSegments().empty())
        grid.blocks = arith::MulIOp::create(host, grid.blocks,
                                            rows.createNumSegments(host));
      return grid;
    }
    // Several blocks walk the same rows, each a strip of them. No more runs
    // than fit at once, or some blocks would run after all others.
    limit = arith::MaxUIOp::create(
        host, arith::DivUIOp::create(host, limit, grid.strips), index(1));
  }
  Value segments;
  if (!rows.getSegments().empty()) {
    segments = rows.createNumSegments(host);
    limit = arith::DivUIOp::create(
        host, limit, arith::MaxUIOp::create(host, segments, index(1)));
    limit = arith::MaxUIOp::create(host, limit, index(1));
  }
  grid.walkers = arith::MinUIOp::create(host, grid.tiles, limit);
  grid.blocks =
      grid.strips
          ? arith::MulIOp::create(host, grid.walkers, grid.strips).getResult()
          : grid.walkers;
  if (segments)
    grid.blocks = arith::MulIOp::create(host, grid.blocks, segments);
  return grid;
}
