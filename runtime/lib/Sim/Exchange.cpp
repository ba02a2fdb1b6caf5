// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Exchange.cpp - what subgroups publish for one another -------------===//

#include "Exchange.h"

#include <cstring>

using namespace rmsnorm::sim;

void Exchange::begin() {
  initialised = 0;
  for (Thread &thread : threads)
    thread = {false, false, 0, 0, -1};
  slots.clear();
}

std::string Exchange::name(int32_t thread) const {
  return "thread " + std::to_string(thread % blockThreads) + " of rank " +
         std::to_string(thread / blockThreads);
}

std::string Exchange::init(int32_t thread, const Shape &given,
                           int64_t workgroupBytes) {
  if (threads[thread].initialised)
    return "exchange_init: expected once in a kernel, got it again";
  threads[thread].initialised = true;
  if (initialised++) {
    if (std::memcmp(&shape, &given, sizeof(Shape)) != 0)
      return "exchange_init: expected one exchange in a kernel, got another";
    return "";
  }
  shape = given;
  if (shape.cluster != blocks)
    return "exchange_init: expected the launch's clusters of " +
           std::to_string(blocks) + " blocks, got " +
           std::to_string(shape.cluster);
  if (shape.subgroups * subgroupSize != blockThreads)
    return "exchange_init: expected the block's " +
           std::to_string(blockThreads / subgroupSize) + " subgroups, got " +
           std::to_string(shape.subgroups);
  if (shape.offset + int64_t(shape.bytes) > workgroupBytes)
    return "exchange_init: expected " + std::to_string(shape.bytes) +
           " bytes of workgroup memory at offset " +
           std::to_string(shape.offset) + ", the block has " +
           std::to_string(workgroupBytes);
  size_t values = size_t(shape.values) * getPublishers();
  slots.assign(shape.slots, {-1, 0, 0, std::vector<float>(values),
                             std::vector<bool>(values)});
  return "";
}

std::string Exchange::ready(int32_t thread) {
  if (threads[thread].ready)
    return "exchange_ready: expected once in a kernel, got it again";
  threads[thread].ready = true;
  return "";
}

std::string Exchange::checkFree(const Slot &slot, int32_t number) const {
  if (slot.number < 0)
    return "";
  if (slot.number != number - shape.slots)
    return "exchange_publish: expected number " +
           std::to_string(slot.number + shape.slots) + " in the slot, got " +
           std::to_string(number);
  for (size_t i = 0; i < threads.size(); ++i) {
    const Thread &thread = threads[i];
    if (thread.awaited > slot.number && thread.reading != slot.number)
      continue;
    return "exchange_publish: number " + std::to_string(number) +
           " overtakes number " + std::to_string(slot.number) +
           " in its slot, which " + name(int32_t(i)) + " has not read yet";
  }
  return "";
}

std::string Exchange::publish(int32_t thread, int32_t number, int32_t subgroup,
                              int32_t index, int32_t count, float value) {
  Thread &me = threads[thread];
  if (!me.ready)
    return "exchange_publish: expected exchange_ready before it";
  if (subgroup != getSubgroup(thread))
    return "exchange_publish: expected subgroup " +
           std::to_string(getSubgroup(thread)) + ", got " +
           std::to_string(subgroup);
  if (number != me.published)
    return "exchange_publish: expected number " + std::to_string(me.published) +
           ", got " + std::to_string(number);
  me.reading = -1;
  if (index + 1 == count)
    ++me.published;
  Slot &slot = get(number);
  if (slot.number != number) {
    if (std::string error = checkFree(slot, number); !error.empty())
      return error;
    slot.number = number;
    slot.count = count;
    slot.publishers = 0;
    slot.present.assign(slot.present.size(), false);
  }
  if (slot.count != count)
    return "exchange_publish: expected " + std::to_string(slot.count) +
           " values as from others, got " + std::to_string(count);
  size_t place = size_t(index) * getPublishers() +
                 size_t(thread / blockThreads) * shape.subgroups + subgroup;
  // The first thread of a subgroup stores, the others must have the same.
  if (slot.present[place]) {
    if (std::memcmp(&slot.values[place], &value, sizeof(value)) != 0)
      return "exchange_publish: expected the same value in all threads of the "
             "subgroup, got " +
             std::to_string(slot.values[place]) + " and " +
             std::to_string(value);
    return "";
  }
  slot.present[place] = true;
  slot.values[place] = value;
  slot.publishers += index + 1 == count;
  return "";
}

bool Exchange::isComplete(int32_t number) const {
  if (number < 0 || !initialised)
    return false;
  const Slot &slot = slots[number % shape.slots];
  return slot.number == number && slot.publishers == getPublishers();
}

std::string Exchange::await(int32_t thread, int32_t number) {
  Thread &me = threads[thread];
  if (!me.ready)
    return "exchange_await: expected exchange_ready before it";
  if (number != me.awaited)
    return "exchange_await: expected number " + std::to_string(me.awaited) +
           ", got " + std::to_string(number);
  ++me.awaited;
  me.reading = number;
  return "";
}

std::string Exchange::read(int32_t thread, int32_t number, int32_t publisher,
                           int32_t value, const float *&address) {
  const Thread &me = threads[thread];
  if (me.reading < 0 || number != me.reading)
    return "exchange_read: expected to read what the thread awaited last, and "
           "before it publishes again, got number " +
           std::to_string(number);
  const Slot &slot = get(number);
  if (publisher < 0 || publisher >= getPublishers())
    return "exchange_read: expected a publisher below " +
           std::to_string(getPublishers()) + ", got " +
           std::to_string(publisher);
  if (value >= slot.count)
    return "exchange_read: expected one of the " + std::to_string(slot.count) +
           " values that were published, got number " + std::to_string(value);
  address = &slot.values[size_t(value) * getPublishers() + publisher];
  return "";
}

std::string Exchange::finish() const {
  for (size_t i = 0; i < threads.size(); ++i)
    if (threads[i].awaited != threads[i].published)
      return "exchange: expected every publish to be awaited, but " +
             name(int32_t(i)) + " has awaited " +
             std::to_string(threads[i].awaited) + " of " +
             std::to_string(threads[i].published);
  return "";
}
