// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GlobalShadow.h - which block touched which byte of global memory ---===//

#ifndef RMSNORM_SIM_GLOBALSHADOW_H
#define RMSNORM_SIM_GLOBALSHADOW_H

#include "Records.h"
#include "Simulator.h"

#include <array>
#include <cstdint>
#include <mutex>
#include <unordered_map>

namespace rmsnorm::sim {

/// Remembers, for each byte that a launch may write, the block that stored it
/// last and up to two that read it. Blocks of a grid do not wait for one
/// another, so two of them that touch one byte are a race, unless both read or
/// both store the same value. Blocks of one cluster do wait, and count as one.
/// All host threads of a launch share one object.
class GlobalShadow {
public:
  GlobalShadow(const LaunchRequest &request, int32_t hostThreads)
      : cluster(uint32_t(request.cluster)),
        isOneCluster(request.grid <= request.cluster),
        isShared(hostThreads > 1) {}

  /// A load of block `block`, before it is made. Returns the block that has
  /// stored one of the bytes, or -1.
  int64_t load(int64_t block, const char *address, uint64_t bytes);

  struct Conflict {
    /// The other block, or -1.
    int64_t block = -1;
    bool wasStore = false;
  };
  /// Stores `bytes` bytes of `value` for block `block`. Returns another block
  /// that has stored other bytes there, or has read there.
  Conflict store(int64_t block, char *address, const char *value,
                 uint64_t bytes);

private:
  static constexpr uint64_t kParts = 64;
  /// Block numbers are counted from 1. Zero: none.
  struct Record {
    uint32_t writer, reader, otherReader;
  };
  using Page = RecordPage<Record>;
  /// Pages are shared out to parts, so that host threads seldom meet.
  struct Part {
    std::mutex mutex;
    std::unordered_map<uint64_t, Page> pages;
  };

  /// Calls `visit` with the record of each unit of [address, address + bytes),
  /// the bytes before it and its own, then `finish` with the bytes before each
  /// page and those in it, both under the lock of the page's part.
  template <typename Visit, typename Finish>
  void visit(const char *address, uint64_t bytes, Visit visit, Finish finish);

  /// The blocks, counted from 1, of the cluster of one.
  class Cluster {
  public:
    Cluster(uint32_t block, uint32_t size)
        : first(block - (block - 1) % size), size(size) {}
    /// Whether `other`, of a record, may touch a byte at the same time.
    bool mayMeet(uint32_t other) const {
      return other != 0 && other - first >= size;
    }

  private:
    uint32_t first, size;
  };

  std::array<Part, kParts> parts;
  uint32_t cluster;
  /// Nothing can race then.
  bool isOneCluster;
  /// By several host threads.
  bool isShared;
};

} // namespace rmsnorm::sim

#endif // RMSNORM_SIM_GLOBALSHADOW_H
