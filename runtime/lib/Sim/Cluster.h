// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Cluster.h - the blocks of one cluster, resident together ----------===//

#ifndef RMSNORM_SIM_CLUSTER_H
#define RMSNORM_SIM_CLUSTER_H

#include "Block.h"

namespace rmsnorm::sim {

/// Runs clusters one after the other; one per host thread. A launch without
/// clusters has clusters of one block.
class Cluster {
public:
  Cluster(const LaunchRequest &request, const rmsnorm_sim_launch &launch,
          GlobalShadow &stored);

  /// Runs the blocks of cluster `id` to their end. False if one failed: see
  /// `getError`.
  bool run(int64_t id);

  /// Whether a block of one did, see Block.
  bool hasWaited() const;
  /// One line, names the block and the thread.
  const std::string &getError() const { return error; }

private:
  bool fail(const std::string &message);

  const LaunchRequest &request;
  Exchange exchange;
  std::vector<std::unique_ptr<Block>> blocks;
  std::vector<int32_t> ranks; // in the order they run
  std::string error;
};

} // namespace rmsnorm::sim

#endif // RMSNORM_SIM_CLUSTER_H
