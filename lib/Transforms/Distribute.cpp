// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Distribute.cpp - rmsnorm-distribute -------------------------------===//
//
// Outlines kernels; what a thread does inside is ThreadProgram's business.
//
//===----------------------------------------------------------------------===//

#include "LaunchArguments.h"
#include "RMSNorm/Transforms/Passes.h"
#include "ThreadProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_DISTRIBUTE
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// The kernel's name says what it is specialised for.
static std::string getKernelName(func::FuncOp func, ScheduleAttr schedule) {
  return (func.getSymName() + "_" + schedule.getFields().getKernelSuffix())
      .str();
}

/// Whether `op` loads what may be read before the kernels before have ended.
static bool isEarly(Operation *op, ScheduleAttr schedule) {
  auto load = dyn_cast<TileLoadOp>(op);
  return schedule.getConstants() == Constants::block && load && load.getKind() == TileKind::column &&
         !load.getColumns() && isConstantArgument(load.getBase());
}

static LogicalResult distribute(scf::ForallOp forall, SymbolTable &symbols) {
  FailureOr<ScheduleAttr> schedule = getSchedule(forall);
  FailureOr<TargetAttr> target = getTarget(forall);
  if (failed(schedule) || failed(target))
    return failure();
  FailureOr<ProgramFacts> facts = getProgramFacts(forall);
  if (failed(facts))
    return failure();
  Block *program = getProgramBlock(forall);
  auto loop = dyn_cast<scf::ForOp>(program->getParentOp());
  auto func = forall->getParentOfType<func::FuncOp>();
  if (!loop || !func || forall.getNumResults() != 0) {
    InFlightDiagnostic error = forall.emitOpError(
        "expected blocks that walk their tiles in a loop, in a function");
    error.attachNote() << "rmsnorm-walk-rows makes that loop";
    return error;
  }

  Location loc = forall.getLoc();
  auto kernel = createKernel(loc, getKernelName(func, *schedule),
                             schedule->getBlockThreads(), symbols);
  // For people: a compiled module says which schedule a variant has.
  kernel->setAttr(RMSNormDialect::kScheduleAttrName, *schedule);

  Block &entry = kernel.getBody().front();
  OpBuilder builder(forall.getContext());
  builder.setInsertionPointToEnd(&entry);
  OpBuilder host(forall);
  LaunchArguments arguments(host, entry);
  if (schedule->getPdl())
    LaunchDependentsOp::create(builder, loc);
  Value block = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value numBlocks = gpu::GridDimOp::create(builder, loc, gpu::Dimension::x);
  Value walkers = getValueOrCreateConstantIndexOp(
      host, loc, forall.getMixedUpperBound().front());
  Value grid = walkers;
  Value strip;
  const int64_t cluster = schedule->getCluster();
  if (cluster > 1) {
    // Blocks of a cluster walk over the same rows.
    Value size = arith::ConstantIndexOp::create(builder, loc, cluster);
    block = arith::DivUIOp::create(builder, loc, block, size);
    numBlocks = arith::DivUIOp::create(builder, loc, numBlocks, size);
  } else if (schedule->getColumnSums() == ColumnSums::strips) {
    // Blocks beside one another own strips of the same rows.
    Value strips = createStripCount(host, loc, *schedule, facts->columns,
                                    getDynamicColumns(*program));
    grid = arith::MulIOp::create(host, loc, walkers, strips);
    Value count = arguments.getScalar(strips);
    strip = arith::IndexCastUIOp::create(
        builder, loc, builder.getI32Type(),
        arith::RemUIOp::create(builder, loc, block, count));
    block = arith::DivUIOp::create(builder, loc, block, count);
    numBlocks = arith::DivUIOp::create(builder, loc, numBlocks, count);
  }
  arguments.replaceScalar(forall.getInductionVar(0), block);
  arguments.replaceScalar(walkers, numBlocks);

  ThreadProgram thread(builder, loc, arguments, *schedule,
                       target->getChipInfo(), *facts);
  thread.emitThreadIds(strip);
  thread.emitExchangeInit(*program);

  // What stands around the loop is done once: what no kernel before this one
  // writes, then, when those have ended, the rest.
  SmallVector<Operation *> early, before, behind;
  for (Operation &op : forall.getBody()->without_terminator())
    if (&op != loop)
      (!op.isBeforeInBlock(loop) ? behind
       : isEarly(&op, *schedule) ? early
                                 : before)
          .push_back(&op);
  IRMapping scalars;
  if (failed(thread.emitOnce(early, scalars)))
    return failure();
  // On every path, also of a block without tiles: the kernel behind this one
  // takes its end for the end of all before.
  if (schedule->getPdl())
    GridWaitOp::create(builder, loc);
  if (failed(thread.emitOnce(before, scalars)))
    return failure();
  auto scalar = [&](Value value) { return thread.getScalar(value, scalars); };

  // The loop carries the toggle, and for each value it carried before that
  // scalar or what a thread holds of that accumulator.
  SmallVector<Value> inits;
  if (thread.needsToggle())
    inits.push_back(arith::ConstantIntOp::create(builder, loc, 0, 32));
  for (auto [value, init] :
       llvm::zip(loop.getRegionIterArgs(), loop.getInitArgs())) {
    if (isa<VectorType>(value.getType()))
      llvm::append_range(inits, thread.emitZeros(value.getType()));
    else
      inits.push_back(scalar(init));
  }
  auto walk = scf::ForOp::create(
      builder, loc, scalar(loop.getLowerBound()), scalar(loop.getUpperBound()),
      scalar(loop.getStep()), inits,
      [](OpBuilder &nested, Location nestedLoc, Value, ValueRange carried) {
        scf::YieldOp::create(nested, nestedLoc, carried);
      });
  gpu::ReturnOp::create(builder, loc);
  // Gives each of `values` its part of `held`.
  auto setCarried = [&](ValueRange values, ValueRange held) {
    if (thread.needsToggle())
      held = held.drop_front();
    for (Value value : values) {
      if (!isa<VectorType>(value.getType())) {
        scalars.map(value, held.front());
        held = held.drop_front();
        continue;
      }
      const size_t count = thread.getNumAccumulators(value.getType());
      thread.setFragments(value, held.take_front(count));
      held = held.drop_front(count);
    }
  };

  Operation *yield = walk.getBody()->getTerminator();
  builder.setInsertionPoint(yield);
  setCarried(loop.getRegionIterArgs(), walk.getRegionIterArgs());
  Value toggle = thread.needsToggle() ? walk.getRegionIterArg(0) : Value();
  scalars.map(loop.getInductionVar(), walk.getInductionVar());
  if (failed(thread.emitTile(*program, scalars, toggle)))
    return failure();
  SmallVector<Value> next;
  if (toggle)
    next.push_back(thread.emitNextToggle(toggle));
  for (Value value : program->getTerminator()->getOperands()) {
    if (isa<VectorType>(value.getType()))
      llvm::append_range(next, thread.getFragments(value));
    else
      next.push_back(scalar(value));
  }
  yield->setOperands(next);

  builder.setInsertionPointAfter(walk);
  setCarried(loop.getResults(), walk.getResults());
  IRMapping scalarsBehind;
  if (failed(thread.emitOnce(behind, scalarsBehind)))
    return failure();

  const ChipInfo &chip = target->getChipInfo();
  if (thread.getWorkgroupBytes() > chip.maxWorkgroupMemory)
    return forall.emitOpError("expected at most ")
           << chip.maxWorkgroupMemory << " bytes of workgroup memory on "
           << chip.name << ", got " << thread.getWorkgroupBytes();

  host.setInsertionPoint(forall);
  auto launch = createLaunch(host, kernel, grid, schedule->getBlockThreads(),
                             thread.getWorkgroupBytes(), arguments, cluster);
  // For whoever asks what runs: the module's printout, norm-run's table.
  launch->setAttr(RMSNormDialect::kScheduleAttrName, *schedule);
  if (schedule->getPdl())
    launch->setAttr(RMSNormDialect::kDependentLaunchAttrName,
                    builder.getUnitAttr());
  if (schedule->getBlocksPerSm() > 0)
    launch->setAttr(RMSNormDialect::kBlocksPerMultiprocessorAttrName,
                    builder.getI32IntegerAttr(schedule->getBlocksPerSm()));
  forall.erase();
  return success();
}

namespace {
struct Distribute final : rmsnorm::impl::DistributeBase<Distribute> {
  using DistributeBase::DistributeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<scf::ForallOp> loops = getRowLoops(module);
    if (loops.empty())
      return;
    OpBuilder builder(module.getBodyRegion());
    builder.setInsertionPointToStart(module.getBody());
    auto kernels =
        gpu::GPUModuleOp::create(builder, module.getLoc(), "rmsnorm_kernels");
    SymbolTable(module).insert(kernels);
    SymbolTable symbols(kernels);
    module->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                    builder.getUnitAttr());
    for (scf::ForallOp forall : loops)
      if (failed(distribute(forall, symbols)))
        return signalPassFailure();
    SmallVector<SumRowsOp> sums;
    module.walk([&](SumRowsOp op) { sums.push_back(op); });
    for (SumRowsOp op : sums)
      if (failed(distributeSumRows(op, symbols)))
        return signalPassFailure();
  }
};
} // namespace
