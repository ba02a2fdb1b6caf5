// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Entry.h - an entry and its arguments ------------------------------===//

#ifndef RMSNORM_LIB_MODULE_ENTRY_H
#define RMSNORM_LIB_MODULE_ENTRY_H

#include "module_generated.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::rmsnorm {

/// An entry without programs: the arguments of `function`, as ModuleWriter's
/// addEntry wants them. Refuses an entry that the runtime would refuse.
FailureOr<rmsn::EntryT> readEntry(func::FuncOp function, StringRef name);

/// The size of an argument's elements.
int64_t getElementBytes(func::FuncOp function, unsigned argument);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_MODULE_ENTRY_H
