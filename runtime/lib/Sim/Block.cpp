// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Block.cpp - the threads of one block, and what they share ---------===//

#include "Block.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace rmsnorm::sim;

// Frames and workgroup memory hold vectors.
static constexpr uint64_t kAlignment = 64;

static uint64_t alignUp(uint64_t bytes) {
  return (bytes + kAlignment - 1) & ~(kAlignment - 1);
}

static char *allocate(uint64_t bytes) {
  return static_cast<char *>(
      std::aligned_alloc(kAlignment, std::max(alignUp(bytes), kAlignment)));
}

void Block::FreeDeleter::operator()(void *memory) const { std::free(memory); }

Block::Block(const LaunchRequest &request, const rmsnorm_sim_launch &launch)
    : request(request), launch(launch), random(0),
      threads(request.blockThreads), values(request.subgroupSize),
      workgroup(allocate(request.workgroupBytes)),
      shadow(request.workgroupBytes) {
  for (int32_t i = 0; i < request.blockThreads; i += request.subgroupSize)
    subgroups.push_back(i);
  for (int32_t i = 0; i < request.subgroupSize; ++i)
    lanes.push_back(i);
  if (request.order == Order::Reverse) {
    std::reverse(subgroups.begin(), subgroups.end());
    std::reverse(lanes.begin(), lanes.end());
  }
  for (Thread &thread : threads)
    thread.block = this;
}

//===----------------------------------------------------------------------===//
// Scheduling
//===----------------------------------------------------------------------===//

void Block::shuffle(std::vector<int32_t> &numbers) {
  if (request.order != Order::Shuffled)
    return;
  for (size_t i = numbers.size(); i > 1; --i)
    std::swap(numbers[i - 1], numbers[random.below(uint32_t(i))]);
}

void Block::start(Thread &thread) {
  thread.handle = request.kernel(&launch, &thread.shared);
}

void Block::resume(Thread &thread) { rmsnorm_sim_resume(thread.handle); }

bool Block::run(int64_t blockId) {
  id = blockId;
  failed = false;
  error.clear();
  if (!workgroup || !shadow.isValid())
    return fail("simulator: out of memory for workgroup memory of " +
                std::to_string(request.workgroupBytes) + " bytes");
  // Every block has its own sequence, whichever host thread runs it.
  random = Random(request.seed ^ (uint64_t(id) * 0xd1342543de82ef95));
  if (request.order == Order::Shuffled) {
    std::sort(subgroups.begin(), subgroups.end());
    std::sort(lanes.begin(), lanes.end());
  }
  shadow.beginBlock();
  for (size_t i = 0; i < threads.size(); ++i) {
    rmsnorm_sim_thread &shared = threads[i].shared;
    shared = rmsnorm_sim_thread();
    shared.thread_id = int64_t(i);
    shared.block_id = id;
    threads[i].handle = nullptr;
  }
  for (bool done = false; !done;) {
    shuffle(subgroups);
    for (int32_t first : subgroups)
      if (!runSubgroup(first, std::min(request.subgroupSize,
                                       request.blockThreads - first)))
        return false;
    const Shadow::Uninitialised &read = shadow.getUninitialised();
    if (read.found)
      return fail("workgroup memory: " + std::to_string(read.length) +
                  " bytes at offset " + std::to_string(read.offset) +
                  " are read before anything was written there" +
                  describe(threads[read.thread]));
    if (!checkBarrier(done))
      return false;
    shadow.advance();
  }
  return true;
}

bool Block::runSubgroup(int32_t first, int32_t count) {
  for (;;) {
    shuffle(lanes);
    int32_t reducing = 0;
    for (int32_t lane : lanes) {
      if (lane >= count)
        continue;
      Thread &thread = threads[first + lane];
      if (thread.shared.wait == RMSNORM_SIM_FINISHED)
        continue;
      // All threads that wait at all wait for the same: either this is a new
      // round after a barrier, or after a reduction of this subgroup.
      ++switches;
      if (!thread.handle)
        start(thread);
      else
        resume(thread);
      if (failed)
        return false;
      reducing += thread.shared.wait == RMSNORM_SIM_REDUCE;
    }
    if (reducing == 0)
      return true;
    const Thread *waiting = nullptr, *other = nullptr;
    for (int32_t lane = 0; lane < count; ++lane) {
      const Thread &thread = threads[first + lane];
      if (!waiting && thread.shared.wait == RMSNORM_SIM_REDUCE)
        waiting = &thread;
    }
    for (int32_t lane = 0; lane < count && !other; ++lane) {
      const Thread &thread = threads[first + lane];
      if (thread.shared.wait != RMSNORM_SIM_REDUCE ||
          thread.shared.site != waiting->shared.site)
        other = &thread;
    }
    if (other) {
      const char *doing =
          other->shared.wait == RMSNORM_SIM_REDUCE    ? "is at another one"
          : other->shared.wait == RMSNORM_SIM_BARRIER ? "is at a barrier"
                                                      : "has finished";
      return fail("subgroup_reduce: expected all " + std::to_string(count) +
                  " threads of the subgroup to execute it, but thread " +
                  std::to_string(other->shared.thread_id) + " " + doing +
                  describe(*waiting));
    }
    if (waiting->shared.width > request.subgroupSize)
      return fail("subgroup_reduce: expected a width of at most the subgroup "
                  "size " +
                  std::to_string(request.subgroupSize) + ", got " +
                  std::to_string(waiting->shared.width) + describe(*waiting));
    reduce(first, count);
  }
}

bool Block::checkBarrier(bool &done) {
  const Thread *waiting = nullptr, *other = nullptr;
  for (const Thread &thread : threads)
    if (!waiting && thread.shared.wait == RMSNORM_SIM_BARRIER)
      waiting = &thread;
  done = !waiting;
  if (done)
    return true;
  for (const Thread &thread : threads)
    if (!other && (thread.shared.wait != RMSNORM_SIM_BARRIER ||
                   thread.shared.site != waiting->shared.site))
      other = &thread;
  if (!other)
    return true;
  return fail(std::string("divergent barrier: expected all threads of the "
                          "block to execute it, but thread ") +
              std::to_string(other->shared.thread_id) +
              (other->shared.wait == RMSNORM_SIM_BARRIER ? " is at another one"
                                                         : " has finished") +
              describe(*waiting));
}

//===----------------------------------------------------------------------===//
// Subgroup reductions
//===----------------------------------------------------------------------===//

static float combine(int32_t kind, float a, float b) {
  switch (kind) {
  case RMSNORM_SIM_MUL:
    return a * b;
  case RMSNORM_SIM_MAXIMUMF:
    if (a != a || b != b)
      return a + b;
    if (a == b) // the zeros: -0 < +0
      return std::signbit(a) ? b : a;
    return a > b ? a : b;
  case RMSNORM_SIM_MINIMUMF:
    if (a != a || b != b)
      return a + b;
    if (a == b)
      return std::signbit(a) ? a : b;
    return a < b ? a : b;
  default:
    return a + b;
  }
}

/// The butterfly gives all threads of a part the root of one and the same tree,
/// so it is enough to compute that. At step s the value of lanes [i, i + 2^s)
/// is combined with that of the next 2^s lanes, lower lanes on the left. Lanes
/// that the last subgroup of a block lacks contribute nothing.
void Block::reduce(int32_t first, int32_t count) {
  Thread *lane = &threads[first];
  int32_t kind = lane->shared.kind, width = lane->shared.width;
  for (int32_t i = 0; i < count; ++i)
    values[i] = lane[i].shared.value;
  for (int32_t part = 0; part < count; part += width) {
    int32_t end = std::min(part + width, count);
    for (int32_t step = 1; step < width; step *= 2)
      for (int32_t i = part; i + step < end; i += 2 * step)
        values[i] = combine(kind, values[i], values[i + step]);
    for (int32_t i = part; i < end; ++i)
      lane[i].shared.value = values[part];
  }
}

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

std::string Block::describe(const Thread &thread) const {
  return " (thread " + std::to_string(thread.shared.thread_id) + " of block " +
         std::to_string(id) + ", kernel '" + request.kernelName + "')";
}

bool Block::fail(std::string message) {
  failed = true;
  // What follows from reading garbage is best explained by that.
  const Shadow::Uninitialised &read = shadow.getUninitialised();
  if (read.found && message.find("workgroup memory") != 0)
    message += "; before that, thread " + std::to_string(read.thread) +
               " read workgroup memory at offset " +
               std::to_string(read.offset) +
               " to which nothing had been written";
  error = std::move(message);
  return false;
}

//===----------------------------------------------------------------------===//
// What kernels call
//===----------------------------------------------------------------------===//

void *Block::allocateFrame(rmsnorm_sim_thread *thread, uint64_t bytes) {
  Block &block = *get(thread).block;
  if (!block.frames) {
    block.frameBytes = alignUp(bytes);
    block.frames.reset(allocate(block.frameBytes * block.threads.size()));
    if (!block.frames) {
      // The kernel has no way to go on, nor to return.
      std::fprintf(stderr,
                   "rmsnorm simulator: out of memory for frames of "
                   "%llu bytes\n",
                   (unsigned long long)block.frameBytes);
      std::abort();
    }
  }
  return block.frames.get() + block.frameBytes * thread->thread_id;
}

void Block::globalFault(rmsnorm_sim_thread *thread, int32_t argument,
                        uint64_t address, uint64_t bytes, uint64_t fallback,
                        int32_t alignment, int32_t flags) {
  Block &block = *get(thread).block;
  const Parameter &parameter = block.request.parameters[argument];
  const char *what = flags & RMSNORM_SIM_STORE ? "global_store" : "global_load";
  auto inBuffer = [&](uint64_t first, uint64_t length) {
    uint64_t size = parameter.end - parameter.begin;
    return length <= size && first - parameter.begin <= size - length;
  };
  auto offset = [&](uint64_t first) {
    return std::to_string(int64_t(first - parameter.begin));
  };
  std::string name =
      "argument " + std::to_string(argument) + " '" + parameter.name + "'";
  std::string size = std::to_string(parameter.end - parameter.begin);
  std::string message = std::string(what) + ": ";
  std::string access = std::to_string(bytes) + " bytes at byte offset " +
                       offset(address) + " of " + name;
  bool isStore = flags & RMSNORM_SIM_STORE;
  if (bytes && isStore && !parameter.writable)
    message += "expected to write only to outputs, got a write of " + access;
  else if (bytes && !inBuffer(address, bytes))
    message += std::string("out of bounds: ") +
               (isStore ? "write of " : "read of ") + access + ", which has " +
               size + " bytes";
  else if (bytes && (address | bytes) & uint64_t(alignment - 1))
    message += "expected address and size to be multiples of " +
               std::to_string(alignment) + " bytes, got " + access +
               ", which starts at an address that is " +
               std::to_string(parameter.begin % 16) + " modulo 16";
  else
    message += "out of bounds: column 0 of a predicated read, " +
               std::to_string(alignment) + " bytes at byte offset " +
               offset(fallback) + " of " + name + ", which has " + size +
               " bytes: targets without predicated loads read there";
  block.fail(message + block.describe(get(thread)));
}

void *Block::workgroupAccess(rmsnorm_sim_thread *thread, int32_t offset,
                             int32_t bytes, int32_t isStore) {
  Block &block = *get(thread).block;
  const char *verb = isStore ? "write" : "read";
  auto describe = [&] {
    return std::string("workgroup memory: ") + verb + " of " +
           std::to_string(bytes) + " bytes at offset " + std::to_string(offset);
  };
  if (offset < 0 || offset > block.shadow.size() - bytes) {
    block.fail(describe() + " is out of bounds of the block's " +
               std::to_string(block.shadow.size()) + " bytes" +
               block.describe(get(thread)));
    return nullptr;
  }
  if (offset % bytes != 0) {
    block.fail(describe() + " is misaligned" + block.describe(get(thread)));
    return nullptr;
  }
  Shadow::Result result =
      block.shadow.access(int32_t(thread->thread_id), offset, bytes, isStore);
  if (result.race) {
    block.fail(describe() + " races with a " +
               (result.wasStore ? "write" : "read") + " by thread " +
               std::to_string(result.thread) + ": no barrier between them" +
               block.describe(get(thread)));
    return nullptr;
  }
  char *address = block.workgroup.get() + offset;
  if (result.uninitialised) // NaN, and an index that is out of every bounds.
    std::memset(address, 0xff, size_t(bytes));
  return address;
}
