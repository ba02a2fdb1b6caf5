// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostImages.h - kernels that are code for the CPU ------------------===//

#ifndef RMSNORM_LIB_PIPELINES_HOSTIMAGES_H
#define RMSNORM_LIB_PIPELINES_HOSTIMAGES_H

#include "Compilation.h"
#include "RMSNorm/Module/ModuleWriter.h"

#include "mlir/IR/SymbolTable.h"

namespace mlir::rmsnorm {

/// The simulator's kernels for one target, of all entries and variants. They
/// share an image: a module of LLVM's takes about as long as the code of a
/// kernel.
class HostImages {
public:
  HostImages(const Compilation &compilation, ModuleWriter &writer,
             TargetAttr target)
      : compilation(compilation), writer(writer), target(target) {}

  /// Takes everything out of `kernels`. Returns the number of the image that
  /// will have its code.
  unsigned add(gpu::GPUModuleOp kernels);
  /// Makes the code.
  LogicalResult finish();

private:
  struct Image {
    OwningOpRef<ModuleOp> module;
    /// Of the gpu.module in it.
    SymbolTable symbols;
    unsigned number;
  };

  /// One that has nothing else of a name in `kernels`: two variants of an entry
  /// may have kernels of the same name.
  Image &getImage(gpu::GPUModuleOp kernels);

  const Compilation &compilation;
  ModuleWriter &writer;
  TargetAttr target;
  std::vector<Image> images;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_PIPELINES_HOSTIMAGES_H
