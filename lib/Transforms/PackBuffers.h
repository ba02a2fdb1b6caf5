// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PackBuffers.h - buffers whose columns lie side by side ------------===//

#ifndef RMSNORM_TRANSFORMS_PACKBUFFERS_H
#define RMSNORM_TRANSFORMS_PACKBUFFERS_H

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace mlir::rmsnorm {

/// Makes sure that all rows that `loop`, a bufferized loop over rows, accesses
/// have an inner stride of 1: copies the buffers around it, or refuses them.
LogicalResult packBuffers(scf::ForallOp loop, bool copies);

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_PACKBUFFERS_H
