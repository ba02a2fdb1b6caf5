// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileProgram.cpp - what the memref half asks of a tile program -----===//

#include "TileProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

SmallVector<scf::ForallOp> mlir::rmsnorm::getRowLoops(Operation *root) {
  SmallVector<scf::ForallOp> loops;
  root->walk([&](scf::ForallOp forall) {
    for (Operation &op : *getProgramBlock(forall))
      // Sums of rows that come from a ring alone have neither load nor store.
      if (isa<TileLoadOp, TileStoreOp, RingLoadOp, AccumulateOp>(op)) {
        loops.push_back(forall);
        return;
      }
  });
  return loops;
}

FailureOr<ScheduleAttr> mlir::rmsnorm::getSchedule(scf::ForallOp forall) {
  auto schedule =
      forall->getAttrOfType<ScheduleAttr>(RMSNormDialect::kScheduleAttrName);
  if (schedule)
    return schedule;
  InFlightDiagnostic error = forall.emitOpError("expected a '")
                             << RMSNormDialect::kScheduleAttrName
                             << "' attribute";
  error.attachNote() << "rmsnorm-select-schedule sets it";
  return error;
}

FailureOr<TargetAttr> mlir::rmsnorm::getTarget(Operation *op) {
  if (TargetAttr target = TargetAttr::lookup(op))
    return target;
  InFlightDiagnostic error = op->emitOpError("expected a module with a '")
                             << RMSNormDialect::kTargetAttrName
                             << "' attribute";
  error.attachNote() << "rmsnorm-attach-target sets it";
  return error;
}

Block *mlir::rmsnorm::getProgramBlock(scf::ForallOp forall) {
  auto loops = forall.getBody()->getOps<scf::ForOp>();
  return loops.empty() ? forall.getBody() : (*loops.begin()).getBody();
}

Value mlir::rmsnorm::createStripCount(OpBuilder &builder, Location loc,
                                      ScheduleAttr schedule, int64_t columns,
                                      Value dynamicColumns) {
  const int64_t width = schedule.getStripColumns();
  if (!dynamicColumns)
    return arith::ConstantIndexOp::create(builder, loc,
                                          llvm::divideCeil(columns, width));
  Value step = arith::ConstantIndexOp::create(builder, loc, width);
  return arith::CeilDivUIOp::create(builder, loc, dynamicColumns, step);
}

/// The loads `value` is computed from, through per-column values only.
static void collectLoads(Value value, SetVector<Operation *> &loads,
                         DenseSet<Value> &seen) {
  Operation *op = value.getDefiningOp();
  if (!op || !isPerColumn(value.getType()) || !seen.insert(value).second)
    return;
  if (isa<TileLoadOp>(op))
    loads.insert(op);
  for (Value operand : op->getOperands())
    collectLoads(operand, loads, seen);
}

namespace {
/// The narrowest element that sums over rows load without what a reduction
/// leads to: the loop with nothing but the sums (rmsnorm-split-strips).
class SumsLoads {
public:
  explicit SumsLoads(Block &program) : program(program) {}

  void collect(Value value);
  int64_t getNarrowestBits() const { return narrowestBits; }

private:
  bool dependsOnReduction(Value value);
  void visit(Type type) {
    narrowestBits = std::min<int64_t>(
        narrowestBits, cast<VectorType>(type).getElementTypeBitWidth());
  }

  Block &program;
  DenseMap<Value, bool> depends;
  DenseSet<Value> seen;
  int64_t narrowestBits = 32;
};
} // namespace

bool SumsLoads::dependsOnReduction(Value value) {
  auto it = depends.find(value);
  if (it != depends.end())
    return it->second;
  Operation *op = value.getDefiningOp();
  bool result = op && op->getBlock() == &program &&
                (isa<RowReduceOp>(op) ||
                 llvm::any_of(op->getOperands(), [&](Value operand) {
                   return dependsOnReduction(operand);
                 }));
  return depends[value] = result;
}

void SumsLoads::collect(Value value) {
  Operation *op = value.getDefiningOp();
  auto vector = dyn_cast<VectorType>(value.getType());
  if (!op || op->getBlock() != &program || !seen.insert(value).second ||
      (vector && vector.getShape().back() == 1 && dependsOnReduction(value)))
    return;
  if (auto load = dyn_cast<TileLoadOp>(op);
      load && load.getKind() != TileKind::row)
    visit(load.getType());
  for (Value operand : op->getOperands())
    collect(operand);
}

FailureOr<ProgramFacts> mlir::rmsnorm::getProgramFacts(scf::ForallOp forall) {
  ProgramFacts facts;
  facts.singleRow = llvm::all_of(forall.getMixedUpperBound(), isOneInteger);
  Block *program = getProgramBlock(forall);
  std::optional<int64_t> columns;
  SetVector<Operation *> before, after;
  DenseSet<Value> seenBefore, seenAfter;
  Operation *lastReduce = nullptr;
  SumsLoads sums(*program);
  for (Operation &op : *program)
    if (isa<RowReduceOp>(op)) {
      ++facts.numReductions;
      lastReduce = &op;
      for (Value input : cast<RowReduceOp>(op).getInputs())
        collectLoads(input, before, seenBefore);
    }

  auto visit = [&](Operation *op, TileKind kind,
                   VectorType vector) -> LogicalResult {
    if (kind == TileKind::row)
      return success();
    facts.narrowestBits =
        std::min<int64_t>(facts.narrowestBits, vector.getElementTypeBitWidth());
    if (columns && *columns != vector.getDimSize(1))
      return op->emitOpError("expected all tiles of a program to have ")
             << *columns << " columns, got " << vector;
    columns = vector.getDimSize(1);
    return success();
  };
  DenseSet<std::pair<Value, Value>> loaded;
  for (Operation &op : *program) {
    LogicalResult result = success();
    if (auto load = dyn_cast<TileLoadOp>(op)) {
      result = visit(&op, load.getKind(), load.getType());
      if (load.getKind() == TileKind::tile &&
          loaded.insert({load.getBase(), load.getRow()}).second)
        facts.loadedBitsPerColumn += load.getType().getElementTypeBitWidth();
      if (load.getKind() == TileKind::column)
        facts.columnOperandBits += load.getType().getElementTypeBitWidth();
    } else if (auto store = dyn_cast<TileStoreOp>(op)) {
      result = visit(&op, store.getKind(),
                     cast<VectorType>(store.getValue().getType()));
      if (lastReduce && lastReduce->isBeforeInBlock(&op))
        collectLoads(store.getValue(), after, seenAfter);
    } else if (auto accumulate = dyn_cast<AccumulateOp>(op)) {
      ++facts.numColumnSums;
      result = visit(&op, TileKind::column, accumulate.getSource().getType());
      sums.collect(accumulate.getSource());
      if (lastReduce && lastReduce->isBeforeInBlock(&op))
        collectLoads(accumulate.getSource(), after, seenAfter);
    }
    if (failed(result))
      return failure();
  }
  // Where a reduction is split, tiles that nothing but it reads are loaded
  // under a test of whether there is a next one.
  WalkResult rings = program->walk([&](RingLoadOp load) {
    return WalkResult(visit(load, TileKind::tile, load.getType()));
  });
  if (rings.wasInterrupted())
    return failure();
  if (columns)
    facts.columns = *columns;
  facts.sumsNarrowestBits = sums.getNarrowestBits();
  for (Operation *load : before)
    if (after.contains(load))
      facts.liveBitsPerColumn +=
          cast<TileLoadOp>(load).getType().getElementTypeBitWidth();
  return facts;
}

Value mlir::rmsnorm::getRootBuffer(Value buffer) {
  while (auto view = buffer.getDefiningOp<ViewLikeOpInterface>())
    buffer = view.getViewSource();
  return buffer;
}

bool mlir::rmsnorm::isConstantArgument(Value buffer) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  if (!argument)
    return false;
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function && argument.getOwner()->isEntryBlock() &&
         function.getArgAttr(argument.getArgNumber(),
                             RMSNormDialect::kConstantAttrName);
}

/// Drops the results that nobody uses, and the op if none is left.
static void dropDeadResults(RewriterBase &rewriter, RowReduceOp op) {
  SmallVector<Attribute> kinds;
  SmallVector<Value> inputs, results;
  SmallVector<Type> types;
  for (auto [kind, input, result] :
       llvm::zip(op.getKinds(), op.getInputs(), op.getResults())) {
    if (result.use_empty())
      continue;
    kinds.push_back(kind);
    inputs.push_back(input);
    results.push_back(result);
    types.push_back(result.getType());
  }
  if (results.size() == op.getNumResults())
    return;
  if (!results.empty()) {
    rewriter.setInsertionPoint(op);
    auto live = RowReduceOp::create(rewriter, op.getLoc(), types,
                                    rewriter.getArrayAttr(kinds), inputs,
                                    op.getColumns());
    for (auto [result, replacement] : llvm::zip(results, live.getResults()))
      rewriter.replaceAllUsesWith(result, replacement);
  }
  rewriter.eraseOp(op);
}

void mlir::rmsnorm::eraseDeadOps(RewriterBase &rewriter, Block &program) {
  // From the end, so that what feeds only dead ones is seen dead.
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(program)))
    if (auto reduce = dyn_cast<RowReduceOp>(op))
      dropDeadResults(rewriter, reduce);
    else if (isOpTriviallyDead(&op))
      rewriter.eraseOp(&op);
}

Value mlir::rmsnorm::getDynamicColumns(Block &program) {
  for (auto load : program.getOps<TileLoadOp>())
    if (Value columns = load.getColumns())
      return columns;
  return {};
}
