// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Journal.cpp - results so far, kept in a file ----------------------===//

#include "Journal.h"
#include "../trial/Files.h"

#include <cstdio>
#include <cstdlib>
#include <unistd.h>

namespace norm_tune {

static const char header[] = "norm-tune results, version 1\n";

/// Removes up to the next `end` from `text` and returns it; false if there is
/// none.
static bool take(std::string &text, char end, std::string &part) {
  size_t at = text.find(end);
  if (at == std::string::npos)
    return false;
  part = text.substr(0, at);
  text.erase(0, at + 1);
  return true;
}

Journal::Found Journal::open() {
  std::string text;
  if (!trial::readFile(path, text))
    return Found::nothing;
  const std::string start = header + identity + "\n";
  if (text.compare(0, start.size(), start) != 0)
    return Found::others;
  text.erase(0, start.size());
  std::string line;
  for (size_t at = 0, end; (end = text.find('\n', at)) != std::string::npos;
       at = end + 1) {
    line = text.substr(at, end - at);
    std::string round, rows, name;
    if (take(line, '\t', round) && take(line, '\t', rows) &&
        take(line, '\t', name))
      entries[{name, std::atoll(rows.c_str()), std::atoi(round.c_str())}] =
          line;
  }
  return Found::results;
}

size_t Journal::countResults() const {
  size_t count = 0;
  for (const auto &[key, text] : entries)
    count += std::get<2>(key) >= leftOut;
  return count;
}

const std::string *Journal::find(const std::string &name, long long rows,
                                 int round) const {
  auto it = entries.find({name, rows, round});
  return it == entries.end() ? nullptr : &it->second;
}

std::string Journal::add(const std::string &name, long long rows, int round,
                         std::string text) {
  for (char &c : text)
    if (c == '\n' || c == '\t')
      c = ' ';
  entries[{name, rows, round}] = std::move(text);
  return save();
}

std::string Journal::save() const {
  std::string all = header + identity + "\n";
  for (const auto &[key, value] : entries)
    all += std::to_string(std::get<2>(key)) + "\t" +
           std::to_string(std::get<1>(key)) + "\t" + std::get<0>(key) + "\t" +
           value + "\n";
  return trial::writeFile(path, all);
}

void Journal::remove() { unlink(path.c_str()); }

} // namespace norm_tune
