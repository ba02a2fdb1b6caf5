// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostFunction.h - a host function as data --------------------------===//

#ifndef RMSNORM_LIB_MODULE_HOSTFUNCTION_H
#define RMSNORM_LIB_MODULE_HOSTFUNCTION_H

#include "IndexExpressions.h"

#include <memory>
#include <string>

namespace mlir::rmsnorm {

struct HostProgram {
  /// In order. Their images are not known yet, only the gpu.module of each.
  std::vector<std::unique_ptr<rmsn::LaunchT>> launches;
  std::vector<std::string> modules;
  std::unique_ptr<rmsn::ExpressionT> workspace; // bytes
};

/// The launches of a host function. An error names the first operation that is
/// no launch, workspace or index arithmetic.
FailureOr<HostProgram> readHostFunction(func::FuncOp function);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_MODULE_HOSTFUNCTION_H
