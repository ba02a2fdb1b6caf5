// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Baseline.cpp - results of before ----------------------------------===//

#include "Baseline.h"
#include "../trial/Files.h"
#include "../trial/Options.h"

#include <flatbuffers/util.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace norm_bench {

namespace {

/// A value of JSON. Numbers are texts.
struct Value {
  enum class Kind { none, text, number, object, array } kind = Kind::none;
  std::string text;
  std::vector<std::pair<std::string, Value>> members; // of arrays without names

  const Value *find(const char *name) const {
    for (const auto &member : members)
      if (kind == Kind::object && member.first == name)
        return &member.second;
    return nullptr;
  }
  std::string getText(const char *name) const {
    const Value *value = find(name);
    return value && value->kind == Kind::text ? value->text : "";
  }
};

class Parser {
public:
  explicit Parser(const std::string &text) : text(text) {}

  bool parseAll(Value &value) {
    if (!parse(value, 0))
      return false;
    skipSpace();
    return at == text.size();
  }

private:
  void skipSpace() {
    while (at < text.size() && std::strchr(" \t\r\n", text[at]) && text[at])
      ++at;
  }
  bool take(char c) {
    skipSpace();
    if (at >= text.size() || text[at] != c)
      return false;
    ++at;
    return true;
  }
  bool parseString(std::string &out) {
    if (!take('"'))
      return false;
    for (; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] != '\\') {
        out += text[at];
        continue;
      }
      if (++at >= text.size())
        return false;
      static const char names[] = "bfnrt", meant[] = "\b\f\n\r\t";
      if (text[at] == 'u') {
        if (!parseUnicode(out))
          return false;
      } else if (const char *found = std::strchr(names, text[at])) {
        out += meant[found - names];
      } else {
        out += text[at];
      }
    }
    return take('"');
  }
  /// The characters after a backslash: "u00e9", or two of them for one
  /// character.
  bool parseUnicode(std::string &out) {
    auto takeUnit = [&](uint32_t &unit) {
      const std::string digits = text.substr(at + 1, 4);
      char *rest = nullptr;
      unit = uint32_t(std::strtoul(digits.c_str(), &rest, 16));
      at += 4;
      return digits.size() == 4 && !*rest;
    };
    uint32_t high, low;
    if (!takeUnit(high))
      return false;
    if (high >= 0xd800 && high < 0xdc00) {
      if (text.compare(at + 1, 2, "\\u") != 0)
        return false;
      at += 2;
      if (!takeUnit(low))
        return false;
      high = 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
    }
    return flatbuffers::ToUTF8(high, &out) > 0;
  }
  bool parse(Value &value, int depth) {
    if (depth > 16)
      return false;
    skipSpace();
    if (at >= text.size())
      return false;
    const char c = text[at];
    if (c == '"') {
      value.kind = Value::Kind::text;
      return parseString(value.text);
    }
    if (c == '{' || c == '[') {
      const bool isObject = c == '{';
      value.kind = isObject ? Value::Kind::object : Value::Kind::array;
      const char end = isObject ? '}' : ']';
      ++at;
      if (take(end))
        return true;
      do {
        value.members.emplace_back();
        auto &[name, content] = value.members.back();
        if (isObject && !(parseString(name) && take(':')))
          return false;
        if (!parse(content, depth + 1))
          return false;
      } while (take(','));
      return take(end);
    }
    value.kind = Value::Kind::number;
    while (at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) ||
            (text[at] && std::strchr("+-.", text[at]))))
      value.text += text[at++];
    return !value.text.empty();
  }

  const std::string &text;
  size_t at = 0;
};

} // namespace

std::string Baseline::read(const std::string &path, const std::string &device) {
  std::string text;
  if (!trial::readFile(path, text))
    return path + ": " + std::strerror(errno);

  Value all;
  const std::string expected =
      path + ": expected what norm-bench --json writes";
  if (!Parser(text).parseAll(all) || all.getText("format") != "rmsnorm-bench")
    return expected;
  const std::string was = all.getText("device");
  if (was != device)
    return path + ": expected times of " + device + ", got those of " + was;
  const Value *results = all.find("results");
  if (!results || results->kind != Value::Kind::array)
    return expected + ", got no results";
  for (const auto &member : results->members) {
    const Value &result = member.second;
    Record record = {result.getText("file"), result.getText("entry"),
                     result.getText("shape"), 0};
    const Value *time = result.find("microseconds");
    if (record.entry.empty() || !time ||
        !trial::parseNumber(time->text, record.microseconds) ||
        record.microseconds <= 0)
      return expected + ", got a result without an entry or a time";
    records.push_back(std::move(record));
  }
  return "";
}

double Baseline::find(const std::string &file, const std::string &entry,
                      const std::string &shape, bool isAlone) {
  isAlone = isAlone && std::all_of(records.begin(), records.end(),
                                   [&](const Record &record) {
                                     return record.file == records[0].file;
                                   });
  for (Record &record : records)
    if (record.entry == entry && record.shape == shape &&
        (isAlone || record.file == file)) {
      record.found = true;
      return record.microseconds;
    }
  return -1;
}

size_t Baseline::countOthers() const {
  return size_t(std::count_if(records.begin(), records.end(),
                              [](const Record &r) { return !r.found; }));
}

} // namespace norm_bench
