// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GlobalShadow.cpp - which block touched which byte of global memory -===//

#include "GlobalShadow.h"

#include <cstring>

using namespace rmsnorm::sim;

template <typename Visit, typename Finish>
void GlobalShadow::visit(const char *address, uint64_t bytes, Visit visit,
                         Finish finish) {
  const auto begin = uint64_t(reinterpret_cast<uintptr_t>(address));
  visitPages<Page>(
      begin, bytes,
      [&](uint64_t page, uint64_t offset, uint64_t done, uint64_t count) {
        Part &part = parts[page % kParts];
        std::unique_lock<std::mutex> lock(part.mutex, std::defer_lock);
        if (isShared)
          lock.lock();
        part.pages[page].visit(
            offset, count, [&](Record &record, uint64_t before, uint64_t unit) {
              visit(record, done + before, unit);
            });
        finish(done, count);
      });
}

int64_t GlobalShadow::load(int64_t block, const char *address, uint64_t bytes) {
  int64_t other = -1;
  if (isOneCluster)
    return other;
  const auto me = uint32_t(block + 1);
  const Cluster own(me, cluster);
  visit(
      address, bytes,
      [&](Record &record, uint64_t, uint64_t) {
        if (own.mayMeet(record.writer))
          other = int64_t(record.writer) - 1;
        if (record.reader == 0)
          record.reader = me;
        else if (own.mayMeet(record.reader))
          record.otherReader = me;
      },
      [](uint64_t, uint64_t) {});
  return other;
}

GlobalShadow::Conflict GlobalShadow::store(int64_t block, char *address,
                                           const char *value, uint64_t bytes) {
  Conflict conflict;
  if (isOneCluster) {
    std::memcpy(address, value, bytes);
    return conflict;
  }
  const auto me = uint32_t(block + 1);
  const Cluster own(me, cluster);
  visit(
      address, bytes,
      [&](Record &record, uint64_t done, uint64_t unit) {
        if (own.mayMeet(record.writer) &&
            std::memcmp(address + done, value + done, unit) != 0)
          conflict = {int64_t(record.writer) - 1, /*wasStore=*/true};
        for (uint32_t reader : {record.reader, record.otherReader})
          if (own.mayMeet(reader))
            conflict = {int64_t(reader) - 1, /*wasStore=*/false};
        record.writer = me;
      },
      [&](uint64_t done, uint64_t count) {
        std::memcpy(address + done, value + done, count);
      });
  return conflict;
}
