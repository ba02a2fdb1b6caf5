// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowWiseOpInterfaceImpl.h - rows of linalg ops ---------------------===//

#ifndef RMSNORM_TRANSFORMS_ROWWISEOPINTERFACEIMPL_H
#define RMSNORM_TRANSFORMS_ROWWISEOPINTERFACEIMPL_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::rmsnorm {

/// Lets rmsnorm-tile-rows put linalg ops into loops over rows.
void registerRowWiseExternalModels(DialectRegistry &registry);

/// Whether `op` reduces rows to a value each, in a way that kernels have, and
/// is no contraction: a loop over rows may begin with it.
bool isRowReduction(linalg::LinalgOp op);

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_ROWWISEOPINTERFACEIMPL_H
