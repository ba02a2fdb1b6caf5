// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TranslationTest.cpp - host code becomes LLVM IR -------------------===//

#include "RMSNorm/InitAll.h"
#include "RMSNorm/Target/Serialize.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "mlir/Target/LLVMIR/ModuleTranslation.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"

#include <gtest/gtest.h>

/// What is wrong with a module of `attributes`; empty if it is translated.
static std::string translate(const std::string &attributes) {
  mlir::DialectRegistry registry;
  mlir::rmsnorm::registerAllDialects(registry);
  mlir::rmsnorm::registerAllExtensions(registry);
  mlir::rmsnorm::registerSerialization(registry);
  mlir::MLIRContext context(registry, mlir::MLIRContext::Threading::DISABLED);
  auto module = mlir::parseSourceString<mlir::ModuleOp>(
      "module attributes {" + attributes +
          "} { llvm.func @f() { llvm.return } }",
      &context);
  if (!module)
    return "no module";
  std::string errors;
  mlir::ScopedDiagnosticHandler handler(
      &context,
      [&](mlir::Diagnostic &diagnostic) { errors += diagnostic.str() + "\n"; });
  llvm::LLVMContext llvmContext;
  const bool isTranslated =
      mlir::translateModuleToLLVMIR(*module, llvmContext) != nullptr;
  EXPECT_EQ(isTranslated, errors.empty()) << errors;
  return errors;
}

TEST(Translation, NamesTheForgottenPass) {
  EXPECT_EQ(translate("gpu.container_module"), "");
  const std::string error = translate(
      "gpu.container_module, rmsnorm.target = #rmsnorm.target<sim \"sim32\">");
  EXPECT_EQ(error.rfind("'builtin.module' op expected no 'rmsnorm.target' in "
                        "host code: run rmsnorm-embed-host before it is "
                        "lowered to LLVM\n",
                        0),
            0u)
      << error;
}
