// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelArguments.cpp - what a kernel gets to know of its launch ----===//

#include "KernelArguments.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::rmsnorm;

Value KernelArguments::getPointer(Value buffer) {
  // Groups of columns that are taken for columns begin where those do.
  while (auto view = buffer.getDefiningOp<memref::CollapseShapeOp>())
    buffer = view.getSrc();
  Value &argument = pointers[buffer];
  if (!argument)
    argument = add(BufferPointerOp::create(
        host, buffer.getLoc(), LLVM::LLVMPointerType::get(host.getContext(), 1),
        buffer));
  return argument;
}

Value KernelArguments::getStride(Value buffer, int64_t dim) {
  Value &argument = strides[{buffer, dim}];
  if (argument)
    return argument;
  auto [typeStrides, offset] =
      cast<MemRefType>(buffer.getType()).getStridesAndOffset();
  if (!ShapedType::isDynamic(typeStrides[dim]))
    return argument = getConstant(typeStrides[dim]);
  auto &metadata = metadatas[buffer];
  if (!metadata)
    metadata =
        memref::ExtractStridedMetadataOp::create(host, buffer.getLoc(), buffer);
  return argument = add(metadata.getStrides()[dim]);
}

Value KernelArguments::getSize(Value buffer, int64_t dim) {
  Value &argument = sizes[{buffer, dim}];
  if (argument)
    return argument;
  auto type = cast<MemRefType>(buffer.getType());
  if (!type.isDynamicDim(dim))
    return argument = getConstant(type.getDimSize(dim));
  return argument =
             add(memref::DimOp::create(host, buffer.getLoc(), buffer, dim));
}

Value KernelArguments::getScalar(Value scalar) {
  Value &argument = scalars[scalar];
  if (!argument)
    argument = add(scalar);
  return argument;
}

Value KernelArguments::getConstant(int64_t value) {
  OpBuilder builder(host.getContext());
  return addToPrelude(arith::ConstantIndexOp::create(
                          builder, host.getUnknownLoc(), value))
      ->getResult(0);
}

Operation *KernelArguments::addToPrelude(Operation *op) {
  if (prelude)
    entry.getOperations().insertAfter(prelude->getIterator(), op);
  else
    entry.push_front(op);
  return prelude = op;
}

Value KernelArguments::add(Value operand) {
  operands.push_back(operand);
  return entry.addArgument(operand.getType(), operand.getLoc());
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
                                        const KernelArguments &arguments,
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
