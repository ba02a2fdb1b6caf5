// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Cluster.cpp - the blocks of one cluster, resident together --------===//

#include "Cluster.h"

#include <algorithm>
#include <numeric>

using namespace rmsnorm::sim;

Cluster::Cluster(const LaunchRequest &request, const rmsnorm_sim_launch &launch,
                 GlobalShadow &stored)
    : request(request),
      exchange(request.cluster, request.blockThreads, request.subgroupSize),
      ranks(request.cluster) {
  for (int32_t rank = 0; rank < request.cluster; ++rank)
    blocks.push_back(
        std::make_unique<Block>(request, launch, stored, exchange, rank));
}

bool Cluster::run(int64_t id) {
  exchange.begin();
  Random random(request.seed ^ (uint64_t(id) * 0x9e6c63d0876a9a47));
  std::iota(ranks.begin(), ranks.end(), 0);
  if (request.order == Order::Reverse)
    std::reverse(ranks.begin(), ranks.end());
  for (int32_t rank = 0; rank < request.cluster; ++rank)
    if (!blocks[rank]->begin(id * request.cluster + rank))
      return fail(blocks[rank]->getError());

  for (;;) {
    if (request.order == Order::Shuffled)
      for (size_t i = ranks.size(); i > 1; --i)
        std::swap(ranks[i - 1], ranks[random.below(uint32_t(i))]);
    bool moved = false, finished = true;
    for (int32_t rank : ranks) {
      Block &block = *blocks[rank];
      switch (block.advance(moved)) {
      case Block::State::Failed:
        return fail(block.getError());
      case Block::State::Waiting:
        finished = false;
        break;
      case Block::State::Finished:
        break;
      }
    }
    if (finished)
      break;
    if (!moved) {
      for (std::unique_ptr<Block> &block : blocks)
        if (block->isWaiting())
          return fail(block->describeWait());
    }
  }
  std::string left = exchange.finish();
  return left.empty() || fail(left + " (kernel '" + request.kernelName + "')");
}

bool Cluster::hasWaited() const {
  return std::any_of(blocks.begin(), blocks.end(),
                     [](const auto &block) { return block->hasWaited(); });
}

bool Cluster::fail(const std::string &message) {
  error = message;
  return false;
}
