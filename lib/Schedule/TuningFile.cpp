// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TuningFile.cpp - schedules that were measured ---------------------===//

#include "RMSNorm/Schedule/TuningFile.h"
#include "RMSNorm/Schedule/Select.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace mlir::rmsnorm;
namespace json = llvm::json;

/// Far more than the tuning of anything takes.
static constexpr uint64_t maxBytes = 64 << 20;

//===----------------------------------------------------------------------===//
// JSON
//===----------------------------------------------------------------------===//

namespace {
struct Rows {
  int64_t first, last;
};

struct JSONRecord {
  std::string target, program, schedule;
  Rows rows;
  // For people.
  std::string entry, device;
  double measuredRows, microseconds;
};

struct File {
  std::string format;
  int64_t version;
  std::vector<JSONRecord> records;
};

// Found by the namespace of their arguments.

bool fromJSON(const json::Value &value, Rows &rows, json::Path path) {
  const json::Array *pair = value.getAsArray();
  if (pair && pair->size() == 2) {
    const std::optional<int64_t> first = (*pair)[0].getAsInteger();
    const std::optional<int64_t> last =
        (*pair)[1].getAsNull() ? kAnyRows : (*pair)[1].getAsInteger();
    if (first && last && *first >= 0 && *last >= *first) {
      rows = {*first, *last};
      return true;
    }
  }
  path.report("expected [first, last] with 0 <= first <= last, or [first, "
              "null]");
  return false;
}

/// Fails if an object has a field that is not among `known`.
bool checkFields(const json::Value &value, ArrayRef<StringRef> known,
                 json::Path path) {
  if (const json::Object *object = value.getAsObject())
    for (const auto &field : *object)
      if (!llvm::is_contained(known, StringRef(field.first))) {
        path.field(field.first).report("unknown field");
        return false;
      }
  return true;
}

bool fromJSON(const json::Value &value, JSONRecord &record, json::Path path) {
  json::ObjectMapper object(value, path);
  return object &&
         checkFields(value,
                     {"target", "program", "rows", "schedule", "entry",
                      "device", "measured_rows", "microseconds"},
                     path) &&
         object.map("target", record.target) &&
         object.map("program", record.program) &&
         object.map("rows", record.rows) &&
         object.map("schedule", record.schedule) &&
         object.mapOptional("entry", record.entry) &&
         object.mapOptional("device", record.device) &&
         object.mapOptional("measured_rows", record.measuredRows) &&
         object.mapOptional("microseconds", record.microseconds);
}

bool fromJSON(const json::Value &value, File &file, json::Path path) {
  json::ObjectMapper object(value, path);
  if (!object || !object.map("format", file.format) ||
      !object.map("version", file.version))
    return false;
  if (file.format != "rmsnorm-tuning")
    path.field("format").report("expected \"rmsnorm-tuning\"");
  else if (file.version != 1)
    path.field("version").report("expected 1, the only version this compiler "
                                 "reads");
  else
    return checkFields(value, {"format", "version", "records"}, path) &&
           object.map("records", file.records);
  return false;
}
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

static llvm::Expected<File> readFile(StringRef path) {
  // Devices without end, and files that would take all memory.
  llvm::sys::fs::file_status status;
  if (std::error_code code = llvm::sys::fs::status(path, status))
    return llvm::createStringError(code, "cannot read the tuning file: " +
                                             code.message());
  if (status.type() != llvm::sys::fs::file_type::regular_file ||
      status.getSize() > maxBytes)
    return llvm::createStringError("expected a regular file of at most " +
                                   Twine(maxBytes) + " bytes as tuning file");
  auto buffer = llvm::MemoryBuffer::getFile(path);
  if (!buffer)
    return llvm::createStringError("cannot read the tuning file: " +
                                   buffer.getError().message());
  if (!isShallow((*buffer)->getBuffer()))
    return llvm::createStringError("expected the JSON of a tuning file: arrays "
                                   "or objects are nested more than 16 deep");
  llvm::Expected<File> file =
      json::parse<File>((*buffer)->getBuffer(), "tuning file");
  if (!file)
    return llvm::createStringError("expected the JSON of a tuning file: " +
                                   llvm::toString(file.takeError()));
  return file;
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

/// Whether `key` has today's facts, each with a number or "?", and perhaps some
/// of those that a key has where they are not the default.
static bool hasFacts(StringRef key) {
  SmallVector<StringRef> facts;
  key.split(facts, ',');
  const auto *next = facts.begin();
  auto take = [&](StringRef name, bool isOptional) {
    if (next == facts.end() || next->split('=').first != name)
      return isOptional;
    const StringRef value = next++->split('=').second;
    int64_t number;
    return value == "?" || !value.getAsInteger(10, number);
  };
  bool has = true;
#define RMSNORM_PROGRAM_FACT(Type, member, text, Default)                      \
  has = has && take(#text, /*isOptional=*/false);
#define RMSNORM_LATER_FACT(Type, member, text, Default)                        \
  has = has && take(#text, /*isOptional=*/true);
#include "RMSNorm/Schedule/ProgramFacts.def"
  return has && next == facts.end();
}

/// Why `text` is no schedule of this version; "" if it is one, in `schedule`.
static std::string readSchedule(StringRef text, ScheduleFields &schedule) {
  llvm::Expected<ScheduleFields> fields = ScheduleFields::parse(text);
  if (!fields)
    return llvm::toString(fields.takeError());
  if (!text.starts_with("#rmsnorm.schedule<"))
    return "expected it to begin with '#rmsnorm.schedule<'";
  schedule = *fields;
  std::optional<Refusal> refusal = schedule.check();
  return refusal ? refusal->getMessage() : "";
}

/// What is wrong with a record of the right form; "" if nothing is.
static std::string convert(const JSONRecord &read, TuningRecord &record) {
  record.target = read.target;
  record.program = read.program;
  record.firstRow = read.rows.first;
  record.lastRow = read.rows.last;
  // Other facts than today's: the record would match nothing, silently.
  if (!hasFacts(read.program))
    return "expected program to be like '" + getProgramKey(ProgramFacts()) +
           "', got '" + read.program + "': tune again with this version";
  const std::string why = readSchedule(read.schedule, record.schedule);
  return why.empty() ? ""
                     : "expected schedule to be a #rmsnorm.schedule of this "
                       "version, got '" +
                           read.schedule + "': " + why;
}

/// The second of two records that are for the same rows of one program, and the
/// first.
static std::optional<std::pair<TuningRecord, TuningRecord>>
findOverlap(std::vector<TuningRecord> records) {
  llvm::stable_sort(records, [](const TuningRecord &a, const TuningRecord &b) {
    return std::tie(a.target, a.program, a.firstRow) <
           std::tie(b.target, b.program, b.firstRow);
  });
  for (size_t i = 1; i < records.size(); ++i) {
    const TuningRecord &a = records[i - 1], &b = records[i];
    if (a.target == b.target && a.program == b.program &&
        b.firstRow <= a.lastRow)
      return std::pair(b, a);
  }
  return std::nullopt;
}

FailureOr<TuningTable> TuningTable::read(StringRef path, std::string &error) {
  TuningTable table;
  if (path.empty())
    return table;
  llvm::Expected<File> file = readFile(path);
  if (!file) {
    error = (path + ": " + llvm::toString(file.takeError())).str();
    return failure();
  }
  for (const JSONRecord &read : file->records) {
    TuningRecord record;
    record.place = (path + ": record " + Twine(table.records.size())).str();
    if (std::string why = convert(read, record); !why.empty()) {
      error = record.place + ": " + why;
      return failure();
    }
    table.records.push_back(std::move(record));
  }
  if (auto overlap = findOverlap(table.records)) {
    error = overlap->first.place +
            ": expected rows that no other record of this target and program "
            "is for, got some of " +
            overlap->second.place;
    return failure();
  }
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
