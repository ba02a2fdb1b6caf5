// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Traverses.cpp - a program cut into walks over its columns ---------===//

#include "Traverses.h"

#include "RMSNorm/IR/TileTypes.h"
#include "RMSNorm/Schedule/Layout.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::rmsnorm;

void Segments::number(Block &program) {
  int64_t segment = 0;
  for (Operation &op : program) {
    numbers[&op] = segment;
    if (isa<RowReduceOp>(op)) {
      cuts.push_back(&op);
      ++segment;
    }
  }
}

void Segments::setInsertionPoint(OpBuilder &builder, int64_t segment) const {
  Operation *end = last.lookup(segment);
  builder.setInsertionPointAfter(end ? end : getCut(segment));
}

void Segments::append(Operation *op, int64_t segment) {
  numbers[op] = segment;
  last[segment] = op;
}

namespace {
class Cutter {
public:
  Cutter(RewriterBase &rewriter, RowsOp rows, ScheduleAttr schedule,
         const Segments &segments)
      : rewriter(rewriter), rows(rows),
        program(rows.getTiles().getBody().front()), schedule(schedule),
        segments(segments) {}

  LogicalResult run();

private:
  bool isColumnWork(Operation &op);
  Walk getWalk(ArrayRef<Operation *> ops);
  void cut(int64_t segment, ArrayRef<Operation *> ops, RowReduceOp reduce);
  void moveStores();

  RewriterBase &rewriter;
  RowsOp rows;
  Block &program;
  ScheduleAttr schedule;
  const Segments &segments;
  Order order = Order::ops;
};
} // namespace

/// Per-column operands in front of the tiles' arrival are loaded as a whole.
bool Cutter::isColumnWork(Operation &op) {
  auto load = dyn_cast<TileLoadOp>(op);
  if (load && load.getKind() == TileKind::column) {
    auto arrivals = program.getOps<ArriveOp>();
    if (!arrivals.empty() && op.isBeforeInBlock(*arrivals.begin()))
      return false;
  }
  auto store = dyn_cast<TileStoreOp>(op);
  return !isa<RowReduceOp>(op) && !op.hasTrait<OpTrait::ConstantLike>() &&
         (llvm::any_of(op.getResultTypes(), isPerColumn) ||
          (store && isPerColumn(store.getValue().getType())));
}

/// As the schedule says: a thread's vectors together where they stay in
/// registers, a few at a time where they come from workgroup memory or again
/// from a buffer, in a loop if there are many of those, or an unknown number.
/// Accumulators are registers: a loop could not tell which.
Walk Cutter::getWalk(ArrayRef<Operation *> ops) {
  if (schedule.hasStrips())
    return Walk::strip;
  const bool accumulates = llvm::any_of(ops, llvm::IsaPred<AccumulateOp>);
  if (schedule.getCache() == Cache::registers)
    return Walk::unrolled;
  if (schedule.getCache() == Cache::reload && !accumulates &&
      isWalkedInLoop(schedule.getFields(), rows.getColumns(),
                     rows.getDynamicColumns() != nullptr))
    return Walk::looped;
  return Walk::chunks;
}

void Cutter::cut(int64_t segment, ArrayRef<Operation *> ops,
                 RowReduceOp reduce) {
  DenseSet<Operation *> inside(ops.begin(), ops.end());
  SmallVector<Value> yielded, outside;
  if (reduce)
    llvm::append_range(yielded, reduce.getInputs());
  for (Operation *op : ops)
    for (Value result : op->getResults()) {
      const bool isHeld = llvm::any_of(result.getUsers(), [&](Operation *user) {
        return !inside.contains(user) && user != reduce;
      });
      if (isHeld) {
        yielded.push_back(result);
        outside.push_back(result);
      }
    }
  SmallVector<Type> types;
  if (reduce)
    llvm::append_range(types, reduce.getResultTypes());
  llvm::append_range(types, TypeRange(ValueRange(outside)));

  rewriter.setInsertionPoint(reduce ? reduce.getOperation()
                                    : program.getTerminator());
  Location loc = reduce ? reduce.getLoc() : ops.front()->getLoc();
  const Walk walk = getWalk(ops);
  const bool counts = walk == Walk::chunks || walk == Walk::looped;
  auto traverse = TraverseOp::create(
      rewriter, loc, types, walk, counts ? schedule.getVectorsInFlight() : 1,
      order, reduce ? reduce.getKinds() : rewriter.getArrayAttr({}));
  Block &body = traverse.getBody().emplaceBlock();
  for (Operation *op : ops)
    rewriter.moveOpBefore(op, &body, body.end());
  for (auto [value, result] :
       llvm::zip(outside, traverse.getResults().take_back(outside.size())))
    rewriter.replaceUsesWithIf(value, result, [&](OpOperand &use) {
      return use.getOwner()->getBlock() != &body;
    });
  rewriter.setInsertionPointToEnd(&body);
  YieldOp::create(rewriter, loc, yielded);
  if (reduce)
    rewriter.replaceOp(reduce, traverse.getSums());
}

/// Moves values of rows that are stored into what a later walk reads, other
/// columns of it, to the end.
void Cutter::moveStores() {
  for (auto store : llvm::make_early_inc_range(program.getOps<TileStoreOp>())) {
    auto isRead = [&](TraverseOp traverse) {
      return store->isBeforeInBlock(traverse) &&
             llvm::any_of(traverse.getOps<TileLoadOp>(), [&](TileLoadOp load) {
               return rows.mayAlias(load.getBase(), store.getBase());
             });
    };
    if (llvm::any_of(program.getOps<TraverseOp>(), isRead))
      rewriter.moveOpBefore(store, program.getTerminator());
  }
}

LogicalResult Cutter::run() {
  SmallVector<SmallVector<Operation *>> work(segments.getCuts().size() + 1);
  // A vector of a row that is taken apart may be another one of the part.
  const bool hasParts = getColumnParts(rows).part != 0;
  for (Operation &op : program.without_terminator()) {
    if (isa<AccumulateOp>(op) && !hasParts &&
        llvm::any_of(op.getResultTypes(), isPerColumn))
      order = Order::vectors;
    if (isColumnWork(op))
      work[segments.get(&op)].push_back(&op);
  }
  for (auto [segment, ops] : llvm::enumerate(work)) {
    RowReduceOp reduce;
    if (segment < segments.getCuts().size())
      reduce = cast<RowReduceOp>(segments.getCuts()[segment]);
    if (reduce && schedule.hasStrips()) {
      InFlightDiagnostic error = reduce.emitOpError(
          "expected no reduction along a row whose columns are divided into "
          "strips");
      error.attachNote() << "rmsnorm-split-strips removes it";
      return error;
    }
    if (reduce || !ops.empty())
      cut(segment, ops, reduce);
  }
  moveStores();
  return success();
}

LogicalResult mlir::rmsnorm::cutTraverses(RewriterBase &rewriter, RowsOp rows,
                                          ScheduleAttr schedule,
                                          const Segments &segments) {
  return Cutter(rewriter, rows, schedule, segments).run();
}
