// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Report.cpp - the results of norm-bench ----------------------------===//

#include "Report.h"
#include "../trial/Bench.h"
#include "../trial/Table.h"
#include "Json.h"

namespace norm_bench {

double Finding::getTime() const { return trial::median(times); }

double Finding::getChange() const {
  return before > 0 ? 100 * (getTime() / before - 1) : 0;
}

void printTable(const std::vector<Finding> &findings, bool isCompared) {
  using trial::number;
  if (findings.empty())
    return;
  std::vector<std::vector<std::string>> lines = {
      {"entry", "shape", "file", "variant", "us", "spread", "GB/s", "of copy",
       "of first"}};
  if (isCompared)
    lines[0].insert(lines[0].end(), {"before us", "change"});
  for (const Finding &f : findings) {
    const double time = f.getTime(), rate = f.bytes / time / 1e3;
    lines.push_back({f.entry, f.shape, f.file, f.variant, number("%.2f", time),
                     number("%.1f %%", 100 * trial::spread(f.times)),
                     number(rate < 10 ? "%.2f" : "%.0f", rate),
                     number("%.3f", trial::median(f.copies) / time),
                     f.first > 0 ? number("%.3f", f.first / time) : "-"});
    if (isCompared && f.before > 0)
      lines.back().insert(
          lines.back().end(),
          {number("%.2f", f.before), number("%+.1f %%", f.getChange())});
    else if (isCompared)
      lines.back().insert(lines.back().end(), {"-", "-"});
  }
  trial::printAligned(lines, {0, 1, 2, 3});
}

std::string makeJson(const std::vector<Finding> &findings,
                     const std::string &device, int rounds) {
  rmsnorm::json::Writer json;
  json.beginObject();
  json.field("format", "rmsnorm-bench");
  json.field("version", int32_t(1));
  json.field("runtime", rmsnorm_version());
  json.field("device", device);
  json.field("rounds", int32_t(rounds));
  json.key("results");
  json.beginArray();
  for (const Finding &f : findings) {
    json.beginObject();
    json.field("file", f.file);
    json.field("entry", f.entry);
    json.field("shape", f.shape);
    json.field("types", f.types);
    json.field("rows", f.rows);
    json.field("variant", f.variant);
    json.field("schedule", f.schedule);
    json.field("bytes", f.bytes);
    json.field("microseconds", f.getTime());
    json.field("spread", trial::spread(f.times));
    json.field("gigabytes_per_second", f.bytes / f.getTime() / 1e3);
    json.field("copy_microseconds", trial::median(f.copies));
    json.field("of_copy", trial::median(f.copies) / f.getTime());
    if (f.first > 0)
      json.field("of_first", f.first / f.getTime());
    if (f.before > 0) {
      json.field("before_microseconds", f.before);
      json.field("change_percent", f.getChange());
    }
    for (const auto &[name, times] :
         {std::pair("times", &f.times), std::pair("copy_times", &f.copies)}) {
      json.key(name);
      json.beginRow();
      for (double time : *times)
        json.value(time);
      json.endRow();
    }
    json.endObject();
  }
  json.endArray();
  json.endObject();
  return json.take();
}

} // namespace norm_bench
