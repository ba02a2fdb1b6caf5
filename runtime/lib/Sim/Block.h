// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Block.h - the threads of one block, and what they share -----------===//

#ifndef RMSNORM_SIM_BLOCK_H
#define RMSNORM_SIM_BLOCK_H

#include "Shadow.h"
#include "Simulator.h"

#include <memory>
#include <string>
#include <vector>

namespace rmsnorm::sim {

/// SplitMix64: small, seeds well from consecutive numbers, the same everywhere.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }
  /// A number below `bound` (at most 2^32).
  uint32_t below(uint32_t bound) {
    return uint32_t(((next() >> 32) * bound) >> 32);
  }

private:
  uint64_t state;
};

/// Runs blocks one after the other; one per host thread. Nothing is allocated
/// after the first block.
class Block {
public:
  Block(const LaunchRequest &request, const rmsnorm_sim_launch &launch);

  /// Runs block `id` to its end. False if it failed: see `getError`.
  bool run(int64_t id);

  /// One line, names the block and the thread.
  const std::string &getError() const { return error; }
  uint64_t getSwitches() const { return switches; }
  uint64_t getFrameBytes() const { return frameBytes; }

  /// The table's functions.
  static void *allocateFrame(rmsnorm_sim_thread *thread, uint64_t bytes);
  static void globalFault(rmsnorm_sim_thread *thread, int32_t argument,
                          uint64_t address, uint64_t bytes, uint64_t fallback,
                          int32_t alignment, int32_t flags);
  static void *workgroupAccess(rmsnorm_sim_thread *thread, int32_t offset,
                               int32_t bytes, int32_t isStore);

private:
  struct Thread {
    rmsnorm_sim_thread shared; // first: the kernel's pointer is to it
    Block *block;
    void *handle;
  };
  struct FreeDeleter {
    void operator()(void *memory) const;
  };

  static Thread &get(rmsnorm_sim_thread *thread) {
    return *reinterpret_cast<Thread *>(thread);
  }
  void shuffle(std::vector<int32_t> &numbers);
  void start(Thread &thread);
  void resume(Thread &thread);
  /// Runs a subgroup until each thread is at a barrier or has finished.
  bool runSubgroup(int32_t first, int32_t count);
  /// Whether all threads, by now at a barrier or finished, agree. Sets `done`
  /// if they have finished.
  bool checkBarrier(bool &done);
  void reduce(int32_t first, int32_t count);
  /// " by thread 3 of block 0 of kernel 'k'"
  std::string describe(const Thread &thread) const;
  bool fail(std::string message);

  const LaunchRequest &request;
  const rmsnorm_sim_launch &launch;
  int64_t id = 0;
  Random random;
  std::vector<Thread> threads;
  /// First threads of the subgroups, and lanes, in the order they run.
  std::vector<int32_t> subgroups, lanes;
  std::vector<float> values;
  std::unique_ptr<char, FreeDeleter> frames;
  uint64_t frameBytes = 0;
  std::unique_ptr<char, FreeDeleter> workgroup;
  Shadow shadow;
  uint64_t switches = 0;
  bool failed = false;
  std::string error;
};

} // namespace rmsnorm::sim

#endif // RMSNORM_SIM_BLOCK_H
