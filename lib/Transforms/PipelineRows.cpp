// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PipelineRows.cpp - rmsnorm-pipeline-rows --------------------------===//

#include "RMSNorm/Transforms/Passes.h"
#include "TileProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_PIPELINEROWS
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
class Pipeline {
public:
  Pipeline(scf::ForOp loop, ScheduleAttr schedule)
      : loop(loop), loc(loop.getLoc()), stages(schedule.getStages()),
        schedule(schedule), rewriter(loop.getContext()) {}

  LogicalResult run() {
    llvm::append_range(copies, getBody().getOps<RingCopyOp>());
    if (copies.empty())
      return success();
    auto commits = getBody().getOps<CopyCommitOp>();
    auto waits = getBody().getOps<CopyWaitOp>();
    if (!llvm::hasSingleElement(commits) || !llvm::hasSingleElement(waits))
      return loop.emitOpError("expected the tiles of an iteration to be copied "
                              "in one group");
    wait = *waits.begin();
    if (failed(checkAliasing()))
      return failure();
    hoistLoads();
    if (schedule.getSplit() && failed(findSplit()))
      return failure();
    carrySlot();
    createPrologue();
    refillAtTop();
    if (split)
      splitReduction();
    return success();
  }

private:
  Block &getBody() { return *loop.getBody(); }

  /// A copy reads its rows stages - 1 iterations early. The rows of other
  /// tiles may be written meanwhile, its own must not.
  LogicalResult checkAliasing() {
    for (auto store : getBody().getOps<TileStoreOp>())
      for (RingCopyOp copy : copies) {
        if (getRootBuffer(store.getBase()) != getRootBuffer(copy.getBase()) ||
            (store.getBase() == copy.getBase() &&
             store.getRow() == copy.getRow()))
          continue;
        InFlightDiagnostic error =
            store.emitOpError("expected stages < 2 where the buffer of a tile "
                              "that is copied ahead is written in other "
                              "rows or through another view");
        error.attachNote(copy.getLoc()) << "copied here";
        return error;
      }
    return success();
  }

  void hoist(Value value, Operation *place) {
    Operation *def = value ? value.getDefiningOp() : nullptr;
    if (!def || def->getBlock() != &getBody() || def->isBeforeInBlock(place))
      return;
    for (Value operand : def->getOperands())
      hoist(operand, place);
    rewriter.moveOpBefore(def, place);
  }

  /// Per-column operands go before the loop, per-row operands to its top.
  void hoistLoads() {
    Operation *top = copies.front();
    for (auto load :
         llvm::make_early_inc_range(getBody().getOps<TileLoadOp>())) {
      if (load.getKind() == TileKind::column && load.getSegment() == 0 &&
          schedule.getColumnOperands() == ColumnOperands::block &&
          llvm::none_of(getBody().getOps<TileStoreOp>(),
                        [&](TileStoreOp store) {
                          return getRootBuffer(store.getBase()) ==
                                 getRootBuffer(load.getBase());
                        })) {
        rewriter.moveOpBefore(load, loop);
        columns.push_back(load);
      } else if (load.getKind() == TileKind::row) {
        for (Value operand : load->getOperands())
          hoist(operand, top);
        rewriter.moveOpBefore(load, top);
      }
    }
  }

  LogicalResult findSplit() {
    for (auto reduce : getBody().getOps<RowReduceOp>()) {
      if (!isPerColumn(reduce.getInputs().front().getType()))
        continue;
      if (split)
        return reduce.emitOpError("expected a schedule with split = false "
                                  "where a tile has several reductions");
      split = reduce;
    }
    return success();
  }

  Value emitIndex(int64_t value) {
    return arith::ConstantIndexOp::create(rewriter, loc, value);
  }

  /// (slot + distance) mod stages.
  Value emitSlot(Value slot, int64_t distance) {
    Value limit = emitIndex(stages - distance);
    Value below = arith::CmpIOp::create(rewriter, loc,
                                        arith::CmpIPredicate::ult, slot, limit);
    Value up = arith::AddIOp::create(rewriter, loc, slot, emitIndex(distance));
    Value down = arith::SubIOp::create(rewriter, loc, slot, limit);
    return arith::SelectOp::create(rewriter, loc, below, up, down);
  }

  /// The loop carries the slot of its tile, and its number if that is asked
  /// for.
  void carrySlot() {
    rewriter.setInsertionPoint(loop);
    SmallVector<Value> inits(split ? 2 : 1, emitIndex(0));
    // Called with the rewriter in front of the yield.
    auto next = [&](OpBuilder &, Location, ArrayRef<BlockArgument> added) {
      SmallVector<Value> values{emitSlot(added.front(), 1)};
      if (split)
        values.push_back(
            arith::AddIOp::create(rewriter, loc, added.back(), emitIndex(1)));
      return values;
    };
    loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(
        rewriter, inits, /*replaceInitOperandUsesInLoop=*/false, next));
    slot = loop.getRegionIterArgs().take_back(inits.size()).front();
    number = loop.getRegionIterArgs().back();
    for (auto load : getBody().getOps<RingLoadOp>())
      load.getSlotMutable().assign(slot);
    // LLVM would widen per-column operands before the loop, once for all
    // tiles, and hold twice the registers.
    for (TileLoadOp load : columns)
      for (OpOperand &use : llvm::make_early_inc_range(load->getUses())) {
        if (isa<KeepOp>(use.getOwner()))
          continue;
        rewriter.setInsertionPoint(use.getOwner());
        use.set(KeepOp::create(rewriter, loc, load.getType(), load, slot));
      }
  }

  /// Clones `roots`, ops of the loop's body, and what they are computed from.
  /// Returns the clones of the roots.
  SmallVector<Operation *> cloneWithOperands(ArrayRef<Operation *> roots,
                                             IRMapping &mapping) {
    SetVector<Operation *> slice;
    std::function<void(Operation *)> visit = [&](Operation *op) {
      for (Value operand : op->getOperands()) {
        Operation *def = operand.getDefiningOp();
        if (def && def->getBlock() == &getBody() && !slice.contains(def))
          visit(def);
      }
      slice.insert(op);
    };
    for (Operation *root : roots)
      visit(root);
    SmallVector<Operation *> clones;
    for (Operation *op : slice) {
      Operation *clone = rewriter.clone(*op, mapping);
      if (llvm::is_contained(roots, op))
        clones.push_back(clone);
    }
    return clones;
  }

  /// A branch that is taken if there is such a tile; the whole block agrees.
  Block *emitIfExists(Value tile) {
    Value exists = arith::CmpIOp::create(
        rewriter, loc, arith::CmpIPredicate::ult, tile, loop.getUpperBound());
    return scf::IfOp::create(rewriter, loc, exists, /*withElseRegion=*/false)
        .thenBlock();
  }

  /// Begins the copies of `tile` into slot `target`, if there is such a tile.
  void emitCopies(Value tile, Value target) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(emitIfExists(tile));
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), tile);
    SmallVector<Operation *> roots(copies.begin(), copies.end());
    for (Operation *clone : cloneWithOperands(roots, mapping))
      cast<RingCopyOp>(clone).getSlotMutable().assign(target);
  }

  /// The tile `distance` iterations behind `tile`.
  Value emitTile(Value tile, int64_t distance) {
    Value steps = arith::MulIOp::create(rewriter, loc, loop.getStep(),
                                        emitIndex(distance));
    return arith::AddIOp::create(rewriter, loc, tile, steps);
  }

  void createPrologue() {
    rewriter.setInsertionPoint(loop);
    for (int64_t ahead = 0; ahead < stages - 1; ++ahead) {
      Value first = loop.getLowerBound();
      if (ahead > 0)
        first = emitTile(first, ahead);
      emitCopies(first, emitIndex(ahead));
      CopyCommitOp::create(rewriter, loc);
    }
  }

  /// Publishes the parts of `tile`, number `count`, in slot `source`, if there
  /// is such a tile.
  void emitPublish(Value tile, Value source, Value count) {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPointToStart(emitIfExists(tile));
    IRMapping mapping;
    mapping.map(loop.getInductionVar(), tile);
    mapping.map(slot, source);
    Operation *clone = cloneWithOperands({split}, mapping).front();
    auto reduce = cast<RowReduceOp>(clone);
    RowReduceBeginOp::create(rewriter, reduce.getLoc(), reduce.getKinds(),
                             reduce.getInputs(), count);
    rewriter.eraseOp(reduce);
  }

  /// Tile k + 1 is published before tile k is awaited, so that the wait for the
  /// slowest subgroup is hidden behind the work on another tile.
  void splitReduction() {
    rewriter.setInsertionPoint(loop);
    CopyWaitOp::create(rewriter, loc, stages - 2);
    emitPublish(loop.getLowerBound(), emitIndex(0), emitIndex(0));
    wait.setPending(stages - 2);
    rewriter.setInsertionPointAfter(wait);
    Value next = arith::AddIOp::create(rewriter, loc, number, emitIndex(1));
    Value nextTile = emitTile(loop.getInductionVar(), 1);
    Value nextSlot = emitSlot(slot, 1);
    emitPublish(nextTile, nextSlot, next);
    rewriter.setInsertionPoint(split);
    rewriter.replaceOpWithNewOp<RowReduceEndOp>(split, split.getResultTypes(),
                                                split.getKinds(), number);
    // What only the first half needed.
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(getBody())))
      if (isOpTriviallyDead(&op))
        rewriter.eraseOp(&op);
  }

  void refillAtTop() {
    rewriter.setInsertionPoint(copies.front());
    Value target = emitSlot(slot, stages - 1);
    emitCopies(emitTile(loop.getInductionVar(), stages - 1), target);
    for (RingCopyOp copy : copies)
      rewriter.eraseOp(copy);
    wait.setPending(stages - 1);
  }

  scf::ForOp loop;
  Location loc;
  const int64_t stages;
  ScheduleAttr schedule;
  IRRewriter rewriter;
  SmallVector<RingCopyOp> copies;
  SmallVector<TileLoadOp> columns;
  CopyWaitOp wait;
  RowReduceOp split;
  Value slot, number;
};

struct PipelineRows final : rmsnorm::impl::PipelineRowsBase<PipelineRows> {
  using PipelineRowsBase::PipelineRowsBase;

  void runOnOperation() override {
    for (scf::ForallOp forall : getRowLoops(getOperation())) {
      FailureOr<ScheduleAttr> schedule = getSchedule(forall);
      if (failed(schedule))
        return signalPassFailure();
      if (schedule->getStages() < 2)
        continue;
      auto loop = dyn_cast<scf::ForOp>(getProgramBlock(forall)->getParentOp());
      if (!loop) {
        forall.emitOpError("expected blocks that walk their tiles in a loop");
        return signalPassFailure();
      }
      if (failed(Pipeline(loop, *schedule).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
