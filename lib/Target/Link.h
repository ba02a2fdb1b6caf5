// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Link.h - the tools that run after LLVM: lld and ptxas -------------===//

#ifndef RMSNORM_LIB_TARGET_LINK_H
#define RMSNORM_LIB_TARGET_LINK_H

#include "RMSNorm/Target/Serialize.h"

#include "mlir/IR/Location.h"

namespace mlir::rmsnorm {

/// Makes fatal errors of LLVM and lld below `body` an error at `loc` instead of
/// the end of the process. The memory of `body` leaks then.
LogicalResult runGuarded(Location loc, function_ref<LogicalResult()> body);

/// Links one object into a shared object in which nothing is undefined.
FailureOr<Blob> linkSharedObject(Location loc, llvm::StringRef object);

/// Runs `ptxas` on `ptx`, once more with all registers if kernels spill that do
/// not bound theirs; appends the output of the last run to `log`, if set.
FailureOr<Blob> runPtxas(Location loc, llvm::StringRef ptxas,
                         llvm::StringRef chip, llvm::StringRef ptx,
                         std::string *log);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TARGET_LINK_H
