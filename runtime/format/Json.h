//===- Json.h - writes JSON -----------------------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For the runtime and for tools that link nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_FORMAT_JSON_H
#define RMSNORM_FORMAT_JSON_H

#include <flatbuffers/util.h>

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>

namespace rmsnorm::json {

/// A string of ASCII. Names in files may be any bytes. If one is no UTF-8, each
/// byte that is not ASCII becomes a question mark.
inline std::string quote(const std::string &text) {
  std::string quoted;
  if (flatbuffers::EscapeString(text.data(), text.size(), &quoted,
                                /*allow_non_utf8=*/false,
                                /*natural_utf8=*/false))
    return quoted;
  std::string ascii = text;
  for (char &c : ascii)
    if (static_cast<unsigned char>(c) >= 0x80)
      c = '?';
  quoted.clear();
  flatbuffers::EscapeString(ascii.data(), ascii.size(), &quoted, false, false);
  return quoted;
}

/// Objects and arrays one inside another, a line for each of their elements.
/// Arrays that are begun with beginRow stand on one line.
class Writer {
public:
  void beginObject() { begin('{'); }
  void endObject() { end('}'); }
  void beginArray() { begin('['); }
  void endArray() { end(']'); }
  void beginRow() {
    begin('[');
    inRow = true;
  }
  void endRow() {
    inRow = false;
    --depth;
    first = false;
    out += ']';
  }

  void key(const char *name) {
    element();
    out += quote(name) + ": ";
    afterKey = true;
  }

  void value(const std::string &text) { raw(quote(text)); }
  void value(const char *text) { raw(quote(text)); }
  void value(bool flag) { raw(flag ? "true" : "false"); }
  void value(int64_t number) { raw(std::to_string(number)); }
  void value(uint64_t number) { raw(std::to_string(number)); }
  void value(uint32_t number) { raw(std::to_string(number)); }
  void value(int32_t number) { raw(std::to_string(number)); }
  /// JSON has neither infinities nor NaN.
  void value(double number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.9g", number);
    raw(std::isfinite(number) ? text : "null");
  }
  void null() { raw("null"); }
  template <typename T> void field(const char *name, const T &content) {
    key(name);
    value(content);
  }

  /// The text since the last call.
  std::string take() {
    std::string text = std::move(out);
    out.clear();
    return text;
  }
  size_t size() const { return out.size(); }

private:
  void element() {
    if (afterKey) {
      afterKey = false;
      return;
    }
    if (!first)
      out += inRow ? ", " : ",";
    if (!inRow && depth > 0)
      out.append(1, '\n').append(2 * depth, ' ');
    first = false;
  }
  void raw(const std::string &text) {
    element();
    out += text;
  }
  void begin(char bracket) {
    element();
    out += bracket;
    ++depth;
    first = true;
  }
  void end(char bracket) {
    --depth;
    if (!first)
      out.append(1, '\n').append(2 * depth, ' ');
    out += bracket;
    if (depth == 0)
      out += '\n';
    first = false;
  }

  std::string out;
  size_t depth = 0;
  bool first = true, afterKey = false, inRow = false;
};

} // namespace rmsnorm::json

#endif // RMSNORM_FORMAT_JSON_H
