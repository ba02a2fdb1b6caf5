// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Candidates.h - entries to measure ---------------------------------===//

#ifndef RMSNORM_LIB_PIPELINES_CANDIDATES_H
#define RMSNORM_LIB_PIPELINES_CANDIDATES_H

#include "Variants.h"

namespace mlir::rmsnorm {

/// Adds an entry for each schedule worth measuring of `entry`, and notes it in
/// `compilation`. `plan`: the variant of the widest rows and any number of
/// them, for the loops that are not varied.
LogicalResult addCandidates(Compilation &compilation, ModuleWriter &writer,
                            HostImages &hostImages, func::FuncOp entry,
                            TargetAttr target, const VariantPlan &plan);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_PIPELINES_CANDIDATES_H
