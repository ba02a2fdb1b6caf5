// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostFunction.h - a host function as data --------------------------===//

#ifndef RMSNORM_LIB_TARGET_HOSTFUNCTION_H
#define RMSNORM_LIB_TARGET_HOSTFUNCTION_H

#include "Limits.h"
#include "module_generated.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Support/LLVM.h"

#include <string>
#include <vector>

namespace mlir::rmsnorm {

/// A postfix program; empty: absent, the format's default value.
using Expression = std::vector<rmsn::ExpressionOp>;

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

Expression constantExpression(int64_t value);
Expression sizeExpression(unsigned argument, unsigned dimension);
Expression strideExpression(unsigned argument, unsigned dimension);
/// `lhs` `opcode` `rhs`.
Expression binaryExpression(rmsn::ExpressionOpcode opcode, Expression lhs,
                            const Expression &rhs);

/// What a host function does. An error names the first operation that is more
/// than launching kernels, workspaces and index arithmetic.
FailureOr<HostProgram> readHostFunction(func::FuncOp function);

/// An index value of a host function as an expression.
FailureOr<Expression> readIndexValue(func::FuncOp function, Value value);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TARGET_HOSTFUNCTION_H
