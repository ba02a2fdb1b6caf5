// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostFunction.cpp - a host function as data ------------------------===//

#include "HostFunction.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/IR/Matchers.h"

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
  FailureOr<HostLaunch> readLaunch(gpu::LaunchFuncOp launch);
  FailureOr<HostParameter> readParameter(Value value, Operation *launch);
  LogicalResult findLaunchesOfClusters();

  func::FuncOp function;
  IndexExpressions values;
  /// Where a workspace begins, and where the next one would.
  DenseMap<Value, Expression> workspaceOffsets;
  Expression workspaceEnd;
};

} // namespace

/// Puts the workspace behind those before it.
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

FailureOr<HostParameter> HostFunctionReader::readParameter(Value value,
                                                           Operation *launch) {
  HostParameter parameter;
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
      parameter.expression = workspaceOffsets.lookup(buffer);
      return parameter;
    }
    FailureOr<unsigned> argument = values.getArgument(buffer, pointer);
    if (failed(argument))
      return failure();
    parameter.kind = rmsn::ParameterKind::Pointer;
    parameter.argument = *argument;
    return parameter;
  }
  if (type.isF32()) {
    FloatAttr constant;
    if (!matchPattern(value, m_Constant(&constant)))
      return launch->emitOpError("expected a constant as f32 parameter, got ")
             << value;
    parameter.kind = rmsn::ParameterKind::F32;
    parameter.constant = constant.getValue().convertToFloat();
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
  parameter.expression = std::move(*expression);
  return parameter;
}

FailureOr<HostLaunch> HostFunctionReader::readLaunch(gpu::LaunchFuncOp launch) {
  if (launch.getAsyncToken() || !launch.getAsyncDependencies().empty() ||
      launch.getAsyncObject())
    return launch.emitOpError("expected a launch without tokens and stream: "
                              "launches run in order on the caller's stream");
  HostLaunch result;
  result.module = launch.getKernelModuleName().str();
  result.kernel = launch.getKernelName().str();
  result.dependentLaunch =
      launch->hasAttr(RMSNormDialect::kDependentLaunchAttrName);
  if (auto blocks = launch->getAttrOfType<IntegerAttr>(
          RMSNormDialect::kBlocksPerMultiprocessorAttrName))
    result.blocksPerMultiprocessor = blocks.getInt();
  gpu::KernelDim3 grid = launch.getGridSizeOperandValues();
  gpu::KernelDim3 block = launch.getBlockSizeOperandValues();
  Value grids[] = {grid.x, grid.y, grid.z};
  Value blocks[] = {block.x, block.y, block.z};
  for (int i = 0; i < 3; ++i) {
    FailureOr<Expression> blocksOfGrid = values.evaluate(grids[i]);
    if (failed(blocksOfGrid))
      return failure();
    result.grid[i] = *blocksOfGrid;
    IntegerAttr threads;
    if (!matchPattern(blocks[i], m_Constant(&threads)))
      return launch.emitOpError("expected a constant block size, got ")
             << blocks[i];
    result.block[i] = threads.getValue().getSExtValue();
  }
  if (launch.hasClusterSize()) {
    gpu::KernelDim3 cluster = launch.getClusterSizeOperandValues();
    IntegerAttr size;
    if (!matchPattern(cluster.x, m_Constant(&size)) ||
        !matchPattern(cluster.y, m_One()) || !matchPattern(cluster.z, m_One()))
      return launch.emitOpError("expected a constant size of clusters along x, "
                                "got ")
             << cluster.x << ", " << cluster.y << ", " << cluster.z;
    result.cluster = size.getValue().getSExtValue();
  }
  if (Value bytes = launch.getDynamicSharedMemorySize()) {
    FailureOr<Expression> expression = values.evaluate(bytes);
    if (failed(expression))
      return failure();
    result.sharedMemory = *expression;
  }
  if (launch.getNumKernelOperands() > rmsn::kMaxParameters)
    return launch.emitOpError("expected at most ")
           << rmsn::kMaxParameters << " kernel parameters, got "
           << launch.getNumKernelOperands();
  for (Value operand : launch.getKernelOperands()) {
    FailureOr<HostParameter> parameter = readParameter(operand, launch);
    if (failed(parameter))
      return failure();
    result.parameters.push_back(std::move(*parameter));
  }
  return result;
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
      FailureOr<HostLaunch> read = readLaunch(launch);
      if (failed(read))
        return failure();
      program.launches.push_back(std::move(*read));
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
  program.workspace = std::move(workspaceEnd);
  return program;
}

FailureOr<HostProgram> rmsnorm::readHostFunction(func::FuncOp function) {
  return HostFunctionReader(function).read();
}
