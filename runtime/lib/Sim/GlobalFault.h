// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GlobalFault.h - what is wrong with an access of global memory -----===//

#ifndef RMSNORM_SIM_GLOBALFAULT_H
#define RMSNORM_SIM_GLOBALFAULT_H

#include "Simulator.h"

namespace rmsnorm::sim {

/// Words for an access that a kernel found wrong, see `global_fault` in
/// SimABI.h. `gridWaited`: whether the thread has waited for earlier kernels.
std::string describeGlobalFault(const Parameter &parameter, int32_t argument,
                                uint64_t address, uint64_t bytes,
                                uint64_t fallback, int32_t alignment,
                                int32_t flags, bool gridWaited);

} // namespace rmsnorm::sim

#endif // RMSNORM_SIM_GLOBALFAULT_H
