// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LaunchArguments.cpp - what a kernel gets to know ------------------===//

#include "LaunchArguments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// The symbol that bind-arguments gave the dimension, if any.
static std::optional<int64_t> getSymbol(Value buffer, int64_t dim) {
  auto argument = dyn_cast<BlockArgument>(buffer);
  auto func =
      dyn_cast_or_null<func::FuncOp>(buffer.getParentBlock()->getParentOp());
  if (!argument || !func)
    return std::nullopt;
  auto dims = func.getArgAttrOfType<DenseI64ArrayAttr>(argument.getArgNumber(),
                                                       "rmsnorm.dims");
  if (!dims || dim >= dims.size() || dims[dim] >= 0)
    return std::nullopt;
  return dims[dim];
}

Value LaunchArguments::getPointer(Value buffer) {
  Value &argument = pointers[buffer];
  if (!argument)
    argument = add(BufferPointerOp::create(
        host, buffer.getLoc(), LLVM::LLVMPointerType::get(host.getContext(), 1),
        buffer));
  return argument;
}

Value LaunchArguments::getStride(Value buffer, int64_t dim) {
  Value &argument = strides[{buffer, dim}];
  if (argument)
    return argument;
  auto [typeStrides, offset] =
      cast<MemRefType>(buffer.getType()).getStridesAndOffset();
  if (!ShapedType::isDynamic(typeStrides[dim]))
    return argument = constant(typeStrides[dim]);
  auto &metadata = metadatas[buffer];
  if (!metadata)
    metadata =
        memref::ExtractStridedMetadataOp::create(host, buffer.getLoc(), buffer);
  return argument = add(metadata.getStrides()[dim]);
}

Value LaunchArguments::getSize(Value buffer, int64_t dim) {
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

Value LaunchArguments::getScalar(Value scalar) {
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

Value LaunchArguments::add(Value operand) {
  operands.push_back(operand);
  return entry.addArgument(operand.getType(), operand.getLoc());
}

/// Puts `op` at the kernel's entry, behind what was put there before.
Operation *LaunchArguments::addToPrelude(Operation *op) {
  if (prelude)
    entry.getOperations().insertAfter(prelude->getIterator(), op);
  else
    entry.push_front(op);
  return prelude = op;
}

Value LaunchArguments::constant(int64_t value) {
  OpBuilder builder(host.getContext());
  return addToPrelude(arith::ConstantIndexOp::create(
                          builder, host.getUnknownLoc(), value))
      ->getResult(0);
}

gpu::GPUFuncOp rmsnorm::createKernel(Location loc, StringRef name,
                                     int64_t threads, SymbolTable &symbols) {
  OpBuilder builder(loc.getContext());
  auto kernel = gpu::GPUFuncOp::create(builder, loc, name,
                                       builder.getFunctionType({}, {}));
  symbols.insert(kernel);
  kernel->setAttr(gpu::GPUDialect::getKernelFuncAttrName(),
                  builder.getUnitAttr());
  kernel.setKnownBlockSizeAttr(
      builder.getDenseI32ArrayAttr({static_cast<int32_t>(threads), 1, 1}));
  return kernel;
}

gpu::LaunchFuncOp rmsnorm::createLaunch(OpBuilder &host, gpu::GPUFuncOp kernel,
                                        Value grid, int64_t threads,
                                        int64_t workgroupBytes,
                                        const LaunchArguments &arguments,
                                        int64_t cluster) {
  Location loc = kernel.getLoc();
  kernel.setFunctionType(
      host.getFunctionType(kernel.getBody().front().getArgumentTypes(), {}));
  Value one = arith::ConstantIndexOp::create(host, loc, 1);
  Value block = arith::ConstantIndexOp::create(host, loc, threads);
  Value bytes = arith::ConstantIntOp::create(host, loc, workgroupBytes, 32);
  std::optional<gpu::KernelDim3> clusterSize;
  if (cluster > 1) {
    kernel.setKnownClusterSizeAttr(
        host.getDenseI32ArrayAttr({static_cast<int32_t>(cluster), 1, 1}));
    Value size = arith::ConstantIndexOp::create(host, loc, cluster);
    grid = arith::MulIOp::create(host, loc, grid, size);
    clusterSize = gpu::KernelDim3{size, one, one};
  }
  return gpu::LaunchFuncOp::create(
      host, loc, kernel, gpu::KernelDim3{grid, one, one},
      gpu::KernelDim3{block, one, one}, bytes, arguments.getOperands(),
      /*asyncTokenType=*/nullptr, /*asyncDependencies=*/{}, clusterSize);
}
