// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- norm-opt.cpp - runs passes on .mlir files -------------------------===//

#include "RMSNorm/InitAll.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  // Upstream's too: reproducers of our pipelines name them.
  mlir::registerAllPasses();
  mlir::DialectRegistry registry;
  mlir::rmsnorm::registerAllDialects(registry);
  mlir::rmsnorm::registerAllExtensions(registry);
  mlir::rmsnorm::registerAllPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "RMSNorm dialect: optimiser driver\n", registry));
}
