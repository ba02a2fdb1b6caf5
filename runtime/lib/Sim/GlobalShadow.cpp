// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- GlobalShadow.cpp - which block touched which byte of global memory -===//

#include "GlobalShadow.h"

#include <algorithm>
#include <cstring>

using namespace rmsnorm::sim;

template <typename Visit>
void GlobalShadow::visit(const char *address, uint64_t bytes, Visit visit) {
  const auto begin = uint64_t(reinterpret_cast<uintptr_t>(address));
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t page = (begin + done) / kPageBytes;
    const uint64_t offset = (begin + done) % kPageBytes;
    const uint64_t count = std::min(bytes - done, kPageBytes - offset);
    Part &part = parts[page % kParts];
    std::lock_guard<std::mutex> lock(part.mutex);
    std::unique_ptr<Page> &records = part.pages[page];
    if (!records)
      records = std::make_unique<Page>();
    visit(&(*records)[offset], done, count);
    done += count;
  }
}

int64_t GlobalShadow::load(int64_t block, const char *address, uint64_t bytes) {
  const auto me = uint32_t(block + 1);
  int64_t other = -1;
  visit(address, bytes, [&](Record *records, uint64_t, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      Record &record = records[i];
      if (mayMeet(record.writer, me))
        other = int64_t(record.writer) - 1;
      if (record.reader == 0)
        record.reader = me;
      else if (mayMeet(record.reader, me))
        record.otherReader = me;
    }
  });
  return other;
}

GlobalShadow::Conflict GlobalShadow::store(int64_t block, char *address,
                                           const char *value, uint64_t bytes) {
  const auto me = uint32_t(block + 1);
  Conflict conflict;
  visit(address, bytes, [&](Record *records, uint64_t done, uint64_t count) {
    for (uint64_t i = 0; i < count; ++i) {
      Record &record = records[i];
      if (mayMeet(record.writer, me) && address[done + i] != value[done + i])
        conflict = {int64_t(record.writer) - 1, /*wasStore=*/true};
      for (uint32_t reader : {record.reader, record.otherReader})
        if (mayMeet(reader, me))
          conflict = {int64_t(reader) - 1, /*wasStore=*/false};
      record.writer = me;
    }
    std::memcpy(address + done, value + done, count);
  });
  return conflict;
}
