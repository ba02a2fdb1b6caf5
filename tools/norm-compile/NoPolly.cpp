// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NoPolly.cpp - what Debian's archives of LLVM refer to -------------===//
//
// For norm-compile-static. Debian builds LLVM with Polly, whose passes lld's
// ELF driver offers to pipelines over bitcode, and has the archive of Polly in
// another package. norm-compile gives lld objects only.
//
//===----------------------------------------------------------------------===//

#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "Polly", LLVM_VERSION_STRING,
          [](llvm::PassBuilder &) {}};
}
