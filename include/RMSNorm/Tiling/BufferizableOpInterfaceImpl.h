// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- BufferizableOpInterfaceImpl.h - bufferization of our ops ----------===//

#ifndef RMSNORM_TILING_BUFFERIZABLEOPINTERFACEIMPL_H
#define RMSNORM_TILING_BUFFERIZABLEOPINTERFACEIMPL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::rmsnorm {

/// Teaches one-shot bufferization the ops of the operator and tile level.
void registerBufferizableOpInterfaceExternalModels(DialectRegistry &registry);

} // namespace mlir::rmsnorm

#endif // RMSNORM_TILING_BUFFERIZABLEOPINTERFACEIMPL_H
