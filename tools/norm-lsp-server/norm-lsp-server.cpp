// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- norm-lsp-server.cpp - .mlir files with our ops in editors ---------===//

#include "RMSNorm/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::rmsnorm::registerAllDialects(registry);
  mlir::rmsnorm::registerAllExtensions(registry);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
