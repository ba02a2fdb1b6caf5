// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Destinations.h - what is left of a destination ---------------------===//

#ifndef RMSNORM_SOURCE_DESTINATIONS_H
#define RMSNORM_SOURCE_DESTINATIONS_H

#include "mlir/IR/Operation.h"

namespace mlir::rmsnorm {

/// Whether the op that owns `init`, a destination, looks at what is in it, or
/// leaves some of it there.
bool isInitRead(OpOperand &init);

} // namespace mlir::rmsnorm

#endif // RMSNORM_SOURCE_DESTINATIONS_H
