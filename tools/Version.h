// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Version.h - what --version prints ---------------------------------===//

#ifndef TOOLS_VERSION_H
#define TOOLS_VERSION_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

/// Has --version print ours, and which LLVM a tool is made with.
inline void setVersion(llvm::StringRef tool) {
  llvm::cl::SetVersionPrinter([tool](llvm::raw_ostream &os) {
    os << tool << " " RMSNORM_VERSION ", LLVM " LLVM_VERSION_STRING "\n";
  });
}

#endif // TOOLS_VERSION_H
