// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- InitAll.h - everything an embedder has to register ----------------===//

#ifndef RMSNORM_INITALL_H
#define RMSNORM_INITALL_H

namespace mlir {
class DialectRegistry;
} // namespace mlir

namespace mlir::rmsnorm {

/// The dialects our inputs are written in and our passes create.
void registerAllDialects(DialectRegistry &registry);

/// Interface implementations that bufferization and tiling of those need.
void registerAllExtensions(DialectRegistry &registry);

/// All passes and pipelines, by their command-line names.
void registerAllPasses();

} // namespace mlir::rmsnorm

#endif // RMSNORM_INITALL_H
