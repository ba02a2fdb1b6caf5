// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- HostImages.cpp - kernels that are code for the CPU ----------------===//

#include "HostImages.h"

using namespace mlir;
using namespace mlir::rmsnorm;

HostImages::Image &HostImages::getImage(gpu::GPUModuleOp kernels) {
  for (Image &image : images) {
    auto fits = [&](SymbolOpInterface symbol) {
      Operation *other = image.symbols.lookup(symbol.getNameAttr());
      return !other ||
             OperationEquivalence::isEquivalentTo(
                 symbol, other, OperationEquivalence::IgnoreLocations);
    };
    if (llvm::all_of(kernels.getOps<SymbolOpInterface>(), fits))
      return image;
  }
  auto parent = kernels->getParentOfType<ModuleOp>();
  auto module = cast<ModuleOp>(parent->cloneWithoutRegions());
  auto own = cast<gpu::GPUModuleOp>(kernels->cloneWithoutRegions());
  module.getBodyRegion().emplaceBlock().push_back(own);
  own.getBodyRegion().emplaceBlock();
  images.push_back({module, SymbolTable(own), writer.addImage(target)});
  return images.back();
}

unsigned HostImages::add(gpu::GPUModuleOp kernels) {
  Image &image = getImage(kernels);
  for (auto symbol :
       llvm::make_early_inc_range(kernels.getOps<SymbolOpInterface>())) {
    if (image.symbols.lookup(symbol.getNameAttr()))
      continue;
    symbol->remove();
    image.symbols.insert(symbol);
  }
  return image.number;
}

LogicalResult HostImages::finish() {
  for (Image &image : images) {
    CompileTimes times;
    times.entry = "(all)";
    times.target = target.getSpelling();
    FailureOr<Blob> blob = serializeHost(
        image.symbols.getOp(), compilation.getSerializeOptions(times));
    if (failed(blob))
      return failure();
    std::string bytes(blob->begin(), blob->end());
    writer.addBinaries(image.number, ModuleBinary{BinaryKind::HostELF, bytes});
    compilation.record(std::move(times));
  }
  return success();
}
