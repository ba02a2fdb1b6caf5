// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ElementOps.h - what programs compute of elements ------------------===//

#ifndef RMSNORM_IR_ELEMENTOPS_H
#define RMSNORM_IR_ELEMENTOPS_H

#include "mlir/IR/Operation.h"

namespace mlir::rmsnorm {

/// Whether tensors of `type` can be loaded and stored, some way or other.
bool isStorable(Type type);

/// Why no tile program holds `op`, on scalars, vectors or tensors, to follow
/// its name and "op"; empty if it does, on all targets and in the oracle. The
/// list is ElementOps.def. For ops of arith and math; no other is one.
std::string whyNotComputable(Operation *op);

/// The constant exponent of a math.powf or math.fpowi that is computed by
/// products; none of another.
std::optional<int64_t> getPowerOfProducts(Operation *op);

} // namespace mlir::rmsnorm

#endif // RMSNORM_IR_ELEMENTOPS_H
