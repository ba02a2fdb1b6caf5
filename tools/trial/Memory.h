// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Memory.h - whether a trial fits into memory -----------------------===//

#ifndef TRIAL_MEMORY_H
#define TRIAL_MEMORY_H

#include "Run.h"

namespace trial {

/// What a trial takes at least, in bytes.
struct MemoryNeed {
  double host = 0, device = 0;
};

/// Of a run that is compared with the oracle: inputs and results, and, if there
/// is no reference yet, these again and as intervals. The oracle's own buffers
/// are not known.
MemoryNeed getRunNeed(const Plan &plan, bool hasReference);

/// How many sets of arguments of so many bytes a Bench has.
uint64_t countSets(rmsnorm_backend backend, uint64_t bytes);
/// Of calls timed by a Bench, beside copies if `hasCopies`.
MemoryNeed getBenchNeed(const Plan &plan, rmsnorm_backend backend,
                        bool hasCopies);

/// Returns "" or what is needed for `plan` and what there is, if that is less.
/// `device` null: the host's memory alone is looked at.
std::string checkMemory(const Plan &plan, MemoryNeed need,
                        rmsnorm_device *device);

/// Has the program end with a message where it cannot get memory for anything
/// else.
void endWithoutMemory(const char *program);

} // namespace trial

#endif // TRIAL_MEMORY_H
