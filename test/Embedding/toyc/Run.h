// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Run.h - launches what toyc has compiled ---------------------------===//

#ifndef TOYC_RUN_H
#define TOYC_RUN_H

#include <string>

/// Runs the entry `add_norm` (x + residual, then the norm) of a compiled module
/// on the simulator and compares it with a loop. Returns the exit status.
int runAddNorm(const std::string &module, int64_t rows);

#endif // TOYC_RUN_H
