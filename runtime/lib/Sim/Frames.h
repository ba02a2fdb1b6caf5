// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Frames.h - the memory of a block's coroutines ---------------------===//

#ifndef RMSNORM_SIM_FRAMES_H
#define RMSNORM_SIM_FRAMES_H

#include "Workgroup.h"

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace rmsnorm::sim {

/// Equal frames, one for each thread, made when the first says how large.
class Frames {
public:
  explicit Frames(size_t threads) : threads(threads) {}

  void *get(size_t thread, uint64_t size) {
    if (!memory) {
      bytes = (size + 63) / 64 * 64; // frames hold vectors
      memory.reset(allocateAligned(bytes * threads));
    }
    if (!memory) {
      // The kernel has no way to go on, nor to return.
      std::fprintf(stderr,
                   "rmsnorm simulator: out of memory for frames of "
                   "%llu bytes\n",
                   (unsigned long long)bytes);
      std::abort();
    }
    return memory.get() + bytes * thread;
  }

private:
  size_t threads;
  uint64_t bytes = 0;
  std::unique_ptr<char, FreeDeleter> memory;
};

} // namespace rmsnorm::sim

#endif // RMSNORM_SIM_FRAMES_H
