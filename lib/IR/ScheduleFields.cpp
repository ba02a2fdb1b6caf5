// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScheduleFields.cpp - what a #rmsnorm.schedule says ----------------===//

#include "RMSNorm/IR/ScheduleFields.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

NestedSchedule::NestedSchedule(const ScheduleFields &fields)
    : fields(std::make_shared<const ScheduleFields>(fields)) {}

bool NestedSchedule::operator==(const NestedSchedule &other) const {
  if (!fields || !other.fields)
    return !fields && !other.fields;
  return *fields == *other.fields;
}

bool ScheduleFields::operator==(const ScheduleFields &other) const {
#define RMSNORM_SCHEDULE_FIELD(Type, member, Getter, text, Default, Letter)    \
  if (!(member == other.member))                                               \
    return false;
#include "RMSNorm/IR/ScheduleFields.def"
  return true;
}

static llvm::hash_code hashField(const NestedSchedule &nested) {
  return nested ? hash_value(*nested) : llvm::hash_code(0);
}
template <typename T> static llvm::hash_code hashField(T value) {
  return llvm::hash_value(value);
}

llvm::hash_code rmsnorm::hash_value(const ScheduleFields &fields) {
  llvm::hash_code hash = 0;
#define RMSNORM_SCHEDULE_FIELD(Type, member, Getter, text, Default, Letter)    \
  hash = llvm::hash_combine(hash, hashField(fields.member));
#include "RMSNorm/IR/ScheduleFields.def"
  return hash;
}

std::string Refusal::getMessage() const {
  return (place.empty() ? "" : place + ": ") + "expected " + expected +
         (got.empty() ? "" : ", got " + got);
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

namespace {
/// The text of fields of a type: reads it, prints it, lists the possible
/// values.
template <typename T> struct FieldText {
  static bool parse(StringRef text, T &value) {
    std::optional<T> found = symbolizeEnum<T>(text);
    if (found)
      value = *found;
    return found.has_value();
  }
  static void print(raw_ostream &os, T value) { os << stringifyEnum(value); }
  static std::string describe() {
    SmallVector<StringRef> names;
    for (uint32_t i = 0; !stringifyEnum(static_cast<T>(i)).empty(); ++i)
      names.push_back(stringifyEnum(static_cast<T>(i)));
    StringRef last = names.pop_back_val();
    return (llvm::join(names, ", ") + " or " + last).str();
  }
};
template <> struct FieldText<int64_t> {
  static bool parse(StringRef text, int64_t &value) {
    return !text.getAsInteger(10, value);
  }
  static void print(raw_ostream &os, int64_t value) { os << value; }
  static std::string describe() { return "an integer"; }
};
template <> struct FieldText<bool> {
  static bool parse(StringRef text, bool &value) {
    value = text == "true";
    return value || text == "false";
  }
  static void print(raw_ostream &os, bool value) {
    os << (value ? "true" : "false");
  }
  static std::string describe() { return "true or false"; }
};
template <> struct FieldText<NestedSchedule> {
  static bool parse(StringRef text, NestedSchedule &value) {
    // None has another in turn.
    if (!text.starts_with("<") || text.count('<') > 1)
      return false;
    llvm::Expected<ScheduleFields> fields = ScheduleFields::parse(text);
    if (!fields) {
      llvm::consumeError(fields.takeError());
      return false;
    }
    value = *fields;
    return true;
  }
  static void print(raw_ostream &os, const NestedSchedule &value) {
    if (!value)
      return;
    os << '<';
    value->print(os);
    os << '>';
  }
  static std::string describe() { return "a schedule, <field = value, ...>"; }
};
} // namespace

SmallVector<StringRef> rmsnorm::splitScheduleItems(StringRef text) {
  SmallVector<StringRef> items;
  size_t begin = 0;
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    depth += text[i] == '<' ? 1 : text[i] == '>' ? -1 : 0;
    if (text[i] != ',' || depth > 0)
      continue;
    items.push_back(text.slice(begin, i).trim());
    begin = i + 1;
  }
  items.push_back(text.drop_front(begin).trim());
  return items;
}

bool ScheduleFields::set(StringRef key, StringRef value, std::string &error) {
#define RMSNORM_SCHEDULE_FIELD(Type, member, Getter, text, Default, Letter)    \
  if (key == #text) {                                                          \
    if (FieldText<Type>::parse(value, member))                                 \
      return true;                                                             \
    error = ("expected " #text " to be " + FieldText<Type>::describe() +       \
             ", got '" + value + "'")                                          \
                .str();                                                        \
    return false;                                                              \
  }
#include "RMSNorm/IR/ScheduleFields.def"
  error = ("expected a field of the schedule (" + getNames() + "), got '" +
           key + "'")
              .str();
  return false;
}

llvm::Expected<ScheduleFields> ScheduleFields::parse(StringRef text) {
  auto fail = [](const Twine &message) {
    return llvm::createStringError(message.str());
  };
  text = text.trim();
  StringRef inner = text;
  inner.consume_front("#rmsnorm.schedule");
  if (inner.consume_front("<") && !inner.consume_back(">"))
    return fail("expected '>' at the end of a schedule, got '" + text + "'");
  ScheduleFields fields;
  SmallVector<StringRef> given;
  for (StringRef item : splitScheduleItems(inner)) {
    auto [key, value] = item.split('=');
    key = key.trim();
    if (llvm::is_contained(given, key))
      return fail("expected each field of the schedule once, got '" + key +
                  "' twice");
    given.push_back(key);
    std::string error;
    if (!fields.set(key, value.trim(), error))
      return fail(error);
  }
#define RMSNORM_SCHEDULE_FIELD(Type, member, Getter, text, Default, Letter)    \
  if (!llvm::is_contained(given, #text))                                       \
    fields.member = fields.getDefault##Getter();
#define RMSNORM_SCHEDULE_REQUIRED_FIELD(Type, member, Getter, text, Default,   \
                                        Letter)                                \
  if (!llvm::is_contained(given, #text))                                       \
    return fail("expected a schedule with " #text);
#include "RMSNorm/IR/ScheduleFields.def"
  return fields;
}

void ScheduleFields::print(raw_ostream &os) const {
  llvm::ListSeparator separator;
#define RMSNORM_SCHEDULE_REQUIRED_FIELD(Type, member, Getter, text, Default,   \
                                        Letter)                                \
  os << separator << #text " = ";                                              \
  FieldText<Type>::print(os, member);
#define RMSNORM_SCHEDULE_FIELD(Type, member, Getter, text, Default, Letter)    \
  if (member != getDefault##Getter()) {                                        \
    os << separator << #text " = ";                                            \
    FieldText<Type>::print(os, member);                                        \
  }
#include "RMSNorm/IR/ScheduleFields.def"
}

std::string ScheduleFields::getNames() {
  static constexpr StringLiteral names[] = {
#define RMSNORM_SCHEDULE_FIELD(Type, member, Getter, text, Default, Letter)    \
#text,
#include "RMSNorm/IR/ScheduleFields.def"
  };
  return llvm::join(std::begin(names), std::end(names), ", ");
}

//===----------------------------------------------------------------------===//
// Limits
//===----------------------------------------------------------------------===//

std::optional<Refusal> ScheduleFields::check() const {
  // Both ends: the work of a thread is unrolled, and products of fields must
  // not overflow before the target's own limits are checked.
  std::optional<Refusal> refusal;
  auto refuse = [&](StringRef field, const Twine &expected, const Twine &got) {
    if (!refusal)
      refusal = Refusal{field.str(), expected.str(), got.str()};
  };
  auto within = [&](StringRef field, int64_t value, int64_t minimum,
                    int64_t maximum) {
    if (value < minimum)
      refuse(field, field + " >= " + Twine(minimum), Twine(value));
    if (value > maximum)
      refuse(field, field + " <= " + Twine(maximum), Twine(value));
  };
  auto powerOfTwo = [&](StringRef field, int64_t value, int64_t maximum) {
    if (value < 1 || value > maximum || !llvm::isPowerOf2_64(value))
      refuse(field, field + " to be a power of two up to " + Twine(maximum),
             Twine(value));
  };
  // A ring exists to be filled while another tile is worked on.
  if (stages >= 2 && (cache != Cache::shared || blocksPerSM < 1))
    refuse("stages", "cache = shared and blocks_per_sm >= 1 where stages >= 2",
           "cache = " + stringifyCache(cache) + ", blocks_per_sm = " +
               Twine(blocksPerSM) + " and stages = " + Twine(stages));
  within("row_groups", rowGroups, 1, 1024);
  within("rows_per_group", rowsPerGroup, 1, 16);
  within("threads_per_row", threadsPerRow, 1, 1 << 16);
  powerOfTwo("vector_width", vectorWidth, 16);
  within("vectors_in_flight", vectorsInFlight, 1, 16);
  powerOfTwo("alignment", alignment, 16);
  powerOfTwo("cluster", cluster, 16);
  within("blocks_per_sm", blocksPerSM, 0, 64);
  // Three or four slots hide memory; this only catches mistakes.
  within("stages", stages, 0, 8);
  within("unrolled", unrolled, 0, 64);
  within("sum_lanes", sumLanes, 1, 1024);
  powerOfTwo("sum_walkers", sumWalkers, 1024);
  within("sum_in_flight", sumInFlight, 1, 16);
  within("sm_margin", smMargin, 0, 1 << 16);
  if (cache == Cache::reload && columnOperands == ColumnOperands::block)
    refuse("column_operands",
           "column_operands = use, tile or awaited where cache = reload",
           "block");
  if (cache == Cache::shared && stages < 2 &&
      columnOperands == ColumnOperands::block)
    refuse("column_operands",
           "column_operands = use, tile or awaited where cache = shared and "
           "stages < 2",
           "block");
  if (constants == Constants::block && cache != Cache::registers &&
      columnOperands != ColumnOperands::block)
    refuse("constants",
           "constants = as_columns but in registers or where column_operands = "
           "block",
           "block");
  if (split && (cluster == 1 || stages < 3))
    refuse("split", "split = false but in a cluster with stages >= 3",
           "cluster = " + Twine(cluster) + " and stages = " + Twine(stages));
  if (!sums)
    return refusal;
  if (columnSums != ColumnSums::strips)
    refuse("sums", "sums with column_sums = strips only",
           stringifyColumnSums(columnSums));
  if (sums->sums || !sums->hasStrips())
    refuse("sums",
           "sums with column_sums = strips or all_rows and no sums of its own",
           "");
  if (!refusal && (refusal = sums->check()))
    refusal->place = "sums";
  return refusal;
}

//===----------------------------------------------------------------------===//
// What follows from the fields
//===----------------------------------------------------------------------===//

int64_t ScheduleFields::getPartColumns(int64_t columns) const {
  if (cluster == 1)
    return columns;
  return llvm::divideCeil(columns, cluster * vectorWidth) * vectorWidth;
}

StringRef ScheduleFields::getMode() const {
  if (columnSums == ColumnSums::all_rows)
    return "sum_rows";
  if (columnSums == ColumnSums::strips)
    return "column_strips";
  if (blocksPerSM)
    return "static_persistent";
  return cache == Cache::reload ? "multi_wave_reload" : "multi_wave_cached";
}

namespace {
/// Where a field stands in a kernel's name, see ScheduleFields.def.
struct Letter {
  StringLiteral text;
  bool isAlways;
};
} // namespace

static constexpr Letter always(StringLiteral text) { return {text, true}; }
static constexpr Letter differs(StringLiteral text) { return {text, false}; }
static constexpr Letter unnamed = {"", false};

template <typename T>
static void addToName(raw_ostream &os, Letter letter, const T &value,
                      const T &otherwise) {
  if (letter.text.empty() || (!letter.isAlways && value == otherwise))
    return;
  os << letter.text;
  if constexpr (std::is_same_v<T, bool>)
    os << (value ? "" : "0");
  else
    FieldText<T>::print(os, value);
}

std::string ScheduleFields::getKernelSuffix() const {
  std::string name = (getMode() + "_").str();
  llvm::raw_string_ostream os(name);
#define RMSNORM_SCHEDULE_FIELD(Type, member, Getter, text, Default, Letter)    \
  addToName<Type>(os, Letter, member, getDefault##Getter());
#include "RMSNorm/IR/ScheduleFields.def"
  if (cache == Cache::shared)
    os << "_s" << getRingSlots();
  return name;
}
