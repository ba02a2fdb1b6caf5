// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Locations.h - locations for other programs -------------------------===//

#ifndef RMSNORM_IR_LOCATIONS_H
#define RMSNORM_IR_LOCATIONS_H

#include "mlir/IR/Location.h"
#include "llvm/Support/JSON.h"

namespace mlir::rmsnorm {

/// The names and the places (`file:line:column`) that `location` is made of, as
/// an importer gave them.
llvm::json::Array toJSON(Location location);

} // namespace mlir::rmsnorm

#endif // RMSNORM_IR_LOCATIONS_H
