// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Report.cpp - the tuning file and the table ------------------------===//

#include "Report.h"
#include "../trial/Table.h"
#include "Json.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <map>
#include <set>

using rmsnorm::json::quote;
using trial::number;

namespace norm_tune {

/// The last number of rows that a measurement with `a` speaks for when the next
/// one is with `b`.
static int64_t between(int64_t a, int64_t b) {
  return std::max(a, int64_t(std::sqrt(double(a) * double(b))));
}

std::string makeTuningFile(const std::vector<Finding> &findings,
                           const std::string &target, const std::string &device,
                           std::string &note) {
  std::string records;
  std::map<std::string, std::string> owners; // entry, by program
  for (size_t i = 0; i < findings.size(); ++i) {
    const Finding &f = findings[i];
    if (!f.best)
      continue;
    const std::string &entry = f.space->plain.name;
    std::string &owner = owners[f.best->key];
    if (owner.empty())
      owner = entry;
    if (owner != entry) {
      note = "entry '" + entry + "' has the program of '" + owner +
             "', whose schedules it will get";
      continue;
    }
    bool first = i == 0 || findings[i - 1].space != f.space;
    bool last = i + 1 == findings.size() || findings[i + 1].space != f.space;
    int64_t from = first ? 0 : between(findings[i - 1].rows, f.rows) + 1;
    std::string to =
        last ? "null" : std::to_string(between(f.rows, findings[i + 1].rows));
    records += records.empty() ? "\n" : ",\n";
    records += "    {\"target\": " + quote(target) +
               ", \"entry\": " + quote(entry) +
               ",\n     \"program\": " + quote(f.best->key) +
               ",\n     \"rows\": [" + std::to_string(from) + ", " + to +
               "], \"schedule\": " + quote(f.best->schedule) +
               ",\n     \"device\": " + quote(device) +
               ", \"measured_rows\": " + std::to_string(f.rows) +
               ", \"microseconds\": " + number("%.6g", f.microseconds) + "}";
  }
  return "{\n  \"format\": \"rmsnorm-tuning\",\n  \"version\": 1,\n"
         "  \"records\": [" +
         records + "\n  ]\n}\n";
}

/// `texts` with commas between them, in brackets.
static std::string makeList(const std::vector<std::string> &texts) {
  std::string list;
  for (const std::string &text : texts)
    list += (list.empty() ? "" : ", ") + text;
  return "[" + list + "]";
}

/// A line for findings of the same candidates: of those whose program is `key`.
static std::string makeLine(const std::vector<Finding> &findings, size_t first,
                            size_t last, const std::string &key) {
  const Finding &one = findings[first];
  std::vector<std::string> rows, schedules, times;
  for (const Candidate *candidate : one.candidates)
    if (candidate->key == key)
      schedules.push_back(quote(candidate->schedule));
  for (size_t i = first; i < last; ++i) {
    std::vector<std::string> list;
    for (size_t j = 0; j < one.candidates.size(); ++j)
      if (double time = findings[i].times[j]; one.candidates[j]->key == key)
        list.push_back(time > 0 ? number("%.6g", time) : "null");
    rows.push_back(std::to_string(findings[i].rows));
    times.push_back(makeList(list));
  }
  return "{\"program\": " + quote(one.space->plain.name) +
         ", \"facts\": " + quote(key) +
         ", \"columns\": " + std::to_string(one.columns) +
         ", \"rows\": " + makeList(rows) +
         ", \"schedules\": " + makeList(schedules) +
         ", \"us\": " + makeList(times) + "}\n";
}

std::string makeMeasurements(const std::vector<Finding> &findings,
                             const std::string &target,
                             const std::string &device) {
  char date[16];
  const std::time_t now = std::time(nullptr);
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  std::string text = "{\"target\": " + quote(target) +
                     ", \"device\": " + quote(device) +
                     ", \"date\": " + quote(date) + "}\n";
  for (size_t first = 0, last; first < findings.size(); first = last) {
    for (last = first; last < findings.size(); ++last)
      if (findings[last].candidates != findings[first].candidates)
        break;
    std::set<std::string> keys;
    for (const Candidate *candidate : findings[first].candidates)
      keys.insert(candidate->key);
    for (const std::string &key : keys)
      text += makeLine(findings, first, last, key);
  }
  return text;
}

void printTable(const std::vector<Finding> &findings) {
  if (findings.empty())
    return;
  std::vector<std::vector<std::string>> lines = {
      {"entry", "rows", "best", "us", "GB/s", "chosen without", "us", "gain"}};
  for (const Finding &f : findings) {
    std::string best = f.best ? trial::scheduleText(f.best->schedule) : "-";
    bool same = f.microseconds == f.chosenMicroseconds;
    lines.push_back(
        {f.space->plain.name, std::to_string(f.rows), same ? "the same" : best,
         number("%.2f", f.microseconds),
         number("%.0f", f.bytes / f.microseconds / 1e3),
         trial::scheduleText(f.chosenSchedule),
         number("%.2f", f.chosenMicroseconds),
         same ? "-"
              : number("%.1f %%",
                       100 * (f.chosenMicroseconds / f.microseconds - 1))});
  }
  trial::printAligned(lines, {0, 2, 5});
}

} // namespace norm_tune
