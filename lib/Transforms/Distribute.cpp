// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Distribute.cpp - rmsnorm-distribute -------------------------------===//
//
// Outlines kernels; what a thread does inside is ThreadProgram's business.
//
//===----------------------------------------------------------------------===//

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

namespace {
/// Adds arguments to the kernel and operands to its launch side by side.
class LaunchArguments final : public KernelArguments {
public:
  LaunchArguments(OpBuilder host, Block &entry) : host(host), entry(entry) {}

  Value getPointer(Value buffer) override {
    Value &argument = pointers[buffer];
    if (!argument)
      argument = add(BufferPointerOp::create(
          host, buffer.getLoc(),
          LLVM::LLVMPointerType::get(host.getContext(), 1), buffer));
    return argument;
  }

  Value getStride(Value buffer, int64_t dim) override {
    Value &argument = strides[{buffer, dim}];
    if (argument)
      return argument;
    auto [typeStrides, offset] =
        cast<MemRefType>(buffer.getType()).getStridesAndOffset();
    if (!ShapedType::isDynamic(typeStrides[dim]))
      return argument = constant(typeStrides[dim]);
    auto &metadata = metadatas[buffer];
    if (!metadata)
      metadata = memref::ExtractStridedMetadataOp::create(host, buffer.getLoc(),
                                                          buffer);
    return argument = add(metadata.getStrides()[dim]);
  }

  Value getSize(Value buffer, int64_t dim) override {
    Value &argument = sizes[{buffer, dim}];
    if (argument)
      return argument;
    auto type = cast<MemRefType>(buffer.getType());
    if (!type.isDynamicDim(dim))
      return argument = constant(type.getDimSize(dim));
    // Sizes known to be equal are one argument of the kernel, so that a row's
    // leading indices are computed once for all buffers: they are divisions.
    std::optional<int64_t> symbol = getSymbol(buffer, dim);
    if (symbol && symbolSizes.count(*symbol))
      return argument = symbolSizes.lookup(*symbol);
    argument = add(memref::DimOp::create(host, buffer.getLoc(), buffer, dim));
    if (symbol)
      symbolSizes[*symbol] = argument;
    return argument;
  }

  Value getScalar(Value scalar) override {
    Value &argument = scalarArguments[scalar];
    if (argument)
      return argument;
    // Constants, and arithmetic on floats, which a launch does not compute.
    Operation *def = scalar.getDefiningOp();
    if (def && (def->hasTrait<OpTrait::ConstantLike>() ||
                (isa<FloatType>(scalar.getType()) && isPure(def)))) {
      IRMapping mapping;
      for (Value operand : def->getOperands())
        mapping.map(operand, getScalar(operand));
      Operation *clone = addToPrelude(def->clone(mapping));
      return scalarArguments[scalar] = clone->getResult(0);
    }
    return argument = add(scalar);
  }

  void requireRowAlignment(Value buffer, int64_t bytes) override {
    auto argument = dyn_cast<BlockArgument>(buffer);
    auto func =
        dyn_cast_or_null<func::FuncOp>(buffer.getParentBlock()->getParentOp());
    if (argument && func)
      func.setArgAttr(argument.getArgNumber(), "rmsnorm.row_alignment",
                      host.getI64IntegerAttr(bytes));
  }

  /// Makes uses of `value` in the kernel read `replacement`.
  void replaceScalar(Value value, Value replacement) {
    scalarArguments[value] = replacement;
  }

  ArrayRef<Value> getOperands() const { return operands; }

private:
  /// The symbol that bind-arguments gave the dimension, if any.
  static std::optional<int64_t> getSymbol(Value buffer, int64_t dim) {
    auto argument = dyn_cast<BlockArgument>(buffer);
    auto func =
        dyn_cast_or_null<func::FuncOp>(buffer.getParentBlock()->getParentOp());
    if (!argument || !func)
      return std::nullopt;
    auto dims = func.getArgAttrOfType<DenseI64ArrayAttr>(
        argument.getArgNumber(), "rmsnorm.dims");
    if (!dims || dim >= dims.size() || dims[dim] >= 0)
      return std::nullopt;
    return dims[dim];
  }

  Value add(Value operand) {
    operands.push_back(operand);
    return entry.addArgument(operand.getType(), operand.getLoc());
  }

  /// Puts `op` at the kernel's entry, behind what was put there before.
  Operation *addToPrelude(Operation *op) {
    if (prelude)
      entry.getOperations().insertAfter(prelude->getIterator(), op);
    else
      entry.push_front(op);
    return prelude = op;
  }

  Value constant(int64_t value) {
    OpBuilder builder(host.getContext());
    return addToPrelude(arith::ConstantIndexOp::create(
                            builder, host.getUnknownLoc(), value))
        ->getResult(0);
  }

  OpBuilder host;
  Block &entry;
  Operation *prelude = nullptr;
  SmallVector<Value> operands;
  DenseMap<Value, Value> pointers, scalarArguments;
  DenseMap<std::pair<Value, int64_t>, Value> strides, sizes;
  DenseMap<int64_t, Value> symbolSizes;
  DenseMap<Value, memref::ExtractStridedMetadataOp> metadatas;
};
} // namespace

/// The kernel's name says what it is specialised for.
static std::string getKernelName(func::FuncOp func, ScheduleAttr schedule) {
  std::string name;
  llvm::raw_string_ostream(name)
      << func.getSymName() << "_" << schedule.getMode() << "_g"
      << schedule.getRowGroups() << "u" << schedule.getRowsPerGroup() << "t"
      << schedule.getThreadsPerRow() << "v" << schedule.getVectorWidth() << "f"
      << schedule.getVectorsInFlight() << "a" << schedule.getAlignment();
  return name;
}

static LogicalResult distribute(scf::ForallOp forall, gpu::GPUModuleOp kernels,
                                SymbolTable &symbols) {
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
  if (!loop || !func || forall.getNumResults() != 0 ||
      loop.getNumResults() != 0) {
    InFlightDiagnostic error = forall.emitOpError(
        "expected blocks that walk their tiles in a loop, in a function");
    error.attachNote() << "rmsnorm-walk-rows makes that loop";
    return error;
  }

  Location loc = forall.getLoc();
  OpBuilder builder(forall.getContext());
  auto kernel =
      gpu::GPUFuncOp::create(builder, loc, getKernelName(func, *schedule),
                             builder.getFunctionType({}, {}));
  symbols.insert(kernel);
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  // For people: a compiled module says which schedule a variant has.
  kernel->setAttr(RMSNormDialect::kScheduleAttrName, *schedule);
  kernel.setKnownBlockSizeAttr(builder.getDenseI32ArrayAttr(
      {static_cast<int32_t>(schedule->getBlockThreads()), 1, 1}));

  Block &entry = kernel.getBody().front();
  builder.setInsertionPointToEnd(&entry);
  OpBuilder host(forall);
  LaunchArguments arguments(host, entry);
  Value block = gpu::BlockIdOp::create(builder, loc, gpu::Dimension::x);
  Value numBlocks = gpu::GridDimOp::create(builder, loc, gpu::Dimension::x);
  Value grid = getValueOrCreateConstantIndexOp(
      host, loc, forall.getMixedUpperBound().front());
  arguments.replaceScalar(forall.getInductionVar(0), block);
  arguments.replaceScalar(grid, numBlocks);

  ThreadProgram thread(builder, loc, arguments, *schedule,
                       target->getChipInfo(), *facts);
  thread.emitThreadIds();

  SmallVector<Value> inits;
  if (thread.needsToggle())
    inits.push_back(arith::ConstantIntOp::create(builder, loc, 0, 32));
  auto walk = scf::ForOp::create(builder, loc,
                                 arguments.getScalar(loop.getLowerBound()),
                                 arguments.getScalar(loop.getUpperBound()),
                                 arguments.getScalar(loop.getStep()), inits);
  gpu::ReturnOp::create(builder, loc);
  builder.setInsertionPointToStart(walk.getBody());
  Value toggle = inits.empty() ? Value() : walk.getRegionIterArg(0);
  IRMapping scalars;
  scalars.map(loop.getInductionVar(), walk.getInductionVar());
  if (failed(thread.emitTile(*program, scalars, toggle)))
    return failure();
  if (toggle) {
    Value one = arith::ConstantIntOp::create(builder, loc, 1, 32);
    Value next = arith::XOrIOp::create(builder, loc, toggle, one);
    scf::YieldOp::create(builder, loc, next);
  }

  kernel.setFunctionType(builder.getFunctionType(entry.getArgumentTypes(), {}));
  Value one = arith::ConstantIndexOp::create(host, loc, 1);
  Value threads =
      arith::ConstantIndexOp::create(host, loc, schedule->getBlockThreads());
  Value bytes =
      arith::ConstantIntOp::create(host, loc, thread.getWorkgroupBytes(), 32);
  host.setInsertionPoint(forall);
  auto launch = gpu::LaunchFuncOp::create(
      host, loc, kernel, gpu::KernelDim3{grid, one, one},
      gpu::KernelDim3{threads, one, one}, bytes, arguments.getOperands());
  // For whoever asks what runs: the module's printout, norm-run's table.
  launch->setAttr(RMSNormDialect::kScheduleAttrName, *schedule);
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
      if (failed(distribute(forall, kernels, symbols)))
        return signalPassFailure();
  }
};
} // namespace
