// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TargetModel.h - #rmsnorm.target compiles gpu.modules --------------===//

#ifndef RMSNORM_LIB_TARGET_TARGETMODEL_H
#define RMSNORM_LIB_TARGET_TARGETMODEL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::rmsnorm {

/// Makes #rmsnorm.target implement gpu::TargetAttrInterface.
void registerTargetModel(DialectRegistry &registry);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TARGET_TARGETMODEL_H
