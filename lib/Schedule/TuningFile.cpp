// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TuningFile.cpp - schedules that were measured ---------------------===//

#include "RMSNorm/Schedule/TuningFile.h"
#include "RMSNorm/Schedule/Select.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::rmsnorm;
namespace json = llvm::json;

/// Far more than the tuning of anything takes.
static constexpr uint64_t maxBytes = 64 << 20;

static const char *getKind(const json::Value &value) {
  switch (value.kind()) {
  case json::Value::Null:
    return "null";
  case json::Value::Boolean:
    return "a boolean";
  case json::Value::Number:
    return "a number";
  case json::Value::String:
    return "a string";
  case json::Value::Array:
    return "an array";
  case json::Value::Object:
    return "an object";
  }
  llvm_unreachable("all kinds are handled");
}

namespace {

/// Writes a message to where the reader's caller wants it; turns into failure.
class Message {
public:
  Message(std::string &text, StringRef place) : text(text) {
    text = (place + ": ").str();
  }
  template <typename T> Message &operator<<(const T &value) {
    llvm::raw_string_ostream(text) << value;
    return *this;
  }
  operator LogicalResult() const { return failure(); }
  template <typename T> operator FailureOr<T>() const { return failure(); }

private:
  std::string &text;
};

class TuningFileReader {
public:
  TuningFileReader(StringRef path, std::string &message)
      : path(path), message(message) {}

  FailureOr<std::vector<TuningRecord>> read();

private:
  Message error() { return {message, path}; }
  Message error(const TuningRecord &record) { return {message, record.place}; }
  FailureOr<json::Value> parse();
  /// Fails if `object` has a field that is not among `known`.
  LogicalResult checkFields(const json::Object &object,
                            ArrayRef<StringRef> known,
                            function_ref<Message()> error);
  LogicalResult readRecord(const json::Object &object, TuningRecord &record);
  LogicalResult readRows(const json::Value &rows, TuningRecord &record);
  LogicalResult readSchedule(StringRef text, TuningRecord &record);
  LogicalResult checkDistinct(const std::vector<TuningRecord> &records);

  StringRef path;
  std::string &message;
};

} // namespace

/// Whether arrays and objects are nested no deeper than a tuning file's: the
/// parser recurses.
static bool isShallow(StringRef text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted) {
      i += c == '\\';
      quoted = c != '"';
    } else if (c == '"') {
      quoted = true;
    } else if (c == '[' || c == '{') {
      if (++depth > 16)
        return false;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return true;
}

FailureOr<json::Value> TuningFileReader::parse() {
  // Devices without end, and files that would take all memory.
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(path, status))
    return error() << "cannot read the tuning file: " << code.message();
  if (status.type() != llvm::sys::fs::file_type::regular_file ||
      status.getSize() > maxBytes)
    return error() << "expected a regular file of at most " << maxBytes
                   << " bytes as tuning file";
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return error() << "cannot read the tuning file: "
                   << file.getError().message();
  StringRef text = (*file)->getBuffer();
  if (!isShallow(text))
    return error() << "expected the JSON of a tuning file, got arrays or "
                      "objects nested more than 16 deep";
  llvm::Expected<json::Value> value = json::parse(text);
  if (!value)
    return error() << "expected JSON: " << llvm::toString(value.takeError());
  return std::move(*value);
}

LogicalResult TuningFileReader::checkFields(const json::Object &object,
                                            ArrayRef<StringRef> known,
                                            function_ref<Message()> error) {
  for (const auto &[key, value] : object)
    if (!llvm::is_contained(known, StringRef(key)))
      return error() << "unknown field '" << StringRef(key) << "'; expected "
                     << llvm::join(known, ", ");
  return success();
}

LogicalResult TuningFileReader::readRows(const json::Value &rows,
                                         TuningRecord &record) {
  const json::Array *pair = rows.getAsArray();
  std::optional<int64_t> first, last;
  if (pair && pair->size() == 2) {
    first = (*pair)[0].getAsInteger();
    last = (*pair)[1].getAsInteger();
    if ((*pair)[1].getAsNull())
      last = kAnyRows;
  }
  if (!first || !last || *first < 0 || *last < *first)
    return error(record) << "expected rows to be [first, last] with 0 <= first "
                            "<= last, or [first, null]";
  record.firstRow = *first;
  record.lastRow = *last;
  return success();
}

LogicalResult TuningFileReader::readSchedule(StringRef text,
                                             TuningRecord &record) {
  llvm::Expected<ScheduleFields> schedule = ScheduleFields::parse(text);
  std::string why;
  if (!schedule)
    why = llvm::toString(schedule.takeError());
  else if (!text.starts_with("#rmsnorm.schedule<"))
    why = "expected it to begin with '#rmsnorm.schedule<'";
  else if (std::optional<Refusal> refusal = schedule->check())
    why = refusal->getMessage();
  if (!why.empty())
    return error(record) << "expected schedule to be a #rmsnorm.schedule of "
                            "this version, got '"
                         << text << "': " << why;
  record.schedule = *schedule;
  return success();
}

/// Whether `key` has the facts that `today` has, each with a number or "?".
static bool hasFacts(StringRef key, StringRef today) {
  SmallVector<StringRef> facts, names;
  key.split(facts, ',');
  today.split(names, ',');
  return llvm::equal(facts, names, [](StringRef fact, StringRef like) {
    auto [name, value] = fact.split('=');
    int64_t number;
    return name == like.split('=').first &&
           (value == "?" || !value.getAsInteger(10, number));
  });
}

LogicalResult TuningFileReader::readRecord(const json::Object &object,
                                           TuningRecord &record) {
  auto here = [&] { return error(record); };
  if (failed(checkFields(object,
                         {"target", "program", "rows", "schedule", "entry",
                          "device", "measured_rows", "microseconds"},
                         here)))
    return failure();
  std::string schedule;
  std::pair<StringRef, std::string *> strings[] = {{"target", &record.target},
                                                   {"program", &record.program},
                                                   {"schedule", &schedule}};
  for (auto &[name, text] : strings) {
    const json::Value *value = object.get(name);
    if (!value)
      return error(record) << "expected a field '" << name << "'";
    if (!value->getAsString())
      return error(record) << "expected " << name << " to be a string, got "
                           << getKind(*value);
    *text = value->getAsString()->str();
  }
  // Other facts than today's: the record would match nothing, silently.
  const std::string today = getProgramKey(ProgramFacts());
  if (!hasFacts(record.program, today))
    return error(record) << "expected program to be like '" << today
                         << "', got '" << record.program
                         << "': tune again with this version";
  for (StringRef name : {"entry", "device"})
    if (const json::Value *value = object.get(name);
        value && !value->getAsString())
      return error(record) << "expected " << name << " to be a string, got "
                           << getKind(*value);
  for (StringRef name : {"measured_rows", "microseconds"})
    if (const json::Value *value = object.get(name);
        value && !value->getAsNumber())
      return error(record) << "expected " << name << " to be a number, got "
                           << getKind(*value);
  const json::Value *rows = object.get("rows");
  if (!rows)
    return error(record) << "expected a field 'rows'";
  if (failed(readRows(*rows, record)) || failed(readSchedule(schedule, record)))
    return failure();
  return success();
}

LogicalResult
TuningFileReader::checkDistinct(const std::vector<TuningRecord> &records) {
  std::vector<const TuningRecord *> sorted;
  for (const TuningRecord &record : records)
    sorted.push_back(&record);
  llvm::stable_sort(sorted, [](const TuningRecord *a, const TuningRecord *b) {
    return std::tie(a->target, a->program, a->firstRow) <
           std::tie(b->target, b->program, b->firstRow);
  });
  for (size_t i = 1; i < sorted.size(); ++i) {
    const TuningRecord &a = *sorted[i - 1], &b = *sorted[i];
    if (a.target == b.target && a.program == b.program &&
        b.firstRow <= a.lastRow)
      return error(b) << "expected rows that no other record of this target "
                         "and program is for, got some of "
                      << a.place;
  }
  return success();
}

FailureOr<std::vector<TuningRecord>> TuningFileReader::read() {
  FailureOr<json::Value> value = parse();
  if (failed(value))
    return failure();
  const json::Object *root = value->getAsObject();
  if (!root || root->getString("format") != StringRef("rmsnorm-tuning"))
    return error() << "expected a tuning file, an object with \"format\": "
                      "\"rmsnorm-tuning\"";
  if (root->getInteger("version") != std::optional<int64_t>(1))
    return error() << "expected \"version\": 1, the only one this compiler "
                      "reads";
  if (failed(checkFields(*root, {"format", "version", "records"},
                         [&] { return error(); })))
    return failure();
  const json::Array *array = root->getArray("records");
  if (!array)
    return error() << "expected an array 'records'";
  std::vector<TuningRecord> records;
  for (const json::Value &element : *array) {
    TuningRecord record;
    record.place = (path + ": record " + Twine(records.size())).str();
    const json::Object *object = element.getAsObject();
    if (!object)
      return error(record) << "expected an object, got " << getKind(element);
    if (failed(readRecord(*object, record)))
      return failure();
    records.push_back(std::move(record));
  }
  if (failed(checkDistinct(records)))
    return failure();
  return records;
}

FailureOr<TuningTable> TuningTable::read(StringRef path, std::string &error) {
  TuningTable table;
  if (path.empty())
    return table;
  FailureOr<std::vector<TuningRecord>> records =
      TuningFileReader(path, error).read();
  if (failed(records))
    return failure();
  table.records = std::move(*records);
  return table;
}

std::vector<TuningRecord> TuningTable::select(TargetAttr target,
                                              StringRef program) const {
  std::vector<TuningRecord> selected;
  auto add = [&](StringRef spelling) {
    for (const TuningRecord &record : records)
      if (record.target == spelling && record.program == program)
        selected.push_back(record);
  };
  add(target.getSpelling());
  if (selected.empty())
    add(target.getChip());
  llvm::sort(selected, [](const TuningRecord &a, const TuningRecord &b) {
    return a.firstRow < b.firstRow;
  });
  return selected;
}

std::set<std::string> TuningTable::getTargets() const {
  std::set<std::string> targets;
  for (const TuningRecord &record : records)
    targets.insert(record.target);
  return targets;
}
