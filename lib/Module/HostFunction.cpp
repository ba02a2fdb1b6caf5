// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostFunction.cpp - a host function as data ------------------------===//

#include "HostFunction.h"

#include "RMSNorm/IR/HardViews.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using rmsn::ExpressionOpcode;

namespace {

class HostFunctionReader {
public:
  explicit HostFunctionReader(func::FuncOp function)
      : function(function), values(function) {}

  FailureOr<HostProgram> read();

private:
  LogicalResult addWorkspace(WorkspaceOp workspace);
  LogicalResult readLaunch(gpu::LaunchFuncOp launch, rmsn::LaunchT &result);
  FailureOr<rmsn::ParameterT> readParameter(Value value, Operation *launch);
  LogicalResult findLaunchesOfClusters();

  func::FuncOp function;
  IndexExpressions values;
  /// Where a workspace begins, and where the next one would.
  DenseMap<Value, Expression> workspaceOffsets;
  Expression workspaceEnd;
};

} // namespace

/// Puts the workspace after those before it.
LogicalResult HostFunctionReader::addWorkspace(WorkspaceOp workspace) {
  int64_t staticBytes = *workspace.getStaticBytes();
  Expression bytes = constantExpression(staticBytes);
  for (Value size : workspace.getSizes()) {
    FailureOr<Expression> factor = values.evaluate(size);
    if (failed(factor))
      return failure();
    bytes = binaryExpression(ExpressionOpcode::Mul, *factor, bytes);
  }
  // All begin at multiples of the alignment if all sizes are multiples of it.
  constexpr int64_t alignment = WorkspaceOp::alignment;
  if (workspace.getSizes().empty()) {
    bytes = constantExpression(llvm::alignTo(staticBytes, alignment));
  } else if (staticBytes % alignment != 0) {
    Expression unit = constantExpression(alignment);
    bytes = binaryExpression(ExpressionOpcode::CeilDiv, bytes, unit);
    bytes = binaryExpression(ExpressionOpcode::Mul, bytes, unit);
  }
  workspaceOffsets[workspace] = workspaceEnd;
  workspaceEnd = workspaceEnd.empty() ? bytes
                                      : binaryExpression(ExpressionOpcode::Add,
                                                         workspaceEnd, bytes);
  return checkExpression(workspaceEnd, workspace.getLoc());
}

FailureOr<rmsn::ParameterT>
HostFunctionReader::readParameter(Value value, Operation *launch) {
  rmsn::ParameterT parameter;
  Type type = value.getType();
  if (isa<LLVM::LLVMPointerType>(type)) {
    auto pointer = value.getDefiningOp<BufferPointerOp>();
    if (!pointer)
      return launch->emitOpError("expected pointers that "
                                 "'rmsnorm.buffer_pointer' returns, got ")
             << value;
    Value buffer = pointer.getBuffer();
    if (buffer.getDefiningOp<WorkspaceOp>()) {
      parameter.kind = rmsn::ParameterKind::Workspace;
      parameter.expression = pack(workspaceOffsets.lookup(buffer));
      return parameter;
    }
    FailureOr<unsigned> argument = values.getArgument(buffer, pointer);
    if (failed(argument))
      return failure();
    FailureOr<Expression> offset = values.getByteOffset(buffer);
    if (failed(offset))
      return failure();
    parameter.kind = rmsn::ParameterKind::Pointer;
    parameter.argument = *argument;
    parameter.expression = pack(std::move(*offset));
    return parameter;
  }
  if (type.isF32()) {
    FloatAttr constant;
    if (!matchPattern(value, m_Constant(&constant)))
      return launch->emitOpError("expected a constant as f32 parameter, got ")
             << value;
    parameter.kind = rmsn::ParameterKind::F32;
    parameter.f32_constant = constant.getValue().convertToFloat();
    return parameter;
  }
  if (!type.isIndex() && !type.isInteger(64) && !type.isInteger(32))
    return launch->emitOpError("expected parameters of type !llvm.ptr<1>, i64, "
                               "index, i32 or f32, got ")
           << type;
  FailureOr<Expression> expression = values.evaluate(value);
  if (failed(expression))
    return failure();
  parameter.kind =
      type.isInteger(32) ? rmsn::ParameterKind::I32 : rmsn::ParameterKind::I64;
  parameter.expression = pack(std::move(*expression));
  return parameter;
}

LogicalResult HostFunctionReader::readLaunch(gpu::LaunchFuncOp launch,
                                             rmsn::LaunchT &result) {
  if (launch.getAsyncToken() || !launch.getAsyncDependencies().empty() ||
      launch.getAsyncObject())
    return launch.emitOpError("expected a launch without tokens and stream: "
                              "launches run in order on the caller's stream");
  result.kernel = launch.getKernelName().str();
  result.programmatic_dependent_launch =
      launch->hasAttr(RMSNormDialect::kDependentLaunchAttrName);
  if (auto blocks = launch->getAttrOfType<IntegerAttr>(
          RMSNormDialect::kBlocksPerMultiprocessorAttrName))
    result.blocks_per_multiprocessor = blocks.getInt();
  auto readValue = [&](Value value, std::unique_ptr<rmsn::ExpressionT> &to) {
    FailureOr<Expression> expression = values.evaluate(value);
    if (succeeded(expression))
      to = pack(std::move(*expression));
    return LogicalResult(expression);
  };
  auto readThreads = [&](Value value, uint32_t &to) -> LogicalResult {
    APInt threads;
    if (!matchPattern(value, m_ConstantInt(&threads)))
      return launch.emitOpError("expected a constant block size, got ")
             << value;
    to = threads.getSExtValue();
    return success();
  };
  gpu::KernelDim3 grid = launch.getGridSizeOperandValues();
  gpu::KernelDim3 block = launch.getBlockSizeOperandValues();
  if (failed(readValue(grid.x, result.grid_x)) ||
      failed(readValue(grid.y, result.grid_y)) ||
      failed(readValue(grid.z, result.grid_z)) ||
      failed(readThreads(block.x, result.block_x)) ||
      failed(readThreads(block.y, result.block_y)) ||
      failed(readThreads(block.z, result.block_z)))
    return failure();
  if (launch.hasClusterSize()) {
    gpu::KernelDim3 cluster = launch.getClusterSizeOperandValues();
    APInt size;
    if (!matchPattern(cluster.x, m_ConstantInt(&size)) ||
        !matchPattern(cluster.y, m_One()) || !matchPattern(cluster.z, m_One()))
      return launch.emitOpError("expected a constant size of clusters along x, "
                                "got ")
             << cluster.x << ", " << cluster.y << ", " << cluster.z;
    result.cluster_x = size.getSExtValue();
  }
  if (Value bytes = launch.getDynamicSharedMemorySize())
    if (failed(readValue(bytes, result.shared_memory)))
      return failure();
  if (launch.getNumKernelOperands() > rmsn::kMaxParameters)
    return launch.emitOpError("expected at most ")
           << rmsn::kMaxParameters << " kernel parameters, got "
           << launch.getNumKernelOperands();
  for (Value operand : launch.getKernelOperands()) {
    FailureOr<rmsn::ParameterT> parameter = readParameter(operand, launch);
    if (failed(parameter))
      return failure();
    result.parameters.push_back(
        std::make_unique<rmsn::ParameterT>(std::move(*parameter)));
  }
  return success();
}

/// Finds the launch that each rmsnorm.resident_clusters is about.
LogicalResult HostFunctionReader::findLaunchesOfClusters() {
  for (auto [number, launch] : llvm::enumerate(
           function.getBody().front().getOps<gpu::LaunchFuncOp>())) {
    if (!launch.hasClusterSize())
      continue;
    SetVector<Operation *> slice;
    (void)getBackwardSlice(launch.getGridSizeX(), &slice);
    for (Operation *op : slice)
      if (auto clusters = dyn_cast<ResidentClustersOp>(op))
        if (!values.bindClusters(clusters, number))
          return op->emitOpError("expected the grid of one launch in clusters "
                                 "to follow from it, got several");
  }
  return success();
}

FailureOr<HostProgram> HostFunctionReader::read() {
  if (!llvm::hasSingleElement(function.getBody()))
    return function.emitError("expected a host function of one block, got ")
           << function.getBody().getBlocks().size();
  if (failed(findLaunchesOfClusters()))
    return failure();
  HostProgram program;
  for (Operation &op : function.getBody().front()) {
    if (auto launch = dyn_cast<gpu::LaunchFuncOp>(op)) {
      program.modules.push_back(launch.getKernelModuleName().str());
      program.launches.push_back(std::make_unique<rmsn::LaunchT>());
      if (failed(readLaunch(launch, *program.launches.back())))
        return failure();
      continue;
    }
    if (auto workspace = dyn_cast<WorkspaceOp>(op)) {
      if (failed(addWorkspace(workspace)))
        return failure();
      continue;
    }
    if (isa<func::ReturnOp>(op)) {
      if (op.getNumOperands() != 0)
        return op.emitOpError("expected a function that writes its results "
                              "into its arguments, got one that returns ")
               << op.getNumOperands() << " values";
      continue;
    }
    // Index arithmetic is read where a launch uses it; here it only has to be
    // known, so that nothing with an effect is dropped.
    if (!isa<BufferPointerOp>(op) && !IndexExpressions::isKnown(&op))
      return op.emitOpError("expected only kernel launches and index "
                            "arithmetic in a host function");
  }
  program.workspace = pack(std::move(workspaceEnd));
  return program;
}

/// Not by patterns: those drop a cast between equal types with static sizes
/// whatever its strides are.
static void expandTransposes(func::FuncOp function) {
  IRRewriter rewriter(function.getContext());
  function.walk([&](memref::TransposeOp op) {
    rewriter.setInsertionPoint(op);
    auto source = memref::ExtractStridedMetadataOp::create(
        rewriter, op.getLoc(), op.getIn());
    const AffineMap permutation = op.getPermutation();
    auto permute = [&](ArrayRef<OpFoldResult> values) {
      return applyPermutationMap(permutation, values);
    };
    rewriter.replaceOpWithNewOp<memref::ReinterpretCastOp>(
        op, op.getType(), source.getBaseBuffer(),
        source.getConstifiedMixedOffset(),
        permute(source.getConstifiedMixedSizes()),
        permute(source.getConstifiedMixedStrides()));
  });
}

FailureOr<HostProgram> rmsnorm::readHostFunction(func::FuncOp function) {
  // A module's launches know arguments, strides and offsets, not views.
  WalkResult views = function.walk([](Operation *op) {
    return isa<memref::SubViewOp, memref::CollapseShapeOp,
               memref::ExpandShapeOp, memref::ReinterpretCastOp,
               memref::TransposeOp>(op)
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  if (views.wasInterrupted()) {
    function.getContext()->getOrLoadDialect<affine::AffineDialect>();
    replaceHardViews(function);
    RewritePatternSet patterns(function.getContext());
    memref::populateExpandStridedMetadataPatterns(patterns);
    (void)applyPatternsGreedily(function, std::move(patterns));
    expandTransposes(function);
  }
  return HostFunctionReader(function).read();
}
