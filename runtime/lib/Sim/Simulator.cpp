// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Simulator.cpp - runs a simulated kernel over a grid ---------------===//

#include "Simulator.h"

#include "Cluster.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <numeric>
#include <pthread.h>
#include <thread>

using namespace rmsnorm::sim;

static constexpr int32_t kMaxBlockThreads = 1024;
static constexpr int64_t kMaxWorkgroupBytes = 1 << 20;

/// Switches between two barriers are too few to pay for a host thread, and for
/// the locks of what is shared with it, unless there are many of them.
static constexpr int64_t kThreadsPerHostThread = 4096;

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

/// `function` for kernels, which do not see a null: no object of ours is left
/// behind when they end.
template <auto function> struct OrLeave;
template <typename... Arguments,
          void *(*function)(rmsnorm_sim_thread *, Arguments...)>
struct OrLeave<function> {
  static void *call(rmsnorm_sim_thread *thread, Arguments... arguments) {
    if (void *result = function(thread, arguments...))
      return result;
    Block::leave(thread);
  }
};

static rmsnorm_sim_table makeTable() {
  rmsnorm_sim_table table = {};
  table.allocate_frame = Block::allocateFrame;
  table.global_load = OrLeave<Block::globalLoad>::call;
  table.global_store = OrLeave<Block::globalStore>::call;
  table.workgroup_access = OrLeave<Block::workgroupAccess>::call;
  table.exchange_init = OrLeave<Block::exchangeInit>::call;
  table.exchange_publish = OrLeave<Block::exchangePublish>::call;
  table.exchange_read = OrLeave<Block::exchangeRead>::call;
  table.async_copy = OrLeave<Block::asyncCopy>::call;
  table.copy_commit = Block::copyCommit;
  table.copy_wait = OrLeave<Block::copyWait>::call;
  // A captureless lambda: the address of an overloaded std:: function is not
  // ours to take.
  table.exp2 = [](float x) { return std::exp2(x); };
  return table;
}

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

namespace {
/// The order of a grid's clusters: position -> cluster. Shuffled, it is
/// i * factor + offset modulo the size, a permutation without a table.
class GridOrder {
public:
  explicit GridOrder(const LaunchRequest &request)
      : order(request.order), grid(uint64_t(request.grid / request.cluster)) {
    Random random(~request.seed);
    if (order != Order::Shuffled || grid < 2)
      return;
    do
      factor = random.next() % grid;
    while (std::gcd(factor, grid) != 1);
    offset = random.next() % grid;
  }

  int64_t getCluster(uint64_t position) const {
    if (order == Order::Reverse)
      return int64_t(grid - 1 - position);
    if (order == Order::Shuffled)
      return int64_t(((unsigned __int128)(position)*factor + offset) % grid);
    return int64_t(position);
  }

private:
  Order order;
  uint64_t grid, factor = 1, offset = 0;
};

/// A launch, shared by the host threads that run it.
struct Grid {
  const LaunchRequest &request;
  const rmsnorm_sim_launch &launch;
  GridOrder order;
  GlobalShadow stored;
  std::atomic<uint64_t> next{0};
  std::atomic<bool> stop{false}, waited{false};
  std::mutex mutex; // guards what follows
  Report &report;
  uint64_t failedPosition = UINT64_MAX;

  void fail(uint64_t position, std::string message) {
    stop = true;
    std::lock_guard<std::mutex> lock(mutex);
    if (position >= failedPosition)
      return;
    failedPosition = position;
    report.ok = false;
    report.message = std::move(message);
  }

  /// Runs clusters until there are none left or one has failed. They are taken
  /// in order and those taken are finished, so the first one to fail in that
  /// order is always found.
  void work() {
    Cluster cluster(request, launch, stored);
    const uint64_t end = uint64_t(request.grid / request.cluster);
    uint64_t position;
    while (!stop && (position = next++) < end)
      if (!cluster.run(order.getCluster(position)))
        fail(position, cluster.getError());
    if (cluster.hasWaited())
      waited = true;
  }

  static void *work(void *grid) {
    static_cast<Grid *>(grid)->work();
    return nullptr;
  }
};
} // namespace

static std::string checkRequest(const LaunchRequest &request) {
  auto range = [](const char *what, const char *expected, int64_t got) {
    return std::string("simulator: expected ") + what + " " + expected +
           ", got " + std::to_string(got);
  };
  if (!request.kernel)
    return "simulator: expected a kernel, got none";
  if (request.grid < 0)
    return range("a number of blocks", ">= 0", request.grid);
  if (request.cluster < 1 || request.cluster > 16 ||
      request.grid % request.cluster != 0)
    return range("clusters", "of 1 to 16 blocks that divide the grid",
                 request.cluster);
  if (request.blockThreads < 1 || request.blockThreads > kMaxBlockThreads)
    return range("a number of threads in a block", "from 1 to 1024",
                 request.blockThreads);
  if (request.subgroupSize != 32 && request.subgroupSize != 64)
    return range("a subgroup size", "of 32 or 64", request.subgroupSize);
  if (request.workgroupBytes < 0 || request.workgroupBytes > kMaxWorkgroupBytes)
    return range("workgroup memory", "from 0 to 1048576 bytes",
                 request.workgroupBytes);
  for (const Parameter &parameter : request.parameters)
    if (parameter.end < parameter.begin)
      return "simulator: expected a buffer to end after its begin, got "
             "argument '" +
             parameter.name + "'";
  return "";
}

static int32_t countHostThreads(const LaunchRequest &request) {
  int64_t wanted = request.hostThreads;
  if (wanted <= 0)
    wanted = std::max(1u, std::thread::hardware_concurrency());
  int64_t useful =
      request.grid / request.cluster /
      std::max<int64_t>(1, kThreadsPerHostThread /
                               (request.blockThreads * request.cluster));
  return int32_t(std::clamp<int64_t>(std::min(wanted, useful), 1, 256));
}

bool rmsnorm::sim::runGrid(const LaunchRequest &request, Report &report) {
  report = Report();
  report.message = checkRequest(request);
  if (!report.message.empty())
    return report.ok = false;
  if (request.grid == 0)
    return true;

  static const rmsnorm_sim_table table = makeTable();
  std::vector<uint64_t> arguments;
  for (const Parameter &parameter : request.parameters)
    arguments.push_back(parameter.slot);
  rmsnorm_sim_launch launch = {&table, arguments.data(), request.grid,
                               request.blockThreads};
  const int32_t hostThreads = countHostThreads(request);
  Grid grid{request,
            launch,
            GridOrder(request),
            GlobalShadow(request, hostThreads),
            {},
            {},
            {},
            {},
            report};
  // pthreads: the runtime is compiled without exceptions, and std::thread has
  // no other way to say that there are no more threads to be had. Fewer do the
  // same.
  std::vector<pthread_t> helpers;
  for (int32_t i = 1; i < hostThreads; ++i) {
    pthread_t helper;
    if (pthread_create(&helper, nullptr, Grid::work, &grid) != 0)
      break;
    helpers.push_back(helper);
  }
  grid.work();
  for (pthread_t helper : helpers)
    pthread_join(helper, nullptr);
  if (report.ok && !grid.waited)
    grid.fail(0, "grid_wait: expected a block of a dependent launch to execute "
                 "it, as the next kernel takes the end of this one for the "
                 "end of all before, but none does (kernel '" +
                     request.kernelName + "')");
  return report.ok;
}
