// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitStrips.cpp - rmsnorm-split-strips ----------------------------===//

#include "RMSNorm/Rows/Passes.h"
#include "RMSNorm/Rows/RowsProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_SPLITSTRIPS
#include "RMSNorm/Rows/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// Moves the sums over rows of one `rmsnorm.rows` into a second
/// `rmsnorm.rows`.
class StripSplitter {
public:
  StripSplitter(RowsOp rows, ScheduleAttr schedule)
      : rows(rows), schedule(schedule),
        program(rows.getTiles().getBody().front()), rewriter(rows.getContext()),
        slice(getSumsSlice(program)) {}

  /// Returns the op with the sums.
  FailureOr<RowsOp> run();

private:
  Value createWorkspace(Value value);
  RowsOp createSums();
  void storeSaved(RowsOp op, const IRMapping &mapping);
  void finish(RowsOp op, const ScheduleFields &fields);

  RowsOp rows;
  ScheduleAttr schedule;
  Block &program;
  IRRewriter rewriter;
  const SumsSlice slice;
  /// Where the values that the sums need are kept.
  DenseMap<Value, Value> workspaces;
};
} // namespace

/// One element a row, of the type of `value`.
Value StripSplitter::createWorkspace(Value value) {
  Value count = rows.createNumRows(rewriter);
  std::optional<int64_t> size = getConstantIntValue(count);
  SmallVector<Value> sizes;
  if (!size)
    sizes.push_back(count);
  auto type =
      MemRefType::get({size.value_or(ShapedType::kDynamic)},
                      cast<VectorType>(value.getType()).getElementType());
  return WorkspaceOp::create(rewriter, value.getLoc(), type, sizes);
}

/// The op with nothing but the sums, at the insertion point.
RowsOp StripSplitter::createSums() {
  IRMapping mapping;
  auto strips = cast<RowsOp>(rewriter.clone(*rows, mapping));
  Block &block = strips.getTiles().getBody().front();
  for (auto store : llvm::make_early_inc_range(block.getOps<TileStoreOp>()))
    rewriter.eraseOp(store);
  // One value a row stays where rows are whole.
  for (auto sum : llvm::make_early_inc_range(block.getOps<AccumulateOp>()))
    if (!llvm::is_contained(getColumnSums(block), sum))
      rewriter.eraseOp(sum);
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPointToStart(&block);
  for (auto [index, value] : llvm::enumerate(slice.saved)) {
    Value buffer = addBuffer(rewriter, strips, workspaces.lookup(value),
                             AccessKind::read, index);
    Value load = TileLoadOp::create(
        rewriter, value.getLoc(), cast<VectorType>(value.getType()),
        TileKind::row, buffer, strips.getTiles().getTile(),
        /*indices=*/ValueRange(), /*map=*/nullptr);
    rewriter.replaceAllUsesWith(mapping.lookup(value), load);
  }
  return strips;
}

/// At the end of `op`, which holds the values of the program that `mapping`
/// leads to, or those of the program itself.
void StripSplitter::storeSaved(RowsOp op, const IRMapping &mapping) {
  for (Value value : slice.saved) {
    Value buffer = addBuffer(rewriter, op, workspaces.lookup(value),
                             AccessKind::write, op.getBuffers().size());
    rewriter.setInsertionPoint(op.getTiles().getBody().front().getTerminator());
    TileStoreOp::create(rewriter, value.getLoc(), /*result=*/Type(),
                        TileKind::row, mapping.lookupOrDefault(value), buffer,
                        op.getTiles().getTile(), /*indices=*/ValueRange(),
                        /*map=*/nullptr);
  }
}

void StripSplitter::finish(RowsOp op, const ScheduleFields &fields) {
  eraseDeadOps(rewriter, op.getTiles().getBody().front());
  eraseDeadOps(rewriter, op.getBody().front());
  op.setScheduleAttr(ScheduleAttr::get(op.getContext(), fields));
  pruneOperands(rewriter, op);
}

FailureOr<RowsOp> StripSplitter::run() {
  ScheduleFields rest = schedule.getFields();
  if (!rest.sums) {
    InFlightDiagnostic error = rows.emitOpError(
        "expected a schedule with sums, the schedule of the loop to split off");
    error.attachNote() << "rmsnorm-select-schedule sets it";
    return error;
  }
  const bool overwrites = overwritesWhatSumsRead(rows, slice);
  rewriter.setInsertionPoint(rows);
  for (Value value : slice.saved)
    workspaces[value] = createWorkspace(value);

  // The buffers that the sums read must not be overwritten before.
  rewriter.setInsertionPointAfter(rows);
  if (overwrites)
    rewriter.setInsertionPoint(rows);
  RowsOp strips = createSums();
  for (AccumulateOp sum : getColumnSums(program))
    rewriter.eraseOp(sum);
  dropSegments(rows);
  dropSegments(strips);

  const ScheduleFields sums = *rest.sums;
  rest.columnSums = ColumnSums::registers;
  rest.sums = {};
  if (!slice.saved.empty() && overwrites) {
    // An op of its own for them, in front.
    rewriter.setInsertionPoint(strips);
    IRMapping mapping;
    auto first = cast<RowsOp>(rewriter.clone(*rows, mapping));
    for (Operation &op :
         llvm::make_early_inc_range(first.getTiles().getBody().front()))
      if (isa<TileStoreOp, AccumulateOp>(op))
        rewriter.eraseOp(&op);
    storeSaved(first, mapping);
    finish(first, rest);
  } else if (!slice.saved.empty()) {
    storeSaved(rows, IRMapping());
  }
  finish(rows, rest);
  finish(strips, sums);
  return strips;
}

/// A block of `rows` that has all rows has those of one segment. Sums over the
/// rows of all segments beside others go to blocks of their own.
static LogicalResult splitSegments(RowsOp rows) {
  if (rows.getScheduleAttr().getColumnSums() != ColumnSums::all_rows ||
      rows.getSegments().empty() ||
      llvm::all_of(rows.getTiles().getBody().getOps<AccumulateOp>(),
                   [](AccumulateOp sum) { return bool(sum.getMap()); }))
    return success();
  IRRewriter rewriter(rows.getContext());
  return moveSums(rewriter, rows, /*dims=*/{});
}

namespace {
struct SplitStrips final : rmsnorm::impl::SplitStripsBase<SplitStrips> {
  using SplitStripsBase::SplitStripsBase;

  void runOnOperation() override {
    for (RowsOp rows : getRows(getOperation())) {
      FailureOr<ScheduleAttr> schedule = rows.getRequiredSchedule();
      if (failed(schedule) || failed(verifyNotPlaced(rows)))
        return signalPassFailure();
      Block &program = rows.getTiles().getBody().front();
      FailureOr<RowsOp> sums = rows;
      if (schedule->getColumnSums() == ColumnSums::strips &&
          !getColumnSums(program).empty() &&
          !program.getOps<RowReduceOp>().empty())
        sums = StripSplitter(rows, *schedule).run();
      if (failed(sums) || failed(splitSegments(*sums)))
        return signalPassFailure();
    }
  }
};
} // namespace
