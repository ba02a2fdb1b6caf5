// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PlaceTiles.cpp - rmsnorm-place-tiles ------------------------------===//

#include "EarlyLoads.h"
#include "HeldValues.h"
#include "RMSNorm/IR/AccessMap.h"
#include "RMSNorm/IR/KernelTarget.h"
#include "RMSNorm/Rows/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_PLACETILES
#include "RMSNorm/Rows/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// The program cut at its row_reduce ops: segment 0 ends with the first one,
/// the last segment ends with the program. The pass places the values that
/// cross a cut and that threads of a row share out: tiles and per-column
/// operands. In the end each segment becomes a traverse.
class Placement {
public:
  Placement(RowsOp rows, ScheduleAttr schedule, const ChipInfo &chip)
      : rows(rows), tiles(rows.getTiles()), program(tiles.getBody().front()),
        schedule(schedule), chip(chip), cache(schedule.getCache()),
        rewriter(rows.getContext()) {}

  LogicalResult run() {
    for (auto sum : program.getOps<AccumulateOp>())
      if (!sum.getResult()) {
        InFlightDiagnostic error =
            sum.emitOpError("expected to be carried by rmsnorm.tiles");
        error.attachNote() << "rmsnorm-carry-sums makes it so";
        return error;
      }
    dropTrivialReductions();
    if (failed(sinkStores()) || failed(hoistSharedLoads()))
      return failure();
    if (chip.hasDependentLaunch) {
      rewriter.setInsertionPoint(tiles);
      wait = GridWaitOp::create(rewriter, rows.getLoc());
    }
    if (cache != Cache::shared)
      hoistColumnLoads();
    segments.number(program);
    held.find(program);
    // Latest uses first: a chain recomputed for a late segment is not seen
    // again, as its own operands are in that segment too.
    SmallVector<Operation *> ops;
    for (Operation &op : program.without_terminator())
      ops.push_back(&op);
    for (Operation *op : llvm::reverse(ops))
      for (OpOperand &operand : op->getOpOperands())
        placeOperand(operand, segments.get(op));
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(program)))
      if (isOpTriviallyDead(&op))
        rewriter.eraseOp(&op);
    if (cache == Cache::shared)
      copyTiles();
    else
      loadEarly(rewriter, program, schedule, segments);
    if (cache == Cache::reload)
      setPolicies();
    return cutTraverses(rewriter, rows, schedule, segments);
  }

private:
  /// In rows of one column the operand of a reduction is its result.
  void dropTrivialReductions() {
    for (auto reduce :
         llvm::make_early_inc_range(program.getOps<RowReduceOp>()))
      if (!isPerColumn(reduce.getInputs().front().getType()))
        rewriter.replaceOp(reduce, reduce.getInputs());
  }

  /// A store goes after every read of the row, so that an exact in-place
  /// update is right when the row is read again. All stores move to the end:
  /// they keep their order, and no later segment reads what they write. So
  /// do those of values of the row that are read before.
  LogicalResult sinkStores() {
    SmallVector<TileStoreOp> stores;
    for (Operation &op : program) {
      auto load = dyn_cast<TileLoadOp>(op);
      for (TileStoreOp store : stores)
        if (load && rows.mayAlias(load.getBase(), store.getBase()))
          return load.emitOpError("expected to stand in front of what writes "
                                  "its buffer");
      auto store = dyn_cast<TileStoreOp>(op);
      if (store &&
          (isPerColumn(store.getValue().getType()) ||
           llvm::any_of(program.getOps<TileLoadOp>(), [&](TileLoadOp load) {
             return isReadBefore(load, store);
           })))
        stores.push_back(store);
    }
    // A reduction that no column waits for moves with the stores that it needs.
    Operation *end = program.getTerminator();
    for (auto reduce : program.getOps<RowReduceOp>())
      if (end == program.getTerminator() && isLastReduction(reduce))
        end = reduce;
    for (TileStoreOp store : stores)
      rewriter.moveOpBefore(store, isPerColumn(store.getValue().getType())
                                       ? end
                                       : program.getTerminator());
    return success();
  }

  /// All threads of a row load a value of it, one of them may write the buffer:
  /// after a reduction, for which it waits for the others.
  LogicalResult hoistSharedLoads() {
    if (rows.getColumns() == 1)
      return success();
    for (auto load : llvm::make_early_inc_range(program.getOps<TileLoadOp>())) {
      if (load.getKind() != TileKind::row ||
          llvm::none_of(program.getOps<TileStoreOp>(), [&](TileStoreOp store) {
            return isReadBefore(load, store);
          }))
        continue;
      RowReduceOp reduce = getReductionAfter(load);
      if (!reduce)
        return load.emitOpError("expected a reduction of the row that does not "
                                "need what is loaded, and which the store to "
                                "the same buffer waits for, got none");
      if (load->isBeforeInBlock(reduce))
        continue;
      if (failed(moveOperationDependencies(rewriter, load, reduce)))
        return failure();
      rewriter.moveOpBefore(load, reduce);
    }
    return success();
  }

  bool isReadBefore(TileLoadOp load, TileStoreOp store) {
    return load->isBeforeInBlock(store) &&
           rows.mayAlias(load.getBase(), store.getBase());
  }

  bool isStored(Value buffer) {
    return llvm::any_of(program.getOps<TileStoreOp>(), [&](TileStoreOp store) {
      return rows.mayAlias(store.getBase(), buffer);
    });
  }

  /// Moves `load` in front of the tiles, a constant one ahead of the wait for
  /// the kernels before, if the schedule wants it there.
  bool hoistToBlock(TileLoadOp load) {
    const bool early = wait && schedule.getConstants() == Constants::block &&
                       rows.getAccess(load.getBase()).getConstant() &&
                       rows.getColumns() != kDynamicColumns;
    if (!early && (schedule.getColumnOperands() != ColumnOperands::block ||
                   isStored(load.getBase())))
      return false;
    rewriter.moveOpBefore(load, early ? wait.getOperation() : tiles);
    if (early)
      constants.insert(load);
    return true;
  }

  /// Values that are kept in registers are loaded early. Per-column operands,
  /// and tiles that several rows share, are loaded right after the row, so that
  /// their latency overlaps with the reduction's; or a block loads the former
  /// once, before all rows.
  void hoistColumnLoads() {
    for (auto load : llvm::make_early_inc_range(program.getOps<TileLoadOp>()))
      if (load.getKind() == TileKind::column)
        hoistToBlock(load);
    if (schedule.getColumnOperands() == ColumnOperands::use)
      return;
    Operation *last = nullptr;
    for (auto load : program.getOps<TileLoadOp>())
      if (load.getKind() == TileKind::tile && !load.isShared())
        last = load;
    for (auto load : llvm::make_early_inc_range(program.getOps<TileLoadOp>()))
      if (last && load.isShared() && last->isBeforeInBlock(load)) {
        if (failed(
                moveOperationDependencies(rewriter, load, last->getNextNode())))
          continue;
        rewriter.moveOpAfter(load, last);
        last = load;
      }
  }

  /// Makes `operand`, used in `segment`, available there the way the schedule
  /// wants it if it is defined in an earlier one.
  void placeOperand(OpOperand &operand, int64_t segment) {
    Value value = operand.get();
    Operation *def = value.getDefiningOp();
    if (def && constants.contains(def) && segment > 0) {
      // Else LLVM extends it to f32 ahead of the loop, at twice the registers.
      Value &kept = copies[{value, segment}];
      if (!kept)
        kept = createKeep(value, segment);
      rewriter.modifyOpInPlace(operand.getOwner(), [&] { operand.set(kept); });
      return;
    }
    if (!def || def->getBlock() != &program || !isPerColumn(value.getType()) ||
        segments.get(def) >= segment)
      return;
    rewriter.modifyOpInPlace(operand.getOwner(), [&] {
      operand.set(cache == Cache::registers ? keep(value, segment)
                                            : recompute(value, segment));
    });
  }

  /// Registers: an extension is cheap, the extended tile is not. The narrow
  /// tile is kept, hidden by rmsnorm.keep, and extended again after the
  /// reduction; a value that HeldValues holds stays as it is.
  Value keep(Value value, int64_t segment) {
    Operation *def = value.getDefiningOp();
    if (!isPerColumn(value.getType()) ||
        (def && def->hasTrait<OpTrait::ConstantLike>()) ||
        !held.isComputedAgain(value, segment))
      return value;
    if (Value placed = copies.lookup({value, segment}))
      return placed;
    IRMapping mapping;
    if (isa<arith::ExtFOp>(def)) {
      Value narrow = def->getOperand(0);
      mapping.map(narrow, createKeep(narrow, segment));
    } else {
      for (Value operand : def->getOperands())
        mapping.map(operand, keep(operand, segment));
    }
    Operation *clone = cloneInSegment(def, mapping, segment);
    for (auto [from, to] : llvm::zip(def->getResults(), clone->getResults()))
      copies[{from, segment}] = to;
    return copies.lookup({value, segment});
  }

  Value createKeep(Value value, int64_t segment) {
    segments.setInsertionPoint(rewriter, segment);
    auto kept = KeepOp::create(rewriter, value.getLoc(), value.getType(), value,
                               segments.getCut(segment)->getResult(0));
    segments.append(kept, segment);
    return kept;
  }

  /// Reload: the chain from the loads on is computed again. Loads say which
  /// segment they are for, so that they are not merged. Shared: the same, but
  /// tiles come from workgroup memory. Tiles that rows share stay where they
  /// are, unless they are loaded where they are used.
  Value recompute(Value value, int64_t segment) {
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != &program || !isPerColumn(value.getType()) ||
        segments.get(def) >= segment)
      return value;
    if (Value placed = copies.lookup({value, segment}))
      return placed;
    auto load = dyn_cast<TileLoadOp>(def);
    if (load && schedule.getColumnOperands() != ColumnOperands::use &&
        (load.getKind() == TileKind::column ||
         (cache == Cache::reload && load.isShared())))
      return copies[{value, segment}] = createKeep(value, segment);
    IRMapping mapping;
    for (Value operand : def->getOperands())
      mapping.map(operand, recompute(operand, segment));
    Operation *clone = cloneInSegment(def, mapping, segment);
    if (auto load = dyn_cast<TileLoadOp>(clone))
      load.setAgain(segment);
    for (auto [from, to] : llvm::zip(def->getResults(), clone->getResults()))
      copies[{from, segment}] = to;
    return copies.lookup({value, segment});
  }

  Operation *cloneInSegment(Operation *op, IRMapping &mapping,
                            int64_t segment) {
    segments.setInsertionPoint(rewriter, segment);
    Operation *clone = rewriter.clone(*op, mapping);
    segments.append(clone, segment);
    return clone;
  }

  /// Tiles that are read in several segments, with a ring all tiles, are copied
  /// to workgroup memory together and read from there. Not those that several
  /// rows share, which L1 or L2 holds, or that are less than a row; not
  /// gathered ones, as copies would wait for their place; and not masks, which
  /// are bits in registers.
  void copyTiles() {
    llvm::MapVector<Value, SmallVector<TileLoadOp>> copied;
    for (auto load : program.getOps<TileLoadOp>())
      if (load.getKind() == TileKind::tile && !load.isShared() &&
          getColumnShape(load.getType()) == rows.getDigits() &&
          load.getIndices().empty() && load.getAccess().isPlain() &&
          !load.getType().getElementType().isInteger(1))
        copied[load.getBase()].push_back(load);
    copied.remove_if([&](auto &tile) {
      return schedule.getStages() < 2 && tile.second.size() < 2;
    });
    auto first = llvm::find_if(program, [](Operation &op) {
      return llvm::any_of(op.getResultTypes(), isPerColumn);
    });
    if (first == program.end())
      return;
    rewriter.setInsertionPoint(&*first);
    SmallVector<Value> slots;
    for (auto &[buffer, loads] : copied) {
      auto type = SlotType::get(rewriter.getContext(),
                                loads.front().getType().getShape(),
                                loads.front().getType().getElementType());
      slots.push_back(program.insertArgument(1 + slots.size(), type,
                                             loads.front().getLoc()));
      tiles.getCopiesMutable().append(buffer);
      for (TileLoadOp load : loads) {
        OpBuilder::InsertionGuard guard(rewriter);
        rewriter.setInsertionPoint(load);
        auto slotLoad =
            SlotLoadOp::create(rewriter, load.getLoc(), load.getType(),
                               slots.back(), load.getAgain());
        segments.set(slotLoad, segments.get(load));
        if (&*first == load.getOperation())
          first = slotLoad->getIterator();
        rewriter.replaceOp(load, slotLoad);
      }
    }
    rewriter.setInsertionPoint(&*first);
    auto fetch = FetchOp::create(rewriter, rows.getLoc(), slots);
    auto arrive = ArriveOp::create(rewriter, rows.getLoc(), slots);
    tiles.setStages(std::max<int64_t>(schedule.getStages(), 1));
    placeLoads(fetch);
    if (!copied.empty())
      return;
    rewriter.eraseOp(fetch);
    rewriter.eraseOp(arrive);
    tiles.setStages(0);
  }

  /// Per-row values are loaded ahead of the copies, whose slots they do not
  /// wait for; per-column operands travel while the tiles do, once a block, or
  /// are loaded where they are used.
  void placeLoads(FetchOp fetch) {
    for (auto load : llvm::make_early_inc_range(program.getOps<TileLoadOp>())) {
      if (load.getKind() == TileKind::row && load.getIndices().empty() &&
          schedule.getStages() >= 2 && fetch->isBeforeInBlock(load))
        rewriter.moveOpBefore(load, fetch);
      if (load.getKind() != TileKind::column || load.getAgain() != 0)
        continue;
      if (hoistToBlock(load))
        keepInTile(load);
      else if (schedule.getColumnOperands() != ColumnOperands::use ||
               segments.get(load) == 0)
        rewriter.moveOpAfter(load, fetch);
    }
  }

  /// LLVM would widen per-column operands before the loop, once for all tiles,
  /// and hold twice the registers.
  void keepInTile(TileLoadOp load) {
    for (OpOperand &use : llvm::make_early_inc_range(load->getUses())) {
      Operation *user = use.getOwner();
      if (isa<KeepOp>(user))
        continue;
      rewriter.setInsertionPoint(user);
      auto kept = KeepOp::create(rewriter, load.getLoc(), load.getType(), load,
                                 tiles.getTile());
      segments.set(kept, segments.get(user));
      use.set(kept);
    }
  }

  /// A row that is read again soon stays in the caches, one that is read for
  /// the last time does not; tiles that rows share serve others, too.
  void setPolicies() {
    DenseMap<Value, int64_t> lastRead;
    for (auto load : program.getOps<TileLoadOp>())
      if (load.getKind() == TileKind::tile) {
        int64_t &last = lastRead[load.getBase()];
        last = std::max<int64_t>(last, load.getAgain());
      }
    for (auto load : program.getOps<TileLoadOp>()) {
      if (load.getKind() == TileKind::row)
        continue;
      bool again = load.isShared() || static_cast<int64_t>(load.getAgain()) <
                                          lastRead.lookup(load.getBase());
      load.setPolicy(again ? CachePolicy::evict_last
                           : CachePolicy::evict_first);
    }
  }

  RowsOp rows;
  TilesOp tiles;
  Block &program;
  ScheduleAttr schedule;
  const ChipInfo &chip;
  Cache cache;
  IRRewriter rewriter;
  GridWaitOp wait;
  Segments segments;
  HeldValues held{segments};
  DenseSet<Operation *> constants;
  DenseMap<std::pair<Value, int64_t>, Value> copies;
};

struct PlaceTiles final : rmsnorm::impl::PlaceTilesBase<PlaceTiles> {
  using PlaceTilesBase::PlaceTilesBase;

  void runOnOperation() override {
    for (RowsOp rows : getRows(getOperation())) {
      FailureOr<ScheduleAttr> schedule = rows.getRequiredSchedule();
      if (failed(schedule) || failed(verifyNotPlaced(rows)))
        return signalPassFailure();
      FailureOr<TargetAttr> target = getTarget(rows);
      if (failed(target) ||
          failed(Placement(rows, *schedule, target->getChipInfo()).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
