// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Compile.h - has norm-compile make a module of a .mlir file --------===//

#ifndef NORM_RUN_COMPILE_H
#define NORM_RUN_COMPILE_H

#include <string>
#include <vector>

namespace norm_run {

/// Compiles `input` for `target` and the oracle with the norm-compile that
/// stands beside this program and `options`, into a file that the caller
/// removes. On failure returns "": norm-compile, or `error`, has said why.
std::string compileModule(const std::string &input, const std::string &target,
                          const std::vector<std::string> &options,
                          std::string &error);

} // namespace norm_run

#endif // NORM_RUN_COMPILE_H
