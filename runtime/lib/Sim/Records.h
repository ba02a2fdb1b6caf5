// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Records.h - what is remembered of each byte of memory --------------===//

#ifndef RMSNORM_SIM_RECORDS_H
#define RMSNORM_SIM_RECORDS_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace rmsnorm::sim {

/// The records of the bytes of a page, at first all zero bits. Bytes that were
/// always accessed together have one record: its unit is as wide as the
/// accesses so far let it be.
template <typename Record> class RecordPage {
public:
  static constexpr uint64_t kBytes = 1024;

  /// Calls `visit` with the record of each unit of [offset, offset + bytes),
  /// its distance from `offset`, and its bytes.
  template <typename Visit>
  void visit(uint64_t offset, uint64_t bytes, Visit visit) {
    if (records.empty())
      records.resize(kBytes / unit);
    while ((offset | bytes) & (unit - 1))
      halveUnits();
    Record *record = &records[offset / unit];
    for (uint64_t done = 0; done < bytes; done += unit)
      visit(*record++, done, unit);
  }

private:
  void halveUnits() {
    std::vector<Record> halves;
    halves.reserve(2 * records.size());
    for (const Record &record : records)
      halves.insert(halves.end(), 2, record);
    records = std::move(halves);
    unit /= 2;
  }

  std::vector<Record> records;
  /// A power of two. The widest access has no wider one.
  uint64_t unit = 16;
};

/// Calls `visit` for each page that [begin, begin + bytes) lies in, with the
/// page's number, the offset in it, the bytes before it and those in it.
template <typename Page, typename Visit>
void visitPages(uint64_t begin, uint64_t bytes, Visit visit) {
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t offset = (begin + done) % Page::kBytes;
    const uint64_t count = std::min(bytes - done, Page::kBytes - offset);
    visit((begin + done) / Page::kBytes, offset, done, count);
    done += count;
  }
}

} // namespace rmsnorm::sim

#endif // RMSNORM_SIM_RECORDS_H
