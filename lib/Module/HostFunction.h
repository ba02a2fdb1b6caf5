// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostFunction.h - a host function as data --------------------------===//

#ifndef RMSNORM_LIB_MODULE_HOSTFUNCTION_H
#define RMSNORM_LIB_MODULE_HOSTFUNCTION_H

#include "IndexExpressions.h"

#include <string>

namespace mlir::rmsnorm {

struct HostParameter {
  rmsn::ParameterKind kind;
  unsigned argument = 0;
  Expression expression;
  float constant = 0;
};

struct HostLaunch {
  /// Name of the gpu.module, and of the kernel in it.
  std::string module, kernel;
  Expression grid[3];
  int64_t block[3];
  int64_t cluster = 1; // blocks, along x
  Expression sharedMemory;
  unsigned blocksPerMultiprocessor = 0; // 0: however many
  bool dependentLaunch = false;
  std::vector<HostParameter> parameters;
};

struct HostProgram {
  std::vector<HostLaunch> launches; // in order
  Expression workspace;             // bytes
};

/// What a host function does. An error names the first operation that is more
/// than launching kernels, workspaces and index arithmetic.
FailureOr<HostProgram> readHostFunction(func::FuncOp function);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_MODULE_HOSTFUNCTION_H
