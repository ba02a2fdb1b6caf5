//===- EmbedWorkspace.cpp - memory for the launches of a call -------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Embed.h"

#include <algorithm>
#include <vector>

using namespace rmsnorm::runtime;

namespace {
/// A thread's workspaces. Work on one stream is in order: later work may reuse
/// released memory.
struct Workspaces {
  struct Block {
    void *memory;
    uint64_t bytes;
    void *stream;
    bool isUsed;
  };
  std::vector<Block> blocks;
  rmsnorm_device *device = nullptr;

  void *take(uint64_t bytes);
  ~Workspaces() {
    for (Block &block : blocks)
      rmsnorm_device_free(device, block.memory);
  }
};
thread_local Workspaces workspaces;
} // namespace

void *Workspaces::take(uint64_t bytes) {
  auto isFree = [](const Block &block) {
    return !block.isUsed && block.stream == currentStream;
  };
  for (Block &block : blocks)
    if (isFree(block) && block.bytes >= bytes) {
      block.isUsed = true;
      return block.memory;
    }
  // Blocks that were too small are not needed beside the larger one.
  for (size_t i = blocks.size(); i-- > 0;)
    if (isFree(blocks[i])) {
      check(rmsnorm_device_free(device, blocks[i].memory),
            "freeing a workspace");
      blocks.erase(blocks.begin() + i);
    }
  void *memory = nullptr;
  check(rmsnorm_device_allocate(device, std::max<uint64_t>(bytes, 1), &memory),
        "allocating a workspace");
  blocks.push_back({memory, bytes, currentStream, true});
  return memory;
}

void *rmsnorm_gpu_workspace(const rmsnorm_gpu_object *object, uint64_t bytes) {
  workspaces.device = &getDevice(*object);
  return workspaces.take(bytes);
}

void rmsnorm_gpu_release_workspace(void *memory) {
  for (Workspaces::Block &block : workspaces.blocks)
    if (block.memory == memory)
      block.isUsed = false;
}
