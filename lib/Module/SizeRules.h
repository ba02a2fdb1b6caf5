// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SizeRules.h - sizes that follow from others -----------------------===//

#ifndef RMSNORM_LIB_MODULE_SIZERULES_H
#define RMSNORM_LIB_MODULE_SIZERULES_H

#include "module_generated.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace mlir::rmsnorm {

/// Writes the `rmsnorm.sizes` of `function` to its entry, whose arguments are
/// known, each constraint as a condition on one size.
LogicalResult readSizeRules(func::FuncOp function, rmsn::EntryT &entry);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_MODULE_SIZERULES_H
