// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PlaceTiles.cpp - rmsnorm-place-tiles ------------------------------===//

#include "RMSNorm/Transforms/Passes.h"
#include "TileProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_PLACETILES
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// The program cut at its row_reduce ops: segment 0 ends with the first one,
/// the last segment ends with the program. Values that threads of a row share
/// out (tiles, per-column operands) and that cross a cut are what the pass is
/// about.
class Placement {
public:
  Placement(Block &program, ScheduleAttr schedule)
      : program(program), schedule(schedule), cache(schedule.getCache()),
        holdsColumns(schedule.getColumnOperands() != ColumnOperands::use),
        rewriter(program.getParentOp()->getContext()) {}

  void run() {
    sinkStores();
    if (cache == Cache::registers) {
      if (schedule.getConstants() == Constants::block)
        hoistConstantLoads();
      if (holdsColumns)
        hoistColumnLoads();
    }
    numberSegments();
    // Latest uses first: a chain recomputed for a late segment is not seen
    // again, as its own operands are in that segment too.
    SmallVector<Operation *> ops;
    for (Operation &op : program.without_terminator())
      ops.push_back(&op);
    for (Operation *op : llvm::reverse(ops))
      for (OpOperand &operand : op->getOpOperands())
        placeOperand(operand, segments.lookup(op));
    eraseDeadOps();
    if (cache == Cache::shared)
      makeRings();
    if (cache == Cache::reload)
      setPolicies();
  }

private:
  /// A store goes behind every read of the row, so that an exact in-place
  /// update is right when the row is read again. All stores move to the end:
  /// they keep their order, and no later segment reads what they write.
  void sinkStores() {
    SmallVector<Operation *> stores;
    for (Operation &op : program)
      if (auto store = dyn_cast<TileStoreOp>(op))
        if (isPerColumn(store.getValue().getType()))
          stores.push_back(&op);
    for (Operation *store : stores)
      rewriter.moveOpBefore(store, program.getTerminator());
  }

  /// What is kept in registers is wanted there early: per-column operands are
  /// loaded right behind the row, so that their latency hides behind the
  /// reduction's, and by a persistent block once, before all rows.
  void hoistColumnLoads() {
    auto loop = dyn_cast<scf::ForOp>(program.getParentOp());
    if (loop && schedule.getColumnOperands() == ColumnOperands::block) {
      auto isStored = [&](Value base) {
        return llvm::any_of(
            program.getOps<TileStoreOp>(),
            [&](TileStoreOp store) { return store.getBase() == base; });
      };
      for (auto load : llvm::make_early_inc_range(program.getOps<TileLoadOp>()))
        if (load.getKind() == TileKind::column && !isStored(load.getBase()))
          loop.moveOutOfLoop(load);
    }
    Operation *last = nullptr;
    for (auto load : program.getOps<TileLoadOp>())
      if (load.getKind() == TileKind::tile)
        last = load;
    for (auto load : llvm::make_early_inc_range(program.getOps<TileLoadOp>()))
      if (last && load.getKind() == TileKind::column &&
          last->isBeforeInBlock(load)) {
        rewriter.moveOpAfter(load, last);
        last = load;
      }
  }

  /// Per-column operands that no earlier kernel writes are loaded before the
  /// block's loop, where distribution puts them ahead of the wait for the
  /// kernels before. In registers a block holds them while it works on a row
  /// anyway.
  void hoistConstantLoads() {
    Operation *loop = program.getParentOp();
    if (!isa<scf::ForOp>(loop))
      return;
    for (auto load : llvm::make_early_inc_range(program.getOps<TileLoadOp>()))
      if (load.getKind() == TileKind::column && !load.getColumns() &&
          isConstantArgument(load.getBase())) {
        rewriter.moveOpBefore(load, loop);
        hoisted.insert(load);
      }
  }

  void numberSegments() {
    int64_t segment = 0;
    for (Operation &op : program) {
      segments[&op] = segment;
      if (isa<RowReduceOp>(op)) {
        reductions.push_back(&op);
        ++segment;
      }
    }
  }

  /// Makes `operand`, used in `segment`, available there the way the schedule
  /// wants it if it is defined in an earlier one.
  void placeOperand(OpOperand &operand, int64_t segment) {
    Value value = operand.get();
    Operation *def = value.getDefiningOp();
    if (def && hoisted.contains(def) && segment > 0 &&
        isPerColumn(value.getType())) {
      // Else LLVM extends it to f32 ahead of the loop, at twice the registers.
      Value &kept = copies[{value, segment}];
      if (!kept)
        kept = createKeep(value, segment);
      rewriter.modifyOpInPlace(operand.getOwner(), [&] { operand.set(kept); });
      return;
    }
    if (!def || def->getBlock() != &program || !isPerColumn(value.getType()) ||
        segments.lookup(def) >= segment)
      return;
    rewriter.modifyOpInPlace(operand.getOwner(), [&] {
      operand.set(cache == Cache::registers ? keep(value, segment)
                                            : recompute(value, segment));
    });
  }

  /// Whether `value` is computed from the extension of one narrower tile,
  /// per-row values and narrower per-column operands: recomputing it costs no
  /// register, as the tile is there anyway.
  bool isCheap(Value value, int64_t segment) {
    llvm::SmallDenseSet<Value> tiles;
    bool extends = false;
    return comesFromNarrow(value, segment, tiles, extends) && extends &&
           tiles.size() <= 1;
  }

  /// Collects the tiles `value` is computed from. Fails at what cannot, or
  /// need not, be computed again.
  bool comesFromNarrow(Value value, int64_t segment,
                       llvm::SmallDenseSet<Value> &tiles, bool &extends) {
    Operation *def = value.getDefiningOp();
    if (!isPerColumn(value.getType()) ||
        (def && def->hasTrait<OpTrait::ConstantLike>()))
      return true;
    if (!def || def->getBlock() != &program || !isPure(def) ||
        isa<RowReduceOp, AccumulateOp>(def) || segments.lookup(def) >= segment)
      return false;
    if (isa<arith::ExtFOp>(def)) {
      extends = true;
      Value narrow = def->getOperand(0);
      auto load = narrow.getDefiningOp<TileLoadOp>();
      if (!load || load.getKind() != TileKind::column)
        tiles.insert(narrow);
      return true;
    }
    return llvm::all_of(def->getOperands(), [&](Value operand) {
      return comesFromNarrow(operand, segment, tiles, extends);
    });
  }

  /// Registers: an extension is cheap, the extended tile is not. The narrow
  /// tile is kept, hidden behind rmsnorm.keep, and extended again after the
  /// reduction; a value that does not come from one stays as it is.
  Value keep(Value value, int64_t segment) {
    Operation *operation = value.getDefiningOp();
    if (!isPerColumn(value.getType()) ||
        (operation && operation->hasTrait<OpTrait::ConstantLike>()) ||
        !isCheap(value, segment))
      return value;
    if (Value placed = copies.lookup({value, segment}))
      return placed;
    Operation *def = value.getDefiningOp();
    IRMapping mapping;
    if (isa<arith::ExtFOp>(def)) {
      Value narrow = def->getOperand(0);
      mapping.map(narrow, createKeep(narrow, segment));
    } else {
      for (Value operand : def->getOperands())
        mapping.map(operand, keep(operand, segment));
    }
    Value copy = cloneInSegment(def, mapping, segment)->getResult(0);
    return copies[{value, segment}] = copy;
  }

  Value createKeep(Value value, int64_t segment) {
    setInsertionPointInSegment(segment);
    auto kept = KeepOp::create(rewriter, value.getLoc(), value.getType(), value,
                               reductions[segment - 1]->getResult(0));
    segments[kept] = segment;
    lastClone[segment] = kept;
    return kept;
  }

  /// Reload: the chain from the loads on is computed again. Loads say which
  /// segment they are for, so that nobody merges them. Shared: the same, but
  /// that tiles come from workgroup memory and per-column operands stay where
  /// they are.
  Value recompute(Value value, int64_t segment) {
    Operation *def = value.getDefiningOp();
    if (!def || def->getBlock() != &program || !isPerColumn(value.getType()) ||
        segments.lookup(def) >= segment)
      return value;
    if (Value placed = copies.lookup({value, segment}))
      return placed;
    auto column = dyn_cast<TileLoadOp>(def);
    if (column && column.getKind() == TileKind::column &&
        cache == Cache::shared && holdsColumns)
      return copies[{value, segment}] = createKeep(value, segment);
    IRMapping mapping;
    for (Value operand : def->getOperands())
      mapping.map(operand, recompute(operand, segment));
    Operation *clone = cloneInSegment(def, mapping, segment);
    if (auto load = dyn_cast<TileLoadOp>(clone))
      load.setSegment(segment);
    for (auto [from, to] : llvm::zip(def->getResults(), clone->getResults()))
      copies[{from, segment}] = to;
    return copies.lookup({value, segment});
  }

  /// After the cut that begins the segment and what was put there before.
  void setInsertionPointInSegment(int64_t segment) {
    Operation *last = lastClone.lookup(segment);
    rewriter.setInsertionPointAfter(last ? last : reductions[segment - 1]);
  }

  Operation *cloneInSegment(Operation *op, IRMapping &mapping,
                            int64_t segment) {
    setInsertionPointInSegment(segment);
    Operation *clone = rewriter.clone(*op, mapping);
    segments[clone] = segment;
    lastClone[segment] = clone;
    return clone;
  }

  void eraseDeadOps() {
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(program)))
      if (isOpTriviallyDead(&op))
        rewriter.eraseOp(&op);
  }

  /// Moves what computes `value`, index arithmetic, before `place`.
  void hoist(Value value, Operation *place) {
    Operation *def = value ? value.getDefiningOp() : nullptr;
    if (!def || def->getBlock() != &program || def->isBeforeInBlock(place))
      return;
    for (Value operand : def->getOperands())
      hoist(operand, place);
    rewriter.moveOpBefore(def, place);
  }

  /// Tiles that are read in several segments, with a ring all tiles, are copied
  /// to workgroup memory together and read from there.
  void makeRings() {
    using Key = std::tuple<Value, Value, Value>;
    llvm::MapVector<Key, SmallVector<TileLoadOp>> tiles;
    for (auto load : program.getOps<TileLoadOp>())
      if (load.getKind() == TileKind::tile)
        tiles[{load.getBase(), load.getRow(), load.getRows()}].push_back(load);
    tiles.remove_if([&](auto &tile) {
      return schedule.getStages() < 2 && tile.second.size() < 2;
    });
    // Ahead of all that a thread does column by column, which copies and loads
    // of per-column operands, emitted for all columns at once, would cut in
    // two.
    auto first = llvm::find_if(program, [](Operation &op) {
      return llvm::any_of(op.getResultTypes(), isPerColumn);
    });
    if (first == program.end())
      return;
    rewriter.setInsertionPoint(&*first);
    auto commit = CopyCommitOp::create(rewriter, first->getLoc());
    auto wait = CopyWaitOp::create(rewriter, first->getLoc(), 0);
    Operation *walk = program.getParentOp();
    auto space = gpu::AddressSpaceAttr::get(rewriter.getContext(),
                                            gpu::AddressSpace::Workgroup);
    rewriter.setInsertionPointToStart(&program);
    Value slot = arith::ConstantIndexOp::create(rewriter, walk->getLoc(), 0);
    for (auto &[key, loads] : tiles) {
      auto [base, row, rows] = key;
      TileLoadOp load = loads.front();
      SmallVector<int64_t> shape{schedule.getRingSlots()};
      llvm::append_range(shape, load.getType().getShape());
      rewriter.setInsertionPoint(walk);
      Value ring = TileRingOp::create(
          rewriter, load.getLoc(),
          MemRefType::get(shape, load.getType().getElementType(),
                          MemRefLayoutAttrInterface(), space));
      hoist(row, commit);
      hoist(rows, commit);
      rewriter.setInsertionPoint(commit);
      RingCopyOp::create(rewriter, load.getLoc(), base, row, rows, ring, slot);
      for (TileLoadOp load : loads) {
        rewriter.setInsertionPoint(load);
        rewriter.replaceOpWithNewOp<RingLoadOp>(load, load.getType(), ring,
                                                slot, load.getSegment());
      }
    }
    // Per-column operands travel while the tiles do, or are loaded where they
    // are used.
    for (auto load : llvm::make_early_inc_range(program.getOps<TileLoadOp>())) {
      if (load.getKind() != TileKind::column || load.getSegment() != 0 ||
          load->isBeforeInBlock(commit))
        continue;
      if (holdsColumns || segments.lookup(load) == 0)
        rewriter.moveOpAfter(load, commit);
      else
        load.setSegment(segments.lookup(load));
    }
    if (tiles.empty()) {
      rewriter.eraseOp(wait);
      rewriter.eraseOp(commit);
    }
  }

  /// A row that is read again soon is wanted in the caches, one read for the
  /// last time is not; per-column operands serve every row.
  void setPolicies() {
    DenseMap<Value, int64_t> lastRead;
    for (auto load : program.getOps<TileLoadOp>())
      if (load.getKind() == TileKind::tile) {
        int64_t &last = lastRead[load.getBase()];
        last = std::max<int64_t>(last, load.getSegment());
      }
    for (auto load : program.getOps<TileLoadOp>()) {
      if (load.getKind() == TileKind::row)
        continue;
      bool again = load.getKind() == TileKind::column ||
                   static_cast<int64_t>(load.getSegment()) <
                       lastRead.lookup(load.getBase());
      load.setPolicy(again ? CachePolicy::evict_last
                           : CachePolicy::evict_first);
    }
  }

  Block &program;
  ScheduleAttr schedule;
  Cache cache;
  bool holdsColumns;
  IRRewriter rewriter;
  DenseSet<Operation *> hoisted;
  DenseMap<Operation *, int64_t> segments;
  SmallVector<Operation *> reductions;
  DenseMap<std::pair<Value, int64_t>, Value> copies;
  DenseMap<int64_t, Operation *> lastClone;
};

struct PlaceTiles final : rmsnorm::impl::PlaceTilesBase<PlaceTiles> {
  using PlaceTilesBase::PlaceTilesBase;

  void runOnOperation() override {
    for (scf::ForallOp forall : getRowLoops(getOperation())) {
      FailureOr<ScheduleAttr> schedule = getSchedule(forall);
      if (failed(schedule))
        return signalPassFailure();
      Placement(*getProgramBlock(forall), *schedule).run();
    }
  }
};
} // namespace
