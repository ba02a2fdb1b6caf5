// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Block.cpp - the threads of one block, and what they share ---------===//

#include "Block.h"
#include "Reduce.h"

#include <algorithm>

using namespace rmsnorm::sim;

Block::Block(const LaunchRequest &request, const rmsnorm_sim_launch &launch,
             GlobalShadow &stored, Exchange &exchange, int32_t rank)
    : request(request), launch(launch), stored(stored), exchange(exchange),
      rank(rank), random(0), threads(request.blockThreads),
      values(request.subgroupSize), frames(threads.size()),
      workgroup(request.workgroupBytes, request.blockThreads, exchange) {
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

bool Block::begin(int64_t blockId) {
  id = blockId;
  failed = false;
  error.clear();
  if (!workgroup.isValid())
    return fail("simulator: out of memory for workgroup memory of " +
                std::to_string(request.workgroupBytes) + " bytes");
  // Every block has its own sequence, whichever host thread runs it.
  random = Random(request.seed ^ (uint64_t(id) * 0xd1342543de82ef95));
  if (request.order == Order::Shuffled) {
    std::sort(subgroups.begin(), subgroups.end());
    std::sort(lanes.begin(), lanes.end());
  }
  workgroup.beginBlock();
  for (size_t i = 0; i < threads.size(); ++i) {
    rmsnorm_sim_thread &shared = threads[i].shared;
    shared = rmsnorm_sim_thread();
    shared.thread_id = int64_t(i);
    shared.block_id = id;
    shared.grid_waited = !request.dependentLaunch;
    shared.fragment = fragment;
    threads[i].handle = nullptr;
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
    const Shadow::Uninitialised &read = workgroup.getUninitialised();
    if (read.found) {
      fail("workgroup memory: " + std::to_string(read.length) +
           " bytes at offset " + std::to_string(read.offset) +
           " are read before anything was written there" +
           describe(threads[read.thread]));
      return State::Failed;
    }
    if (!checkBarrier(done))
      return State::Failed;
    workgroup.passBarrier();
  }
  return State::Finished;
}

const Block::Thread *Block::getUnfinished(int32_t first) const {
  for (int32_t i = first, e = first + getCount(first); i < e; ++i)
    if (threads[i].shared.wait != RMSNORM_SIM_FINISHED)
      return &threads[i];
  return nullptr;
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
  return std::any_of(threads.begin(), threads.end(), isInExchange);
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
  const Thread *begin = &threads[first], *end = begin + getCount(first);
  const Thread *waiting = std::find_if(begin, end, isInExchange);
  if (waiting == end)
    return true;
  for (const Thread *thread = begin; thread != end; ++thread) {
    const rmsnorm_sim_thread &a = waiting->shared, &b = thread->shared;
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

// A kernel has nothing to unwind. Only the functions that it calls check it:
// branches on each result would be half of its code.
void Block::resume(Thread &thread) {
  if (setjmp(left) == 0)
    rmsnorm_sim_resume(thread.handle);
}

void Block::leave(rmsnorm_sim_thread *thread) {
  std::longjmp(get(thread).block->left, 1);
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
      if (!thread.handle)
        thread.handle = request.kernel(&launch, &thread.shared);
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
    const Thread *begin = &threads[first], *end = begin + count;
    const Thread *waiting = std::find_if(begin, end, [](const Thread &thread) {
      return thread.shared.wait == RMSNORM_SIM_REDUCE;
    });
    const Thread *other = std::find_if(begin, end, [&](const Thread &thread) {
      return thread.shared.wait != RMSNORM_SIM_REDUCE ||
             thread.shared.site != waiting->shared.site;
    });
    if (other != end) {
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
  auto waiting =
      std::find_if(threads.begin(), threads.end(), [](const Thread &thread) {
        return thread.shared.wait == RMSNORM_SIM_BARRIER;
      });
  done = waiting == threads.end();
  if (done) {
    for (const Thread &thread : threads)
      if (thread.shared.grid_waited != threads.front().shared.grid_waited)
        return fail("divergent grid_wait: expected in all threads or in none" +
                    describe(thread));
    waited |= threads.front().shared.grid_waited != 0;
    return true;
  }
  auto other =
      std::find_if(threads.begin(), threads.end(), [&](const Thread &thread) {
        return thread.shared.wait != RMSNORM_SIM_BARRIER ||
               thread.shared.site != waiting->shared.site;
      });
  if (other == threads.end()) {
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

/// The threads wait for a reduction.
void Block::reduce(int32_t first, int32_t count) {
  Thread *lane = &threads[first];
  for (int32_t i = 0; i < count; ++i)
    values[i] = lane[i].shared.value;
  reduceLanes(values.data(), count, lane->shared.width, lane->shared.kind);
  for (int32_t i = 0; i < count; ++i)
    lane[i].shared.value = values[i];
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
  // An error that follows from reading garbage is best explained by the read.
  const Shadow::Uninitialised &read = workgroup.getUninitialised();
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
  return get(thread).block->frames.get(size_t(thread->thread_id), bytes);
}

bool Block::check(const GlobalAccess &access, const Thread &thread) {
  const Parameter &parameter = request.parameters[access.getArgument()];
  auto error = access.check(parameter, thread.shared.grid_waited);
  if (error != GlobalAccess::Error::None)
    return passOrFail(access.describe(error, parameter), thread);
  // Nobody stores to what the launch may only read.
  return !parameter.writable ||
         passOrFail(access.record(stored, id, fragment, parameter), thread);
}

void *Block::globalLoad(rmsnorm_sim_thread *thread,
                        const rmsnorm_sim_access *access, uint64_t base,
                        int64_t row, int32_t column, int32_t valid) {
  Block &block = *get(thread).block;
  GlobalAccess load(*access, base, row, column, valid, /*isStore=*/false);
  return block.check(load, get(thread)) ? load.load(block.fragment) : nullptr;
}

void *Block::globalStore(rmsnorm_sim_thread *thread,
                         const rmsnorm_sim_access *access, uint64_t base,
                         int64_t row, int32_t column, int32_t valid) {
  Block &block = *get(thread).block;
  GlobalAccess store(*access, base, row, column, valid, /*isStore=*/true);
  return block.check(store, get(thread)) ? block.fragment : nullptr;
}

void *Block::workgroupAccess(rmsnorm_sim_thread *thread, int32_t offset,
                             int32_t bytes, int32_t isStore) {
  Block &block = *get(thread).block;
  void *address = nullptr;
  std::string wrong = block.workgroup.access(int32_t(thread->thread_id), offset,
                                             bytes, isStore, address);
  return block.passOrFail(wrong, get(thread)) ? address : nullptr;
}

void *Block::passOrFail(const std::string &message, const Thread &thread) {
  return message.empty() || fail(message + describe(thread)) ? this : nullptr;
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
  return block.passOrFail(message, get(thread)) ? const_cast<float *>(address)
                                                : nullptr;
}

void *Block::asyncCopy(rmsnorm_sim_thread *thread,
                       const rmsnorm_sim_access *access, uint64_t base,
                       int64_t row, int32_t column, int32_t valid,
                       int32_t offset) {
  Block &block = *get(thread).block;
  GlobalAccess load(*access, base, row, column, valid, /*isStore=*/false);
  if (!block.check(load, get(thread)))
    return nullptr;
  std::string wrong = block.workgroup.copy(
      int32_t(thread->thread_id), offset, int32_t(load.getWholeBytes()),
      load.getAddress(), int32_t(load.getBytes()));
  return block.passOrFail(wrong, get(thread));
}

void *Block::copyCommit(rmsnorm_sim_thread *thread) {
  get(thread).block->workgroup.commit(int32_t(thread->thread_id));
  return thread;
}

void *Block::copyWait(rmsnorm_sim_thread *thread, int32_t pending) {
  Block &block = *get(thread).block;
  std::string wrong = block.workgroup.wait(int32_t(thread->thread_id), pending);
  return block.passOrFail(wrong, get(thread));
}
