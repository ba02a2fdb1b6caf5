// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GlobalShadow.h - which block touched which byte of global memory ---===//

#ifndef RMSNORM_SIM_GLOBALSHADOW_H
#define RMSNORM_SIM_GLOBALSHADOW_H

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

namespace rmsnorm::sim {

/// Remembers, for each byte that a launch may write, the block that stored it
/// last and up to two that read it. Blocks of a grid do not wait for one
/// another, so two of them that touch one byte are a race, unless both read or
/// both store the same value. Blocks of one cluster do wait, and count as one.
/// All host threads of a launch share one object.
class GlobalShadow {
public:
  /// `cluster`: blocks of a cluster.
  explicit GlobalShadow(int32_t cluster) : cluster(uint32_t(cluster)) {}

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
  static constexpr uint64_t kPageBytes = 4096, kParts = 64;
  /// Block numbers are counted from 1. Zero: none.
  struct Record {
    uint32_t writer, reader, otherReader;
  };
  using Page = std::array<Record, kPageBytes>;
  /// Pages are shared out to parts, so that host threads seldom meet.
  struct Part {
    std::mutex mutex;
    std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  };

  /// Calls `visit` with each page's records of [address, address + bytes), the
  /// bytes before them and their number, under the lock of their part.
  template <typename Visit>
  void visit(const char *address, uint64_t bytes, Visit visit);

  /// Whether `other`, of a record, and `me`, a block's number counted from 1,
  /// may touch a byte at the same time.
  bool mayMeet(uint32_t other, uint32_t me) const {
    return other != 0 && (other - 1) / cluster != (me - 1) / cluster;
  }

  std::array<Part, kParts> parts;
  uint32_t cluster;
};

} // namespace rmsnorm::sim

#endif // RMSNORM_SIM_GLOBALSHADOW_H
