// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- norm-lsp-server.cpp - .mlir files with our ops in editors ---------===//

#include "../Version.h"

#include "RMSNorm/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "llvm/Support/CommandLine.h"

int main(int argc, char **argv) {
  setVersion("norm-lsp-server");
  mlir::DialectRegistry registry;
  mlir::rmsnorm::registerAllDialects(registry);
  mlir::rmsnorm::registerAllExtensions(registry);
  // --help shows the server's options, which come with its main, not LLVM's.
  llvm::cl::OptionCategory none("");
  llvm::cl::HideUnrelatedOptions(none);
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
