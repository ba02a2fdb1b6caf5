// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostFunction.cpp - a host function as data ------------------------===//

#include "HostFunction.h"

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace mlir::rmsnorm;
using rmsn::ExpressionOpcode;

Expression rmsnorm::constantExpression(int64_t value) {
  return {rmsn::ExpressionOp(value, ExpressionOpcode::Constant, 0, 0)};
}

Expression rmsnorm::sizeExpression(unsigned argument, unsigned dimension) {
  return {rmsn::ExpressionOp(0, ExpressionOpcode::Size, dimension, argument)};
}

Expression rmsnorm::strideExpression(unsigned argument, unsigned dimension) {
  return {rmsn::ExpressionOp(0, ExpressionOpcode::Stride, dimension, argument)};
}

Expression rmsnorm::binaryExpression(ExpressionOpcode opcode, Expression lhs,
                                     const Expression &rhs) {
  lhs.insert(lhs.end(), rhs.begin(), rhs.end());
  lhs.push_back(rmsn::ExpressionOp(0, opcode, 0, 0));
  return lhs;
}

/// That the runtime has room for an expression.
static LogicalResult checkExpression(const Expression &expression,
                                     Location loc) {
  if (expression.size() > rmsn::kMaxExpressionOps)
    return emitError(loc, "expected an index expression of at most ")
           << rmsn::kMaxExpressionOps << " operations, got "
           << expression.size();
  size_t depth = 0, deepest = 0;
  for (const rmsn::ExpressionOp &op : expression) {
    bool isLeaf = op.opcode() <= ExpressionOpcode::DeviceAttribute;
    depth = isLeaf ? depth + 1 : depth - 1;
    deepest = std::max(depth, deepest);
  }
  if (deepest > rmsn::kMaxExpressionStack)
    return emitError(loc, "expected an index expression of at most ")
           << rmsn::kMaxExpressionStack << " values at a time, got " << deepest;
  return success();
}

namespace {

/// The opcode of an integer operation whose operands are sizes, strides and
/// other values that are not negative; for those, truncating and flooring
/// division agree.
std::optional<ExpressionOpcode> getBinaryOpcode(Operation *op) {
  using Result = std::optional<ExpressionOpcode>;
  return TypeSwitch<Operation *, Result>(op)
      .Case<arith::AddIOp>([](auto) { return ExpressionOpcode::Add; })
      .Case<arith::SubIOp>([](auto) { return ExpressionOpcode::Sub; })
      .Case<arith::MulIOp>([](auto) { return ExpressionOpcode::Mul; })
      .Case<arith::DivSIOp, arith::DivUIOp, arith::FloorDivSIOp>(
          [](auto) { return ExpressionOpcode::FloorDiv; })
      .Case<arith::CeilDivSIOp, arith::CeilDivUIOp>(
          [](auto) { return ExpressionOpcode::CeilDiv; })
      .Case<arith::RemSIOp, arith::RemUIOp>(
          [](auto) { return ExpressionOpcode::Rem; })
      .Case<arith::MinSIOp, arith::MinUIOp>(
          [](auto) { return ExpressionOpcode::Min; })
      .Case<arith::MaxSIOp, arith::MaxUIOp>(
          [](auto) { return ExpressionOpcode::Max; })
      .Default([](Operation *) { return std::nullopt; });
}

class HostFunctionReader {
public:
  explicit HostFunctionReader(func::FuncOp function) : function(function) {}

  FailureOr<HostProgram> read();

  FailureOr<Expression> evaluate(Value value);

private:
  FailureOr<Expression> evaluateUncached(Value value);
  FailureOr<Expression> evaluate(AffineExpr expr, ValueRange dims,
                                 ValueRange symbols, Operation *op);
  FailureOr<Expression> evaluateAffineList(AffineMap map, ValueRange operands,
                                           ExpressionOpcode combine,
                                           Operation *op);
  /// `value` is a size or a stride.
  FailureOr<Expression> evaluate(OpFoldResult value);
  FailureOr<unsigned> getArgument(Value buffer, Operation *user);
  FailureOr<Expression> getSize(Value buffer, int64_t dim, Operation *user);
  FailureOr<Expression> getStride(Value buffer, int64_t dim, Operation *user);
  LogicalResult addWorkspace(WorkspaceOp workspace);
  FailureOr<HostLaunch> readLaunch(gpu::LaunchFuncOp launch);
  FailureOr<HostParameter> readParameter(Value value, Operation *launch);
  LogicalResult findLaunchesOfClusters();

  func::FuncOp function;
  DenseMap<Value, Expression> known;
  /// Where a workspace begins, and where the next one would.
  DenseMap<Value, Expression> workspaceOffsets;
  Expression workspaceEnd;
  DenseMap<Operation *, unsigned> launchOfClusters;
};

} // namespace

FailureOr<unsigned> HostFunctionReader::getArgument(Value buffer,
                                                    Operation *user) {
  if (auto argument = dyn_cast<BlockArgument>(buffer))
    return argument.getArgNumber();
  return user->emitOpError("expected an argument of the function or a "
                           "workspace as buffer, got the result of '")
         << buffer.getDefiningOp()->getName()
         << "': a module has no other buffers";
}

FailureOr<Expression> HostFunctionReader::getSize(Value buffer, int64_t dim,
                                                  Operation *user) {
  if (auto workspace = buffer.getDefiningOp<WorkspaceOp>())
    return evaluate(workspace.getMixedSize(dim));
  FailureOr<unsigned> argument = getArgument(buffer, user);
  if (failed(argument))
    return failure();
  return sizeExpression(*argument, dim);
}

FailureOr<Expression> HostFunctionReader::getStride(Value buffer, int64_t dim,
                                                    Operation *user) {
  auto workspace = buffer.getDefiningOp<WorkspaceOp>();
  if (!workspace) {
    FailureOr<unsigned> argument = getArgument(buffer, user);
    if (failed(argument))
      return failure();
    return strideExpression(*argument, dim);
  }
  // Packed: the product of the sizes further in.
  Expression stride;
  for (int64_t d = workspace.getType().getRank() - 1; d > dim; --d) {
    FailureOr<Expression> size = evaluate(workspace.getMixedSize(d));
    if (failed(size))
      return failure();
    stride = stride.empty()
                 ? *size
                 : binaryExpression(ExpressionOpcode::Mul, stride, *size);
  }
  return stride.empty() ? constantExpression(1) : stride;
}

/// Puts the workspace behind those before it.
LogicalResult HostFunctionReader::addWorkspace(WorkspaceOp workspace) {
  int64_t staticBytes = *workspace.getStaticBytes();
  Expression bytes = constantExpression(staticBytes);
  for (Value size : workspace.getSizes()) {
    FailureOr<Expression> factor = evaluate(size);
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

FailureOr<Expression> HostFunctionReader::evaluate(OpFoldResult value) {
  if (auto dynamic = dyn_cast<Value>(value))
    return evaluate(dynamic);
  return constantExpression(*getConstantIntValue(value));
}

FailureOr<Expression> HostFunctionReader::evaluate(AffineExpr expr,
                                                   ValueRange dims,
                                                   ValueRange symbols,
                                                   Operation *op) {
  switch (expr.getKind()) {
  case AffineExprKind::Constant:
    return constantExpression(cast<AffineConstantExpr>(expr).getValue());
  case AffineExprKind::DimId:
    return evaluate(dims[cast<AffineDimExpr>(expr).getPosition()]);
  case AffineExprKind::SymbolId:
    return evaluate(symbols[cast<AffineSymbolExpr>(expr).getPosition()]);
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  FailureOr<Expression> lhs = evaluate(binary.getLHS(), dims, symbols, op);
  if (failed(lhs))
    return failure();
  FailureOr<Expression> rhs = evaluate(binary.getRHS(), dims, symbols, op);
  if (failed(rhs))
    return failure();
  ExpressionOpcode opcode;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    opcode = ExpressionOpcode::Add;
    break;
  case AffineExprKind::Mul:
    opcode = ExpressionOpcode::Mul;
    break;
  case AffineExprKind::Mod:
    opcode = ExpressionOpcode::Rem;
    break;
  case AffineExprKind::FloorDiv:
    opcode = ExpressionOpcode::FloorDiv;
    break;
  default:
    opcode = ExpressionOpcode::CeilDiv;
    break;
  }
  return binaryExpression(opcode, *lhs, *rhs);
}

FailureOr<Expression>
HostFunctionReader::evaluateAffineList(AffineMap map, ValueRange operands,
                                       ExpressionOpcode combine,
                                       Operation *op) {
  ValueRange dims = operands.take_front(map.getNumDims());
  ValueRange symbols = operands.drop_front(map.getNumDims());
  Expression combined;
  for (AffineExpr expr : map.getResults()) {
    FailureOr<Expression> one = evaluate(expr, dims, symbols, op);
    if (failed(one))
      return failure();
    combined =
        combined.empty() ? *one : binaryExpression(combine, combined, *one);
  }
  return combined;
}

FailureOr<Expression> HostFunctionReader::evaluate(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  FailureOr<Expression> result = evaluateUncached(value);
  if (failed(result))
    return failure();
  // Values are inlined where they are used: a chain of squares would grow
  // without bound.
  if (failed(checkExpression(*result, value.getLoc())))
    return failure();
  known[value] = *result;
  return result;
}

FailureOr<Expression> HostFunctionReader::evaluateUncached(Value value) {
  IntegerAttr constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constantExpression(constant.getValue().getSExtValue());
  Operation *op = value.getDefiningOp();
  if (!op)
    return function.emitError("expected a memref as argument, got ")
           << value.getType();

  if (auto dim = dyn_cast<memref::DimOp>(op)) {
    std::optional<int64_t> index = dim.getConstantIndex();
    if (!index)
      return op->emitOpError("expected a constant dimension");
    return getSize(dim.getSource(), *index, op);
  }
  if (auto metadata = dyn_cast<memref::ExtractStridedMetadataOp>(op)) {
    unsigned number = cast<OpResult>(value).getResultNumber();
    unsigned rank = metadata.getSizes().size();
    // Results: base buffer, offset, sizes, strides. A launch passes addresses
    // that include the offset, so nobody may add it again.
    if (number >= 2 && number < 2 + rank)
      return getSize(metadata.getSource(), number - 2, op);
    if (number >= 2 + rank)
      return getStride(metadata.getSource(), number - 2 - rank, op);
    return op->emitOpError("expected uses of its sizes and strides only, got "
                           "one of result ")
           << number;
  }
  if (isa<MultiprocessorCountOp>(op))
    return Expression{
        rmsn::ExpressionOp(int64_t(rmsn::DeviceAttribute::MultiprocessorCount),
                           ExpressionOpcode::DeviceAttribute, 0, 0)};
  if (auto clusters = dyn_cast<ResidentClustersOp>(op)) {
    auto launch = launchOfClusters.find(clusters);
    if (launch == launchOfClusters.end())
      return op->emitOpError("expected the grid of one launch in clusters to "
                             "follow from it, got none");
    return Expression{
        rmsn::ExpressionOp(int64_t(rmsn::DeviceAttribute::ResidentClusters),
                           ExpressionOpcode::DeviceAttribute, 0,
                           static_cast<uint16_t>(launch->second))};
  }
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp, arith::ExtSIOp,
          arith::ExtUIOp, arith::TruncIOp>(op))
    // The runtime computes in 64 bits and checks that an i32 parameter fits.
    return evaluate(op->getOperand(0));
  if (auto apply = dyn_cast<affine::AffineApplyOp>(op))
    return evaluateAffineList(apply.getAffineMap(), apply.getMapOperands(),
                              ExpressionOpcode::Add, op);
  if (auto min = dyn_cast<affine::AffineMinOp>(op))
    return evaluateAffineList(min.getMap(), min.getOperands(),
                              ExpressionOpcode::Min, op);
  if (auto max = dyn_cast<affine::AffineMaxOp>(op))
    return evaluateAffineList(max.getMap(), max.getOperands(),
                              ExpressionOpcode::Max, op);
  if (std::optional<ExpressionOpcode> opcode = getBinaryOpcode(op)) {
    FailureOr<Expression> lhs = evaluate(op->getOperand(0));
    if (failed(lhs))
      return failure();
    FailureOr<Expression> rhs = evaluate(op->getOperand(1));
    if (failed(rhs))
      return failure();
    return binaryExpression(*opcode, *lhs, *rhs);
  }
  return op->emitOpError("a module has no expression for this operation: "
                         "expected index arithmetic on sizes, strides, the "
                         "multiprocessor count and resident clusters");
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
    FailureOr<unsigned> argument = getArgument(buffer, pointer);
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
  FailureOr<Expression> expression = evaluate(value);
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
    FailureOr<Expression> blocksOfGrid = evaluate(grids[i]);
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
    FailureOr<Expression> expression = evaluate(bytes);
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
        if (!launchOfClusters.try_emplace(clusters, number).second)
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
    bool arithmetic =
        isa<memref::DimOp, memref::ExtractStridedMetadataOp, BufferPointerOp,
            MultiprocessorCountOp, ResidentClustersOp, affine::AffineApplyOp,
            affine::AffineMinOp, affine::AffineMaxOp>(op) ||
        isa_and_nonnull<arith::ArithDialect>(op.getDialect());
    if (!arithmetic)
      return op.emitOpError("expected only kernel launches and index "
                            "arithmetic in a host function");
  }
  program.workspace = std::move(workspaceEnd);
  return program;
}

FailureOr<HostProgram> rmsnorm::readHostFunction(func::FuncOp function) {
  return HostFunctionReader(function).read();
}

FailureOr<Expression> rmsnorm::readIndexValue(func::FuncOp function,
                                              Value value) {
  return HostFunctionReader(function).evaluate(value);
}
