// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Elementwise.h - arith and math on tensors as linalg ---------------===//

#ifndef RMSNORM_SOURCE_ELEMENTWISE_H
#define RMSNORM_SOURCE_ELEMENTWISE_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"

#include "llvm/ADT/SetVector.h"

namespace mlir::rmsnorm {

/// Makes a linalg.generic of each elementwise op on ranked tensors in `root`,
/// into a tensor.empty, and returns them.
llvm::SetVector<Operation *> generalizeElementwise(Operation *root);

/// Makes of each linalg.softmax in `root` the ops that it stands for: its
/// maximum, the exponentials, their sum and the quotients. Returns them.
llvm::SetVector<Operation *> expandSoftmaxes(Operation *root);

/// The name of what `op` was written as: of an op that is marked with
/// `rmsnorm.elementwise` that which it was made of.
StringRef getWrittenName(Operation *op);

/// Puts the op that `generic` was made of in its place, if its body has not
/// changed since.
void restoreElementwise(RewriterBase &rewriter, linalg::GenericOp generic);

} // namespace mlir::rmsnorm

#endif // RMSNORM_SOURCE_ELEMENTWISE_H
