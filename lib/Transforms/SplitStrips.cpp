// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitStrips.cpp - rmsnorm-split-strips ----------------------------===//

#include "RMSNorm/Transforms/Passes.h"
#include "TileProgram.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_SPLITSTRIPS
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// Splits the sums over rows off one loop.
class StripSplitter {
public:
  StripSplitter(scf::ForallOp rows, ScheduleAttr schedule)
      : rows(rows), schedule(schedule), program(*rows.getBody()),
        rewriter(rows.getContext()), sums(program.getOps<AccumulateOp>()) {}

  LogicalResult run();

private:
  bool dependsOnReduction(Value value);
  void collect(Value value);
  bool overwritesWhatIsRead();
  Value createWorkspace(Value value);
  scf::ForallOp createLoop();
  scf::ForallOp createSums();
  void setSchedule(scf::ForallOp loop, const ScheduleFields &fields) {
    loop->setAttr(RMSNormDialect::kScheduleAttrName,
                  ScheduleAttr::get(loop.getContext(), fields));
  }
  void storeSaved(scf::ForallOp loop, const IRMapping &mapping);

  scf::ForallOp rows;
  ScheduleAttr schedule;
  Block &program;
  IRRewriter rewriter;
  SmallVector<AccumulateOp> sums;
  DenseMap<Value, bool> depends;
  /// What the sums are computed from, short of `saved`.
  DenseSet<Operation *> needed;
  /// Per-row values that a reduction leads to, and where they are kept.
  SetVector<Value> saved;
  DenseMap<Value, Value> workspaces;
};
} // namespace

bool StripSplitter::dependsOnReduction(Value value) {
  auto it = depends.find(value);
  if (it != depends.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  bool result = false;
  if (op && op->getBlock() == &program)
    result = isa<RowReduceOp>(op) ||
             llvm::any_of(op->getOperands(), [&](Value operand) {
               return dependsOnReduction(operand);
             });
  return depends[value] = result;
}

void StripSplitter::collect(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || op->getBlock() != &program)
    return;
  auto vector = dyn_cast<VectorType>(value.getType());
  if (vector && vector.getDimSize(1) == 1 && dependsOnReduction(value)) {
    saved.insert(value);
    return;
  }
  if (!needed.insert(op).second)
    return;
  for (Value operand : op->getOperands())
    collect(operand);
}

bool StripSplitter::overwritesWhatIsRead() {
  return llvm::any_of(needed, [&](Operation *op) {
    auto load = dyn_cast<TileLoadOp>(op);
    return load &&
           llvm::any_of(program.getOps<TileStoreOp>(), [&](TileStoreOp store) {
             return getRootBuffer(store.getBase()) ==
                    getRootBuffer(load.getBase());
           });
  });
}

/// One element a row, of the type of `value`.
Value StripSplitter::createWorkspace(Value value) {
  OpFoldResult count = rows.getMixedUpperBound().front();
  std::optional<int64_t> size = getConstantIntValue(count);
  SmallVector<Value> sizes;
  if (!size)
    sizes.push_back(cast<Value>(count));
  auto type =
      MemRefType::get({size.value_or(ShapedType::kDynamic)},
                      cast<VectorType>(value.getType()).getElementType());
  return WorkspaceOp::create(rewriter, value.getLoc(), type, sizes);
}

/// An empty loop over the same rows, at the insertion point.
scf::ForallOp StripSplitter::createLoop() {
  return scf::ForallOp::create(rewriter, rows.getLoc(),
                               rows.getMixedUpperBound(),
                               /*outputs=*/ValueRange(), rows.getMapping());
}

/// The loop over rows with nothing but the sums.
scf::ForallOp StripSplitter::createSums() {
  scf::ForallOp loop = createLoop();
  rewriter.setInsertionPointToStart(loop.getBody());
  IRMapping mapping;
  mapping.map(rows.getInductionVar(0), loop.getInductionVar(0));
  for (Value value : saved)
    mapping.map(value,
                TileLoadOp::create(rewriter, value.getLoc(),
                                   cast<VectorType>(value.getType()),
                                   TileKind::row, workspaces.lookup(value),
                                   loop.getInductionVar(0), /*rows=*/Value(),
                                   /*columns=*/Value())
                    .getResult());
  for (Operation &op : program)
    if (needed.contains(&op) || isa<AccumulateOp>(op))
      rewriter.clone(op, mapping);
  return loop;
}

/// At the end of `loop`, which holds the values of the program that `mapping`
/// leads to, or those of the program itself.
void StripSplitter::storeSaved(scf::ForallOp loop, const IRMapping &mapping) {
  rewriter.setInsertionPoint(loop.getTerminator());
  for (Value value : saved)
    TileStoreOp::create(rewriter, value.getLoc(), /*result=*/Type(),
                        TileKind::row, mapping.lookupOrDefault(value),
                        workspaces.lookup(value), loop.getInductionVar(0),
                        /*rows=*/Value(), /*columns=*/Value());
}

LogicalResult StripSplitter::run() {
  ScheduleFields rest = schedule.getFields();
  if (!rest.sums) {
    InFlightDiagnostic error = rows.emitOpError(
        "expected a schedule with sums, the schedule of the loop to split off");
    error.attachNote() << "rmsnorm-select-schedule sets it";
    return error;
  }
  for (AccumulateOp sum : sums)
    collect(sum.getSource());
  const bool overwrites = overwritesWhatIsRead();
  rewriter.setInsertionPoint(rows);
  for (Value value : saved)
    workspaces[value] = createWorkspace(value);

  // What the sums read must not be overwritten before they have.
  rewriter.setInsertionPointAfter(rows);
  if (overwrites)
    rewriter.setInsertionPoint(rows);
  scf::ForallOp strips = createSums();
  for (AccumulateOp sum : sums)
    rewriter.eraseOp(sum);

  setSchedule(strips, *rest.sums);
  rest.columnSums = ColumnSums::registers;
  rest.sums = {};
  setSchedule(rows, rest);

  if (!saved.empty() && overwrites) {
    // A loop of its own for them, in front.
    rewriter.setInsertionPoint(strips);
    IRMapping mapping;
    auto first = cast<scf::ForallOp>(rewriter.clone(*rows, mapping));
    for (auto store :
         llvm::make_early_inc_range(first.getBody()->getOps<TileStoreOp>()))
      rewriter.eraseOp(store);
    storeSaved(first, mapping);
    eraseDeadOps(rewriter, *first.getBody());
  } else if (!saved.empty()) {
    storeSaved(rows, IRMapping());
  }
  eraseDeadOps(rewriter, program);
  return success();
}

namespace {
struct SplitStrips final : rmsnorm::impl::SplitStripsBase<SplitStrips> {
  using SplitStripsBase::SplitStripsBase;

  void runOnOperation() override {
    for (scf::ForallOp forall : getRowLoops(getOperation())) {
      FailureOr<ScheduleAttr> schedule = getSchedule(forall);
      if (failed(schedule))
        return signalPassFailure();
      Block &program = *forall.getBody();
      if (schedule->getColumnSums() != ColumnSums::strips ||
          program.getOps<AccumulateOp>().empty() ||
          program.getOps<RowReduceOp>().empty())
        continue;
      if (failed(StripSplitter(forall, *schedule).run()))
        return signalPassFailure();
    }
  }
};
} // namespace
