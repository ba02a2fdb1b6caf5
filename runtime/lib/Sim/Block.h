// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Block.h - the threads of one block, and what they share -----------===//

#ifndef RMSNORM_SIM_BLOCK_H
#define RMSNORM_SIM_BLOCK_H

#include "Exchange.h"
#include "Frames.h"
#include "GlobalAccess.h"
#include "Simulator.h"
#include "Workgroup.h"

#include <algorithm>
#include <csetjmp>
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

/// Runs the blocks of one rank of their clusters, one after the other. What the
/// first one needs is allocated for all.
class Block {
public:
  Block(const LaunchRequest &request, const rmsnorm_sim_launch &launch,
        GlobalShadow &stored, Exchange &exchange, int32_t rank);

  enum class State {
    Finished,
    /// For something that other blocks of the cluster have to do.
    Waiting,
    /// See `getError`.
    Failed
  };

  /// Makes it block `id`. False if that failed: see `getError`.
  bool begin(int64_t id);
  /// Runs the block as far as it gets; sets `moved` if it got anywhere.
  State advance(bool &moved);
  bool isWaiting() const;
  /// Whether a block that has ended waited for the kernels before, or had none
  /// to wait for.
  bool hasWaited() const { return waited; }
  /// The cause of the wait of a block, when no thread can run any more.
  std::string describeWait() const;

  /// One line, names the block and the thread.
  const std::string &getError() const { return error; }

  /// The table's functions, but that those of checks return null after an
  /// error.
  static void *allocateFrame(rmsnorm_sim_thread *thread, uint64_t bytes);
  static void *globalLoad(rmsnorm_sim_thread *thread,
                          const rmsnorm_sim_access *access, uint64_t base,
                          int64_t row, int32_t column, int32_t valid);
  static void *globalStore(rmsnorm_sim_thread *thread,
                           const rmsnorm_sim_access *access, uint64_t base,
                           int64_t row, int32_t column, int32_t valid);
  static void *workgroupAccess(rmsnorm_sim_thread *thread, int32_t offset,
                               int32_t bytes, int32_t isStore);
  static void *exchangeInit(rmsnorm_sim_thread *thread, int32_t offset,
                            int32_t bytes, int32_t slots, int32_t values,
                            int32_t subgroups, int32_t cluster);
  static void *exchangePublish(rmsnorm_sim_thread *thread, int32_t number,
                               int32_t subgroup, int32_t index, int32_t count,
                               float value);
  static void *exchangeRead(rmsnorm_sim_thread *thread, int32_t number,
                            int32_t publisher, int32_t value);
  static void *asyncCopy(rmsnorm_sim_thread *thread,
                         const rmsnorm_sim_access *access, uint64_t base,
                         int64_t row, int32_t column, int32_t valid,
                         int32_t offset);
  static void *copyCommit(rmsnorm_sim_thread *thread);
  static void *copyWait(rmsnorm_sim_thread *thread, int32_t pending);
  /// Ends the thread's kernel, which has called one of them: `resume` returns.
  [[noreturn]] static void leave(rmsnorm_sim_thread *thread);

private:
  struct Thread {
    rmsnorm_sim_thread shared; // first: the kernel's pointer is to it
    Block *block;
    void *handle;
  };

  static Thread &get(rmsnorm_sim_thread *thread) {
    return *reinterpret_cast<Thread *>(thread);
  }
  static bool isInExchange(const Thread &thread) {
    return thread.shared.wait == RMSNORM_SIM_READY ||
           thread.shared.wait == RMSNORM_SIM_AWAIT;
  }
  void shuffle(std::vector<int32_t> &numbers);
  /// The thread's number in its cluster.
  int32_t getNumber(const Thread &thread) const {
    return rank * request.blockThreads + int32_t(thread.shared.thread_id);
  }
  /// The first of a subgroup's threads that has not finished, or null.
  const Thread *getUnfinished(int32_t first) const;
  /// How many threads the subgroup has.
  int32_t getCount(int32_t first) const {
    return std::min(request.subgroupSize, request.blockThreads - first);
  }
  /// Whether the subgroup has something to do before others do something.
  bool canRun(int32_t first) const;
  /// For threads whose wait is over: takes note of it. False after an error.
  bool passWait(int32_t first);
  /// Runs a thread to its next wait or an error.
  void resume(Thread &thread);
  /// Runs a subgroup until it waits for others or has finished.
  bool runSubgroup(int32_t first);
  /// Whether all threads of a subgroup that waits in an exchange agree.
  bool checkWait(int32_t first);
  /// Whether all threads, by now at a barrier or finished, agree. Sets `done`
  /// if they have finished.
  bool checkBarrier(bool &done);
  void reduce(int32_t first, int32_t count);
  /// " by thread 3 of block 0 of kernel 'k'"
  std::string describe(const Thread &thread) const;
  bool fail(std::string message);
  /// Null after an error.
  void *passOrFail(const std::string &message, const Thread &thread);
  /// Whether an access of global memory is right: see `getError`. Makes it, if
  /// it is a store.
  bool check(const GlobalAccess &access, const Thread &thread);

  const LaunchRequest &request;
  const rmsnorm_sim_launch &launch;
  GlobalShadow &stored;
  Exchange &exchange;
  const int32_t rank;
  int64_t id = 0;
  Random random;
  std::vector<Thread> threads;
  /// First threads of the subgroups, and lanes, in the order they run.
  std::vector<int32_t> subgroups, lanes;
  std::vector<float> values;
  Frames frames;
  alignas(64) char fragment[RMSNORM_SIM_FRAGMENT_BYTES];
  Workgroup workgroup;
  std::jmp_buf left;
  bool failed = false, waited = false;
  std::string error;
};

} // namespace rmsnorm::sim

#endif // RMSNORM_SIM_BLOCK_H
