// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Shadow.h - who touched which byte of workgroup memory -------------===//

#ifndef RMSNORM_SIM_SHADOW_H
#define RMSNORM_SIM_SHADOW_H

#include "Records.h"

#include <cstdint>
#include <vector>

namespace rmsnorm::sim {

/// Remembers, for each byte, who read and wrote it since the last barrier. A
/// race is: two threads, one byte, no barrier between, at least one writes.
/// Whether there is one does not depend on the order in which the threads run,
/// and neither does the answer here: all accesses between two barriers are
/// compared, in whatever order they come.
///
/// A byte that an asynchronous copy will write is under way until the copy
/// lands. No thread may touch it until then, not even the one that copies.
///
/// A read of a byte that no thread of this block has written yet may be half of
/// a race whose write is still to come, so it is for the caller to report it at
/// the next barrier.
class Shadow {
public:
  explicit Shadow(int64_t bytes)
      : pages(size_t(bytes) / Page::kBytes + 1), bytes(bytes) {}

  int64_t size() const { return bytes; }

  /// All bytes become never-written, all accesses so far forgotten.
  void beginBlock() {
    advance();
    firstEpoch = epoch;
    uninitialised = {};
  }

  /// A barrier: earlier accesses cannot race with later ones.
  void advance() { ++epoch; }

  struct Result {
    /// Whether an earlier access, of `thread`, conflicts.
    bool race = false;
    int32_t thread = 0;
    bool wasStore = false;
    /// A read of bytes that are not all written.
    bool uninitialised = false;
    /// An asynchronous copy to one of the bytes has not landed.
    bool underWay = false;

    bool isWrong() const { return race || underWay; }
  };

  /// An access of a thread. A copy begins with a write, and lands with another:
  /// it is under way in between.
  enum class Access { Load, Store, BeginCopy, LandCopy };

  /// Records an access of `thread` to [offset, offset + length).
  Result access(int32_t thread, int64_t offset, int32_t length, Access kind);

  /// The first read of never-written memory since the block began.
  struct Uninitialised {
    bool found = false;
    int32_t thread = 0;
    int64_t offset = 0;
    int32_t length = 0;
  };
  const Uninitialised &getUninitialised() const { return uninitialised; }

private:
  /// Threads are numbered from 1: all zero bits are a byte that no thread has
  /// touched.
  struct Record {
    /// The last epoch (time between two barriers) the byte was touched in.
    uint64_t epoch;
    /// In that epoch: its writer, and up to two different readers.
    uint16_t writer;
    uint16_t reader;
    uint16_t otherReader;
    /// Written in the block that `epoch` belongs to.
    bool written;
    /// Will be written by a copy that this block began.
    bool underWay;
  };
  using Page = RecordPage<Record>;

  /// Records an access of a unit by thread `me` - 1.
  void touch(Record &record, uint16_t me, bool isStore, Result &result) const;

  std::vector<Page> pages;
  int64_t bytes;
  uint64_t epoch = 0;
  uint64_t firstEpoch = 0;
  Uninitialised uninitialised;
};

inline void Shadow::touch(Record &record, uint16_t me, bool isStore,
                          Result &result) const {
  auto conflict = [&](uint16_t other, bool wasStore) {
    if (other == 0 || other == me || result.race)
      return;
    result.race = true;
    result.thread = other - 1;
    result.wasStore = wasStore;
  };
  if (record.epoch != epoch)
    record = {epoch,
              0,
              0,
              0,
              record.written && record.epoch >= firstEpoch,
              record.underWay && record.epoch >= firstEpoch};
  result.underWay |= record.underWay;
  conflict(record.writer, true);
  if (isStore) {
    conflict(record.reader, false);
    conflict(record.otherReader, false);
    record.writer = me;
    record.written = true;
    return;
  }
  if (record.reader == 0)
    record.reader = me;
  else if (record.reader != me)
    record.otherReader = me;
  result.uninitialised |= !record.written;
}

inline Shadow::Result Shadow::access(int32_t thread, int64_t offset,
                                     int32_t length, Access kind) {
  Result result;
  visitPages<Page>(
      uint64_t(offset), uint64_t(length),
      [&](uint64_t page, uint64_t first, uint64_t, uint64_t count) {
        pages[page].visit(
            first, count, [&](Record &record, uint64_t, uint64_t) {
              record.underWay &= kind != Access::LandCopy;
              touch(record, uint16_t(thread + 1), kind != Access::Load, result);
              record.underWay |= kind == Access::BeginCopy;
            });
      });
  if (result.uninitialised && !uninitialised.found)
    uninitialised = {true, thread, offset, length};
  return result;
}

} // namespace rmsnorm::sim

#endif // RMSNORM_SIM_SHADOW_H
