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

Block::Block(const LaunchRequest &request, const rmsnorm_sim_launch &launch,
             Exchange &exchange, int32_t rank)
    : request(request), launch(launch), exchange(exchange), rank(rank),
      random(0), threads(request.blockThreads), values(request.subgroupSize),
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

bool Block::begin(int64_t blockId) {
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
    shared.grid_waited = !request.dependentLaunch;
    threads[i].handle = nullptr;
    threads[i].commits = 0;
    threads[i].copies.clear();
  }
  return true;
}

Block::State Block::advance(bool &moved) {
  for (bool done = false; !done;) {
    shuffle(subgroups);
    bool ran = false;
    for (int32_t first : subgroups) {
      if (!canRun(first))
        continue;
      ran = moved = true;
      if (!runSubgroup(first))
        return State::Failed;
    }
    if (isWaiting()) {
      if (!ran)
        return State::Waiting;
      continue;
    }
    const Shadow::Uninitialised &read = shadow.getUninitialised();
    if (read.found) {
      fail("workgroup memory: " + std::to_string(read.length) +
           " bytes at offset " + std::to_string(read.offset) +
           " are read before anything was written there" +
           describe(threads[read.thread]));
      return State::Failed;
    }
    if (!checkBarrier(done))
      return State::Failed;
    shadow.advance();
  }
  return State::Finished;
}

const Block::Thread *Block::getUnfinished(int32_t first) const {
  for (int32_t i = first, e = first + getCount(first); i < e; ++i)
    if (threads[i].shared.wait != RMSNORM_SIM_FINISHED)
      return &threads[i];
  return nullptr;
}

int32_t Block::getCount(int32_t first) const {
  return std::min(request.subgroupSize, request.blockThreads - first);
}

bool Block::canRun(int32_t first) const {
  const Thread *thread = getUnfinished(first);
  if (!thread)
    return false;
  switch (thread->shared.wait) {
  case RMSNORM_SIM_RUNNING:
    return true;
  case RMSNORM_SIM_READY:
    return exchange.isReady();
  case RMSNORM_SIM_AWAIT:
    return exchange.isComplete(thread->shared.number);
  default:
    return false;
  }
}

bool Block::isWaiting() const {
  return std::any_of(threads.begin(), threads.end(), [](const Thread &thread) {
    return thread.shared.wait == RMSNORM_SIM_READY ||
           thread.shared.wait == RMSNORM_SIM_AWAIT;
  });
}

std::string Block::describeWait() const {
  for (const Thread &thread : threads) {
    if (thread.shared.wait == RMSNORM_SIM_READY)
      return "exchange_ready: not all threads execute exchange_init" +
             describe(thread);
    if (thread.shared.wait == RMSNORM_SIM_AWAIT)
      return "exchange_await: not all subgroups make publish " +
             std::to_string(thread.shared.number) + describe(thread);
  }
  return "";
}

bool Block::passWait(int32_t first) {
  for (int32_t i = first, e = first + getCount(first); i < e; ++i) {
    rmsnorm_sim_thread &thread = threads[i].shared;
    std::string message;
    if (thread.wait == RMSNORM_SIM_READY)
      message = exchange.ready(getNumber(threads[i]));
    else if (thread.wait == RMSNORM_SIM_AWAIT)
      message = exchange.await(getNumber(threads[i]), thread.number);
    if (!passOrFail(message, threads[i]))
      return false;
  }
  return true;
}

bool Block::checkWait(int32_t first) {
  const Thread *waiting = nullptr;
  for (int32_t i = first, e = first + getCount(first); i < e && !waiting; ++i)
    if (threads[i].shared.wait == RMSNORM_SIM_READY ||
        threads[i].shared.wait == RMSNORM_SIM_AWAIT)
      waiting = &threads[i];
  if (!waiting)
    return true;
  for (int32_t i = first, e = first + getCount(first); i < e; ++i) {
    const rmsnorm_sim_thread &a = waiting->shared, &b = threads[i].shared;
    if (a.wait != b.wait || a.site != b.site ||
        (a.wait == RMSNORM_SIM_AWAIT && a.number != b.number))
      return fail(std::string(a.wait == RMSNORM_SIM_READY ? "exchange_ready"
                                                          : "exchange_await") +
                  ": expected all threads of the subgroup to execute it, but "
                  "thread " +
                  std::to_string(b.thread_id) + " does not" +
                  describe(*waiting));
  }
  return true;
}

bool Block::runSubgroup(int32_t first) {
  const int32_t count = getCount(first);
  for (;;) {
    if (!passWait(first))
      return false;
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
    if (reducing == 0) {
      if (!checkWait(first))
        return false;
      // As far ahead of the others as it gets: see Exchange.
      if (!canRun(first))
        return true;
      continue;
    }
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
  if (done) {
    for (const Thread &thread : threads)
      if (!thread.shared.grid_waited)
        return fail("grid_wait: expected every thread of a dependent launch to "
                    "execute it, but one ends without" +
                    describe(thread));
    return true;
  }
  for (const Thread &thread : threads)
    if (!other && (thread.shared.wait != RMSNORM_SIM_BARRIER ||
                   thread.shared.site != waiting->shared.site))
      other = &thread;
  if (!other) {
    for (Thread &thread : threads)
      thread.shared.wait = RMSNORM_SIM_RUNNING;
    return true;
  }
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
  if (bytes && !thread->grid_waited && !(parameter.constant && !isStore))
    message += std::string(isStore ? "write of " : "read of ") + access +
               " before grid_wait: the kernel before this one may not have "
               "ended" +
               (isStore ? "" : ", and the argument is not rmsnorm.constant");
  else if (bytes && isStore && !parameter.writable)
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

static std::string describeAccess(const char *verb, int32_t offset,
                                  int32_t bytes) {
  return std::string("workgroup memory: ") + verb + " of " +
         std::to_string(bytes) + " bytes at offset " + std::to_string(offset);
}

bool Block::checkRange(const Thread &thread, const char *verb, int32_t offset,
                       int32_t bytes) {
  if (offset < 0 || offset > shadow.size() - bytes)
    return fail(describeAccess(verb, offset, bytes) +
                " is out of bounds of the block's " +
                std::to_string(shadow.size()) + " bytes" + describe(thread));
  if (offset % bytes != 0)
    return fail(describeAccess(verb, offset, bytes) + " is misaligned" +
                describe(thread));
  if (exchange.owns(offset, bytes))
    return fail(describeAccess(verb, offset, bytes) +
                " is in the memory of the exchange" + describe(thread));
  return true;
}

bool Block::check(const Shadow::Result &result, const Thread &thread,
                  const char *verb, int32_t offset, int32_t bytes) {
  if (result.underWay)
    return fail(describeAccess(verb, offset, bytes) +
                " while an asynchronous copy to it is under way" +
                describe(thread));
  if (result.race)
    return fail(describeAccess(verb, offset, bytes) + " races with a " +
                (result.wasStore ? "write" : "read") + " by thread " +
                std::to_string(result.thread) + ": no barrier between them" +
                describe(thread));
  return true;
}

void *Block::workgroupAccess(rmsnorm_sim_thread *thread, int32_t offset,
                             int32_t bytes, int32_t isStore) {
  Block &block = *get(thread).block;
  const char *verb = isStore ? "write" : "read";
  if (!block.checkRange(get(thread), verb, offset, bytes))
    return nullptr;
  Shadow::Result result =
      block.shadow.access(int32_t(thread->thread_id), offset, bytes, isStore);
  if (!block.check(result, get(thread), verb, offset, bytes))
    return nullptr;
  char *address = block.workgroup.get() + offset;
  if (result.uninitialised) // NaN, and an index that is out of every bounds.
    std::memset(address, 0xff, size_t(bytes));
  return address;
}

void *Block::passOrFail(const std::string &message, const Thread &thread) {
  if (message.empty())
    return this;
  fail(message + describe(thread));
  return nullptr;
}

void *Block::exchangeInit(rmsnorm_sim_thread *thread, int32_t offset,
                          int32_t bytes, int32_t slots, int32_t values,
                          int32_t subgroups, int32_t cluster) {
  Block &block = *get(thread).block;
  return block.passOrFail(
      block.exchange.init(block.getNumber(get(thread)),
                          {offset, bytes, slots, values, subgroups, cluster},
                          block.request.workgroupBytes),
      get(thread));
}

void *Block::exchangePublish(rmsnorm_sim_thread *thread, int32_t number,
                             int32_t subgroup, int32_t index, int32_t count,
                             float value) {
  Block &block = *get(thread).block;
  return block.passOrFail(block.exchange.publish(block.getNumber(get(thread)),
                                                 number, subgroup, index, count,
                                                 value),
                          get(thread));
}

void *Block::exchangeRead(rmsnorm_sim_thread *thread, int32_t number,
                          int32_t publisher, int32_t value) {
  Block &block = *get(thread).block;
  const float *address = nullptr;
  std::string message = block.exchange.read(block.getNumber(get(thread)),
                                            number, publisher, value, address);
  if (!block.passOrFail(message, get(thread)))
    return nullptr;
  return const_cast<float *>(address);
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

int32_t Block::asyncCopy(rmsnorm_sim_thread *thread, int32_t offset,
                         int32_t bytes, const void *address, int32_t valid) {
  Thread &self = get(thread);
  Block &block = *self.block;
  const char *verb = "asynchronous copy";
  if (!block.checkRange(self, verb, offset, bytes) ||
      !block.check(
          block.shadow.beginCopy(int32_t(thread->thread_id), offset, bytes),
          self, verb, offset, bytes))
    return 0;
  Copy &copy = self.copies.emplace_back();
  copy.group = self.commits;
  copy.offset = offset;
  copy.bytes = bytes;
  copy.valid = valid;
  copy.source = static_cast<const char *>(address);
  std::memcpy(copy.began, address, size_t(valid));
  // What is read before the copy lands is not what is read afterwards.
  std::memset(block.workgroup.get() + offset, 0xff, size_t(bytes));
  return 1;
}

void Block::copyCommit(rmsnorm_sim_thread *thread) { ++get(thread).commits; }

bool Block::land(const Thread &thread, const Copy &copy) {
  if (!check(shadow.landCopy(int32_t(thread.shared.thread_id), copy.offset,
                             copy.bytes),
             thread, "asynchronous copy", copy.offset, copy.bytes))
    return false;
  if (std::memcmp(copy.began, copy.source, size_t(copy.valid)) != 0)
    return fail(describeAccess("asynchronous copy", copy.offset, copy.bytes) +
                ": its source is written while it is under way" +
                describe(thread));
  char *target = workgroup.get() + copy.offset;
  std::memcpy(target, copy.source, size_t(copy.valid));
  std::memset(target + copy.valid, 0, size_t(copy.bytes - copy.valid));
  return true;
}

int32_t Block::copyWait(rmsnorm_sim_thread *thread, int32_t pending) {
  Thread &self = get(thread);
  auto copy = self.copies.begin();
  for (; copy != self.copies.end() && copy->group < self.commits - pending;
       ++copy)
    if (!self.block->land(self, *copy))
      return 0;
  self.copies.erase(self.copies.begin(), copy);
  return 1;
}
