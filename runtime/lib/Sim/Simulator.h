// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Simulator.h - runs a simulated kernel over a grid -----------------===//
//
// Executes the thread-level kernel of a sim blob on the CPU, one coroutine per
// GPU thread, with checks that a GPU lacks: bounds and alignment of every
// access, races and uninitialised reads in workgroup memory, races of blocks in
// global memory, divergent barriers and subgroup operations, accesses before
// the wait for the kernels before.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_SIM_SIMULATOR_H
#define RMSNORM_SIM_SIMULATOR_H

#include "SimABI.h"

#include <cstdint>
#include <string>
#include <vector>

namespace rmsnorm::sim {

/// In which order the threads of a block run between two barriers, and the
/// blocks of a grid. A kernel whose result depends on it is wrong.
enum class Order {
  Forward,
  Reverse,
  /// Drawn anew from `LaunchRequest::seed` at every wait.
  Shuffled,
};

/// One kernel argument.
struct Parameter {
  /// The bits of the argument: a pointer, i64, i32 or f32 in the low bytes.
  uint64_t slot = 0;
  /// For messages: the name of the entry's argument or "workspace".
  std::string name;
  /// Pointers: the bytes [begin, end) of the buffer that `slot` points into.
  /// Both 0 for other parameters: any access through them is then an error.
  uint64_t begin = 0;
  uint64_t end = 0;
  /// Whether the kernel may write there.
  bool writable = false;
  /// Whether it may read there before it has waited for earlier kernels.
  bool constant = false;
};

struct LaunchRequest {
  /// For messages.
  std::string kernelName;
  rmsnorm_sim_kernel kernel = nullptr;
  /// Blocks, >= 0, a multiple of `cluster`.
  int64_t grid = 1;
  /// Blocks of a cluster, 1 to 16: they are resident together.
  int32_t cluster = 1;
  /// Threads of a block, 1 to 1024. Need not be a multiple of the subgroup
  /// size: threads that the last subgroup lacks contribute nothing to a
  /// subgroup_reduce.
  int32_t blockThreads = 1;
  /// 32 or 64.
  int32_t subgroupSize = 32;
  /// Dynamic workgroup memory of a block, in bytes, up to 1 MiB.
  int64_t workgroupBytes = 0;
  /// Whether the kernel may start before earlier ones have ended: each thread
  /// then has to wait for that before it touches memory that they may write,
  /// all of a block or none, and those of one block at least.
  bool dependentLaunch = false;
  std::vector<Parameter> parameters;
  Order order = Order::Forward;
  uint64_t seed = 0;
  /// Host threads that run blocks, the caller's among them. 0: as many as the
  /// machine has cores. A kernel's result does not depend on it.
  int32_t hostThreads = 0;
};

struct Report {
  bool ok = true;
  /// The error, in one line, of the first failing block in run order: the same
  /// for every number of host threads, but that either of two blocks that race
  /// in global memory may fail.
  std::string message;
};

/// Runs the kernel over the grid and returns when all blocks have finished or
/// the first error stopped them (buffers then hold whatever was written until
/// then). Never throws and never reads or writes outside the given buffers.
/// Several calls may run at a time. Returns `report.ok`.
bool runGrid(const LaunchRequest &request, Report &report);

} // namespace rmsnorm::sim

#endif // RMSNORM_SIM_SIMULATOR_H
