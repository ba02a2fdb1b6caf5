// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Exchange.h - what subgroups publish for one another ---------------===//

#ifndef RMSNORM_SIM_EXCHANGE_H
#define RMSNORM_SIM_EXCHANGE_H

#include <cstdint>
#include <string>
#include <vector>

namespace rmsnorm::sim {

/// The exchange of the blocks of a cluster: the values, and for each thread
/// where it stands, to check the protocol that the text of
/// `rmsnorm.exchange_init` states. Whether a publish may overtake a read does
/// not depend on which thread is ahead, as the scheduler lets each subgroup run
/// as far as it can before it turns to another one.
///
/// Functions that take a thread (its number in the cluster) return an error, or
/// nothing.
class Exchange {
public:
  struct Shape {
    int32_t offset, bytes, slots, values, subgroups, cluster;
  };

  Exchange(int32_t blocks, int32_t blockThreads, int32_t subgroupSize)
      : blocks(blocks), blockThreads(blockThreads), subgroupSize(subgroupSize),
        threads(size_t(blocks) * blockThreads) {}

  /// Forgets everything: the next cluster begins.
  void begin();

  std::string init(int32_t thread, const Shape &shape, int64_t workgroupBytes);
  std::string ready(int32_t thread);
  std::string publish(int32_t thread, int32_t number, int32_t subgroup,
                      int32_t index, int32_t count, float value);
  std::string await(int32_t thread, int32_t number);
  std::string read(int32_t thread, int32_t number, int32_t publisher,
                   int32_t value, const float *&address);
  /// When all threads have ended.
  std::string finish() const;

  /// Whether every thread has executed exchange_init.
  bool isReady() const { return initialised == threads.size(); }
  /// Whether all subgroups have made publish `number`.
  bool isComplete(int32_t number) const;
  /// Whether bytes of workgroup memory belong to the exchange.
  bool owns(int64_t offset, int32_t bytes) const {
    return initialised && offset < shape.offset + shape.bytes &&
           offset + bytes > shape.offset;
  }

private:
  struct Thread {
    bool initialised, ready;
    /// The numbers of the next publish and await; the one being read, or -1.
    int32_t published, awaited, reading;
  };
  struct Slot {
    int32_t number;
    int32_t count; // values of each publisher
    int32_t publishers;
    std::vector<float> values; // [value][publisher]
    std::vector<bool> present;
  };

  std::string name(int32_t thread) const;
  Slot &get(int32_t number) { return slots[number % shape.slots]; }
  /// Why `number` cannot take its slot yet.
  std::string checkFree(const Slot &slot, int32_t number) const;
  int32_t getPublishers() const { return shape.cluster * shape.subgroups; }
  int32_t getSubgroup(int32_t thread) const {
    return thread % blockThreads / subgroupSize;
  }

  int32_t blocks, blockThreads, subgroupSize;
  Shape shape = {};
  size_t initialised = 0;
  std::vector<Thread> threads;
  std::vector<Slot> slots;
};

} // namespace rmsnorm::sim

#endif // RMSNORM_SIM_EXCHANGE_H
