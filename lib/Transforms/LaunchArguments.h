// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- LaunchArguments.h - what a kernel gets to know --------------------===//

#ifndef RMSNORM_LIB_TRANSFORMS_LAUNCHARGUMENTS_H
#define RMSNORM_LIB_TRANSFORMS_LAUNCHARGUMENTS_H

#include "ThreadProgram.h"

#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace mlir::rmsnorm {

/// Adds arguments to the kernel and operands to its launch side by side.
class LaunchArguments final : public KernelArguments {
public:
  /// `host` builds in front of the launch, `entry` is the kernel's.
  LaunchArguments(OpBuilder host, Block &entry) : host(host), entry(entry) {}

  Value getPointer(Value buffer) override;
  Value getStride(Value buffer, int64_t dim) override;
  Value getSize(Value buffer, int64_t dim) override;
  Value getScalar(Value scalar) override;

  /// Makes uses of `value` in the kernel read `replacement`.
  void replaceScalar(Value value, Value replacement) {
    scalarArguments[value] = replacement;
  }

  ArrayRef<Value> getOperands() const { return operands; }

private:
  Value add(Value operand);
  Operation *addToPrelude(Operation *op);
  Value constant(int64_t value);

  OpBuilder host;
  Block &entry;
  Operation *prelude = nullptr;
  SmallVector<Value> operands;
  DenseMap<Value, Value> pointers, scalarArguments;
  DenseMap<std::pair<Value, int64_t>, Value> strides, sizes;
  DenseMap<int64_t, Value> symbolSizes;
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
                               const LaunchArguments &arguments,
                               int64_t cluster = 1);

/// Makes the kernel of `op` and its launch in the place of `op`.
LogicalResult distributeSumRows(SumRowsOp op, SymbolTable &symbols);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TRANSFORMS_LAUNCHARGUMENTS_H
