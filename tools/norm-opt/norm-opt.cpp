// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- norm-opt.cpp - runs passes on .mlir files -------------------------===//

#include "../Version.h"

#include "RMSNorm/InitAll.h"
#include "RMSNorm/Target/Serialize.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  setVersion("norm-opt");
  // Upstream's too: ours stand among them in other compilers, and reproducers
  // of our pipelines name them.
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  mlir::registerAllPasses();
  mlir::rmsnorm::registerAllDialects(registry);
  mlir::rmsnorm::registerAllExtensions(registry);
  mlir::rmsnorm::registerAllPasses();
  mlir::rmsnorm::registerSerialization(registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv, "RMSNorm dialect: optimiser driver\n", registry));
}
