// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- KernelArguments.h - what a kernel gets to know of its launch ------===//

#ifndef RMSNORM_LIB_DISTRIBUTION_KERNELARGUMENTS_H
#define RMSNORM_LIB_DISTRIBUTION_KERNELARGUMENTS_H

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::rmsnorm {

/// Adds arguments to a kernel and operands to its launch side by side. Each is
/// made when it is first asked for, so that none is dead.
class KernelArguments {
public:
  /// `host` builds in front of the launch, `entry` is the kernel's.
  KernelArguments(OpBuilder host, Block &entry) : host(host), entry(entry) {}

  /// The address of `buffer`'s first element, !llvm.ptr<1>.
  Value getPointer(Value buffer);
  /// The stride of dimension `dim` in elements, index.
  Value getStride(Value buffer, int64_t dim);
  /// The size of dimension `dim`, index.
  Value getSize(Value buffer, int64_t dim);
  /// A scalar that the host computes.
  Value getScalar(Value scalar);
  /// An index constant, at the kernel's entry.
  Value getConstant(int64_t value);
  /// Puts `op` at the kernel's entry, after earlier ones.
  Operation *addToPrelude(Operation *op);

  ArrayRef<Value> getOperands() const { return operands; }

private:
  Value add(Value operand);

  OpBuilder host;
  Block &entry;
  Operation *prelude = nullptr;
  SmallVector<Value> operands;
  DenseMap<Value, Value> pointers, scalars;
  DenseMap<std::pair<Value, int64_t>, Value> strides, sizes;
  DenseMap<Value, memref::ExtractStridedMetadataOp> metadatas;
};

/// An empty kernel of blocks of `threads` threads, named `name` or so.
gpu::GPUFuncOp createKernel(Location loc, StringRef name, int64_t threads,
                            SymbolTable &symbols);

/// Launches `kernel` with a cluster of `cluster` blocks of `threads` threads
/// for each of `grid`, at `host`, now that its arguments are known.
gpu::LaunchFuncOp createLaunch(OpBuilder &host, gpu::GPUFuncOp kernel,
                               Value grid, int64_t threads,
                               int64_t workgroupBytes,
                               const KernelArguments &arguments,
                               int64_t cluster = 1);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_KERNELARGUMENTS_H
