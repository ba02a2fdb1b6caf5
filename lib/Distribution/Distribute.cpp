// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Distribute.cpp - rmsnorm-distribute -------------------------------===//
//
// The one pass that knows threads. A kernel is emitted in the order in which a
// thread executes it: the work that a block does once here, its tiles by
// TileLoop, a tile's columns by Traverse, the sums of threads by Combine.
//
//===----------------------------------------------------------------------===//

#include "RMSNorm/Distribution/Passes.h"
#include "RMSNorm/IR/AccessMap.h"
#include "RMSNorm/IR/KernelTarget.h"

#include "BlockSums.h"
#include "Grid.h"
#include "TileLoop.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_DISTRIBUTE
#include "RMSNorm/Distribution/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// `name`, which may have any characters, as a symbol for all code generators.
static std::string getKernelName(StringRef name, ScheduleAttr schedule) {
  std::string symbol = name.str();
  for (char &c : symbol)
    if (!llvm::isAlnum(c) && c != '$')
      c = '_';
  // The code generators' names do not begin with a digit.
  if (llvm::isDigit(symbol.front()))
    symbol.insert(0, "_");
  return symbol + "_" + schedule.getFields().getKernelSuffix();
}

static SmallVector<ColumnDigit, 3> getLayoutDigits(RowsOp rows) {
  const ColumnParts parts = getColumnParts(rows);
  return getColumnDigits(rows.getColumns(), parts.part, parts.hasPairs,
                         parts.whole);
}

namespace {
/// Makes the kernel of one `rmsnorm.rows`, its launch and its workspaces.
class Distributor {
public:
  Distributor(RowsOp rows, ScheduleAttr schedule, const ChipInfo &chip,
              SymbolTable &symbols)
      : rows(rows), tiles(rows.getTiles()), schedule(schedule), chip(chip),
        layout(schedule.getFields(), getLayoutDigits(rows),
               bool(rows.getDynamicColumns()), chip.subgroupSize),
        host(rows),
        function(createKernel(
            rows.getLoc(),
            getKernelName(
                rows->getParentOfType<FunctionOpInterface>().getName(),
                schedule),
            schedule.getBlockThreads(), symbols)),
        kernel(rows, layout, chip, function, host) {}

  LogicalResult run();

private:
  LogicalResult checkLayout();
  bool waitsOnce(Operation *wait);
  Value emitEntry();
  void emitOnce(Block::iterator begin, Block::iterator end,
                function_ref<void()> emitScalars);
  SmallVector<Value> createWorkspaces();

  RowsOp rows;
  TilesOp tiles;
  ScheduleAttr schedule;
  const ChipInfo &chip;
  const Layout layout;
  OpBuilder host;
  gpu::GPUFuncOp function;
  Kernel kernel;
  Grid grid;
  /// Which walker the block belongs to, of all and of those that walk over the
  /// rows of its segment, and how many of these there are.
  Value block, walker, walkers;
};
} // namespace

/// Whether a block waits for the kernels before it once, at its entry: as one
/// does that walks over many tiles, that reads or writes something outside of
/// them, or that begins to copy a tile ahead of its turn. Any other waits in
/// front of the first access of a tile, with its address in hand, and one
/// without tiles not at all.
bool Distributor::waitsOnce(Operation *wait) {
  auto isLoad = [](Operation &op) { return isa<TileLoadOp>(op); };
  return schedule.getBlocksPerSm() != 0 || tiles.getStages() > 1 ||
         !tiles.getInits().empty() ||
         llvm::any_of(
             llvm::make_range(wait->getIterator(), tiles->getIterator()),
             isLoad);
}

/// The numbers of the block and its threads.
Value Distributor::emitEntry() {
  ImplicitLocOpBuilder &builder = kernel.builder;
  block = gpu::BlockIdOp::create(builder, gpu::Dimension::x);
  walkers = gpu::GridDimOp::create(builder, gpu::Dimension::x);
  if (layout.getCluster() > 1) {
    // Blocks of a cluster walk over the same rows.
    Value size = kernel.emitIndex(layout.getCluster());
    block = arith::DivUIOp::create(builder, block, size);
    walkers = arith::DivUIOp::create(builder, walkers, size);
  }
  Value strip;
  if (grid.strips) {
    // Blocks beside one another own strips of the same rows.
    Value count = kernel.getHostScalar(grid.strips);
    strip = kernel.emitCast(arith::RemUIOp::create(builder, block, count));
    block = arith::DivUIOp::create(builder, block, count);
    walkers = arith::DivUIOp::create(builder, walkers, count);
  }
  walker = block;
  if (rows.getSegments().empty())
    return strip;
  // Those of a segment are beside one another, too.
  walkers = kernel.getHostScalar(grid.walkers);
  walker = arith::RemUIOp::create(builder, block, walkers);
  kernel.setSegment(arith::DivUIOp::create(builder, block, walkers));
  return strip;
}

/// The work that a block does once: it loads per-column operands that it holds.
void Distributor::emitOnce(Block::iterator begin, Block::iterator end,
                           function_ref<void()> emitScalars) {
  Tile once(kernel, /*number=*/Value(), /*slot=*/Value());
  emitScalars();
  for (Operation &op : llvm::make_range(begin, end))
    if (auto load = dyn_cast<TileLoadOp>(op))
      once.addresses.emitAccess(load.getBase(), load.getAccess());
  for (Operation &op : llvm::make_range(begin, end)) {
    auto load = dyn_cast<TileLoadOp>(op);
    if (load && isPerColumn(load.getType()))
      once.emitHeldLoad(load);
    else if (llvm::any_of(op.getResultTypes(), llvm::IsaPred<VectorType>) &&
             !op.hasTrait<OpTrait::ConstantLike>())
      once.emitRowOp(&op);
  }
}

/// A row of f32 for each block.
SmallVector<Value> Distributor::createWorkspaces() {
  SmallVector<Value> workspaces;
  for (Value partials : rows.getPartials()) {
    SmallVector<Value> sizes{grid.walkers};
    if (!rows.getSegments().empty())
      sizes[0] = arith::MulIOp::create(host, rows.getLoc(), grid.walkers,
                                       rows.createNumSegments(host));
    auto type = cast<MemRefType>(partials.getType());
    if (type.isDynamicDim(1))
      sizes.push_back(rows.getDynamicColumns());
    workspaces.push_back(WorkspaceOp::create(host, rows.getLoc(), type, sizes));
    partials.replaceAllUsesWith(workspaces.back());
  }
  return workspaces;
}

/// Whether the schedule, which need not be one of ours, shares out what the
/// body computes.
LogicalResult Distributor::checkLayout() {
  const ColumnParts parts = getColumnParts(rows);
  if (!layout || (parts.part != 0 && parts.part % layout.getVectorWidth() != 0))
    return rows.emitOpError("expected vector_width to divide the ")
           << parts.part
           << " columns that rows are taken apart in, and threads "
           << "to share them, got " << layout.getVectorWidth();
  // A vector has whole groups, or a group whole vectors.
  auto lieInVectors = [&](Type type) {
    return !isPerColumn(type) ||
           llvm::all_of(llvm::zip(kernel.getDigits(type).getDigits(),
                                  layout.getDigits()),
                        [](auto digits) {
                          const auto &[own, shared] = digits;
                          const int64_t group = own.getGroup();
                          return own.share != ValueDigits::Share::groups ||
                                 group % shared.vector == 0 ||
                                 shared.vector % group == 0;
                        });
  };
  WalkResult values = rows.getBody().walk([&](Operation *op) -> WalkResult {
    for (Type type : op->getResultTypes())
      if (!lieInVectors(type))
        return op->emitOpError("expected groups of columns that vectors of ")
               << layout.getVectorWidth() << " divide, got " << type;
    return WalkResult::advance();
  });
  if (values.wasInterrupted())
    return failure();
  WalkResult groups = rows.getBody().walk([&](GroupReduceOp op) -> WalkResult {
    const auto type = cast<VectorType>(op.getResult().getType());
    const int64_t columns = getGroupColumns(type, rows.getDigits());
    if (layout.getGroupThreads(columns) == 0)
      return op.emitOpError("expected each group of ")
             << columns << " columns to lie in a vector, or in those of 2, 4, "
             << "8, ... neighbours of a subgroup";
    return WalkResult::advance();
  });
  return failure(groups.wasInterrupted());
}

LogicalResult Distributor::run() {
  if (failed(checkLayout()))
    return failure();
  grid = createGrid(host, rows, schedule, chip);
  Block &body = rows.getBody().front();
  auto waits = body.getOps<GridWaitOp>();
  const bool dependent = !waits.empty();
  Value strip = emitEntry();
  kernel.emitThreads(strip);
  Combine combine(kernel, tiles);
  Rings rings(kernel, tiles);
  combine.emitInit();

  Block::iterator begin = body.begin();
  bool waitsInLoop = false;
  if (dependent) {
    Block::iterator wait = (*waits.begin())->getIterator();
    emitOnce(begin, wait, [] {});
    waitsInLoop = !waitsOnce(&*wait);
    if (!waitsInLoop)
      kernel.emitGridWait();
    begin = std::next(wait);
  }
  TileLoop loop(kernel, tiles, combine, rings, walker, grid.tiles, walkers,
                waitsInLoop);
  emitOnce(begin, tiles->getIterator(), [&] { loop.emitScalars(); });
  loop.emit();
  emitBlockSums(kernel, rings, cast<YieldOp>(body.getTerminator()).getValues(),
                createWorkspaces(), block);
  emitSumStores(kernel, rings, llvm::to_vector(body.getOps<SumStoreOp>()));
  gpu::ReturnOp::create(kernel.builder);

  const int64_t bytes = kernel.workgroup.getBytes();
  if (bytes > chip.maxWorkgroupMemory)
    return rows.emitOpError("expected at most ")
           << chip.maxWorkgroupMemory << " bytes of workgroup memory on "
           << chip.name << ", got " << bytes;
  auto launch =
      createLaunch(host, function, grid.blocks, schedule.getBlockThreads(),
                   bytes, kernel.arguments, layout.getCluster());
  if (dependent)
    launch->setAttr(RMSNormDialect::kDependentLaunchAttrName,
                    host.getUnitAttr());
  if (const int64_t resident = schedule.getBlocksPerSm()) {
    launch->setAttr(RMSNormDialect::kBlocksPerMultiprocessorAttrName,
                    host.getI32IntegerAttr(resident));
    // Registers are shared out for as many, too.
    function->setAttr(RMSNormDialect::kMinBlocksAttrName,
                      host.getI64IntegerAttr(resident));
  } else if (grid.strips) {
    // Few blocks: the compiler would rather fit eight on a multiprocessor than
    // leave the loads together.
    function->setAttr(RMSNormDialect::kMinBlocksAttrName,
                      host.getI64IntegerAttr(1));
  }
  rows.erase();
  return success();
}

namespace {
struct Distribute final : rmsnorm::impl::DistributeBase<Distribute> {
  using DistributeBase::DistributeBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    SmallVector<RowsOp> all;
    module.walk([&](RowsOp rows) { all.push_back(rows); });
    if (all.empty())
      return;
    FailureOr<TargetAttr> target = getTarget(all.front());
    if (failed(target))
      return signalPassFailure();
    // A launch finds its kernel in the module around it.
    llvm::MapVector<ModuleOp, SmallVector<RowsOp>> hosts;
    for (RowsOp rows : all)
      hosts[rows->getParentOfType<ModuleOp>()].push_back(rows);
    for (auto &[host, hostRows] : hosts) {
      gpu::GPUModuleOp kernels = createKernelModule(host, *target);
      SymbolTable symbols(kernels);
      for (RowsOp rows : hostRows)
        if (failed(distribute(rows, target->getChipInfo(), symbols)))
          return signalPassFailure();
    }
  }

  /// A gpu.module with the target, which says that it is ours.
  static gpu::GPUModuleOp createKernelModule(ModuleOp host, TargetAttr target) {
    OpBuilder builder(host.getContext());
    auto kernels = gpu::GPUModuleOp::create(
        builder, host.getLoc(), "rmsnorm_kernels",
        builder.getArrayAttr(ArrayRef<Attribute>(target)));
    SymbolTable(host).insert(kernels, host.getBody()->begin());
    host->setAttr(gpu::GPUDialect::getContainerModuleAttrName(),
                  builder.getUnitAttr());
    return kernels;
  }

  LogicalResult distribute(RowsOp rows, const ChipInfo &chip,
                           SymbolTable &symbols) {
    FailureOr<ScheduleAttr> schedule = rows.getRequiredSchedule();
    if (failed(schedule))
      return failure();
    if (!rows->getParentOfType<FunctionOpInterface>())
      return rows.emitOpError("expected to stand in a function");
    // The assumptions of the emitters, also where passes are not verified.
    if (failed(verify(rows)) || failed(checkForm(rows)))
      return failure();
    return Distributor(rows, *schedule, chip, symbols).run();
  }

  /// The form that earlier passes must have left.
  LogicalResult checkForm(RowsOp rows) {
    WalkResult walk = rows.walk([&](Operation *op) -> WalkResult {
      auto report = [&](StringRef pass, StringRef what) {
        InFlightDiagnostic error = op->emitOpError("expected ") << what;
        error.attachNote() << pass << " makes it so";
        return error;
      };
      auto sum = dyn_cast<AccumulateOp>(op);
      if (sum && !sum.getResult())
        return report("rmsnorm-carry-sums", "to be carried by rmsnorm.tiles");
      const bool isDirect = isa<TilesOp>(op->getParentOp());
      auto load = dyn_cast<TileLoadOp>(op);
      auto store = dyn_cast<TileStoreOp>(op);
      const bool isPlaced = isa<TraverseOp>(op) ||
                            op->hasTrait<OpTrait::ConstantLike>() ||
                            (load && load.getKind() == TileKind::column);
      const bool perColumn = llvm::any_of(op->getResultTypes(), isPerColumn) ||
                             (store && isPerColumn(store.getValue().getType()));
      if (isa<RowReduceOp>(op) || (isDirect && perColumn && !isPlaced))
        return report("rmsnorm-place-tiles",
                      "per-column work in rmsnorm.traverse");
      return WalkResult::advance();
    });
    return failure(walk.wasInterrupted());
  }
};
} // namespace
