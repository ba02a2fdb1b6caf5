// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- norm-plugin.cpp - our dialect and passes for mlir-opt -------------===//
//
//   mlir-opt --load-dialect-plugin=RMSNormPlugin.so
//            --load-pass-plugin=RMSNormPlugin.so --pass-pipeline=...
//
//===----------------------------------------------------------------------===//

#include "RMSNorm/InitAll.h"
#include "RMSNorm/Target/Serialize.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

extern "C" LLVM_ATTRIBUTE_WEAK mlir::DialectPluginLibraryInfo
mlirGetDialectPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "RMSNorm", RMSNORM_VERSION,
          [](mlir::DialectRegistry *registry) {
            mlir::rmsnorm::registerAllDialects(*registry);
            mlir::rmsnorm::registerAllExtensions(*registry);
            mlir::rmsnorm::registerSerialization(*registry);
          }};
}

extern "C" LLVM_ATTRIBUTE_WEAK mlir::PassPluginLibraryInfo
mlirGetPassPluginInfo() {
  return {MLIR_PLUGIN_API_VERSION, "RMSNorm", RMSNORM_VERSION,
          [] { mlir::rmsnorm::registerAllPasses(); }};
}
