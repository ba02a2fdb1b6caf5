// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- RowWiseOpInterfaceImpl.h - rows of linalg ops ---------------------===//

#ifndef RMSNORM_TRANSFORMS_ROWWISEOPINTERFACEIMPL_H
#define RMSNORM_TRANSFORMS_ROWWISEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::rmsnorm {

/// Lets rmsnorm-tile-rows put linalg ops into loops over rows.
void registerRowWiseExternalModels(DialectRegistry &registry);

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_ROWWISEOPINTERFACEIMPL_H
