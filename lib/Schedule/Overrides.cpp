// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Overrides.cpp - fields of a schedule that are given ---------------===//

#include "Selectors.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

static constexpr StringLiteral kModes[] = {
    "multi_wave_cached", "multi_wave_reload", "static_persistent"};

/// The fields that may be given. What a variant is checked for, `alignment`,
/// is not for the user to say.
static SmallVector<StringRef> getFieldNames() {
  SmallVector<StringRef> names = {
#define RMSNORM_SCHEDULE_FIELD(Type, member, Getter, text, Default, Letter)    \
#text,
#include "RMSNorm/IR/ScheduleFields.def"
  };
  llvm::erase(names, "alignment");
  return names;
}

namespace {
class Overrider {
public:
  Overrider(ScheduleFields &fields, StringRef text, const ProgramFacts &facts,
            const ChipInfo &chip)
      : fields(fields), facts(facts), chip(chip),
        items(splitScheduleItems(text)) {}

  std::optional<Refusal> run();

private:
  bool isGiven(StringRef key) const {
    return llvm::any_of(items, [&](StringRef item) {
      return item.split('=').first.trim() == key;
    });
  }
  std::optional<Refusal> checkKeys();
  void setMode(StringRef mode);
  void followColumnSums();
  void followPersistence(const ScheduleFields &before);
  void followThreads(int64_t blockThreads);
  void followLoops(const ScheduleFields &before);

  ScheduleFields &fields;
  const ProgramFacts &facts;
  const ChipInfo &chip;
  SmallVector<StringRef> items;
};
} // namespace

static Refusal refuse(const Twine &expected, const Twine &got) {
  return {"", expected.str(), got.str()};
}

/// `error` is "expected ..., got ...".
static Refusal refuseAs(StringRef field, StringRef error) {
  error.consume_front("expected ");
  const auto [expected, got] = error.rsplit(", got ");
  return {field.str(), expected.str(), got.str()};
}

std::optional<Refusal> Overrider::checkKeys() {
  SmallVector<StringRef> given;
  for (StringRef item : items) {
    StringRef key = item.split('=').first.trim();
    if (!key.empty() && llvm::is_contained(given, key))
      return refuse("each field of the schedule once", "'" + key + "' twice");
    for (StringRef other : given)
      if (llvm::is_contained(kModes, key) && llvm::is_contained(kModes, other))
        return refuse("one mode", "'" + other + "' and '" + key + "'");
    given.push_back(key);
  }
  return std::nullopt;
}

void Overrider::setMode(StringRef mode) {
  if (mode == "static_persistent") {
    fields.blocksPerSM = std::max<int64_t>(fields.blocksPerSM, 1);
    return;
  }
  fields.cache = mode == "multi_wave_reload" ? Cache::reload : Cache::registers;
  fields.blocksPerSM = fields.stages = 0;
}

/// Sums that are taken in another way than was chosen have what goes with it:
/// the schedule of a loop of their own, and persistent blocks or one tile each.
void Overrider::followColumnSums() {
  if (!isGiven("sums"))
    fields.sums = getRuled(fields, facts, chip).sums;
  if (fields.columnSums == ColumnSums::registers && facts.numColumnSums > 0 &&
      !isGiven("blocks_per_sm"))
    fields.blocksPerSM = std::max<int64_t>(fields.blocksPerSM, 1);
  // Strips have no use for a ring that nobody asked for.
  if (fields.columnSums != ColumnSums::strips ||
      fields.cache != Cache::shared || isGiven("cache"))
    return;
  fields.cache = Cache::reload;
  fields.stages = 0;
  // Without a reduction the rows are nothing but sums, of persistent blocks.
  if (!isGiven("blocks_per_sm") && facts.numReductions > 0)
    fields.blocksPerSM = 0;
}

/// Persistent blocks that were asked for sum their rows up, where that was left
/// to others because rows are few.
void Overrider::followPersistence(const ScheduleFields &before) {
  const bool hasColumnBlocks =
      before.sums && before.sums->columnSums == ColumnSums::all_rows;
  if (!hasColumnBlocks || fields.blocksPerSM == 0 || isGiven("column_sums") ||
      isGiven("sums"))
    return;
  fields.columnSums = ColumnSums::registers;
  followColumnSums();
}

/// Row groups for a block of the size that was chosen, `blockThreads`; rows of
/// a part of a subgroup fill four.
void Overrider::followThreads(int64_t blockThreads) {
  const int64_t threads = std::max<int64_t>(1, fields.threadsPerRow);
  const bool isGroupsGiven = isGiven("row_groups");
  if (isGiven("threads_per_row") && !isGroupsGiven)
    fields.rowGroups =
        threads < chip.subgroupSize && !facts.singleRow
            ? 4 * chip.subgroupSize / threads
            : std::max<int64_t>(
                  1, std::min(fields.rowGroups, blockThreads / threads));
  // A row that several blocks share is not packed with others.
  if (fields.cluster > 1 && !isGroupsGiven)
    fields.rowGroups = 1;
  if (fields.cluster > 1 && !isGiven("rows_per_group"))
    fields.rowsPerGroup = 1;
}

/// When per-column operands are loaded was chosen for rows that are kept, and
/// blocks that last, as before.
void Overrider::followLoops(const ScheduleFields &before) {
  if (isGiven("column_operands") ||
      (fields.cache == before.cache && fields.cluster == before.cluster &&
       fields.blocksPerSM == before.blocksPerSM))
    return;
  fields.columnOperands = getRuled(fields, facts, chip).columnOperands;
  if (!isGiven("constants"))
    fields.constants = fields.getDefaultConstants();
}

std::optional<Refusal> Overrider::run() {
  if (std::optional<Refusal> refusal = checkKeys())
    return refusal;
  const ScheduleFields before = fields;
  const ScheduleFields ruled = getRuled(before, facts, chip);
  for (StringRef item : items) {
    auto [key, value] = item.split('=');
    key = key.trim();
    if (llvm::is_contained(kModes, item)) {
      setMode(item);
      continue;
    }
    if (!llvm::is_contained(getFieldNames(), key) || !item.contains('='))
      return refuse("a mode (" +
                        llvm::join(std::begin(kModes), std::end(kModes), ", ") +
                        ") or a field of the schedule (" +
                        llvm::join(getFieldNames(), ", ") + ") and its value",
                    "'" + item + "'");
    std::string error;
    if (!fields.set(key, value.trim(), error))
      return refuseAs(key, error);
    // A ring that nobody asked for goes with the cache it was chosen for.
    if (key == "cache" && fields.cache != Cache::shared && !isGiven("stages"))
      fields.stages = 0;
    if (key == "column_sums")
      followColumnSums();
  }
  followPersistence(before);
  followThreads(before.getBlockThreads());
  followLoops(before);
  // What followed a rule goes on following it.
#define RMSNORM_SCHEDULE_FIELD(Type, member, Getter, text, Default, Letter)    \
  if (!isGiven(#text) && before.member == ruled.member)                        \
    fields.member = getRuled(fields, facts, chip).member;
#include "RMSNorm/IR/ScheduleFields.def"
  return std::nullopt;
}

std::optional<Refusal> mlir::rmsnorm::applyOverrides(ScheduleFields &fields,
                                                     StringRef text,
                                                     const ProgramFacts &facts,
                                                     const ChipInfo &chip) {
  text = text.trim();
  if (text.empty())
    return std::nullopt;
  if (!text.starts_with("#rmsnorm.schedule"))
    return Overrider(fields, text, facts, chip).run();
  llvm::Expected<ScheduleFields> whole = ScheduleFields::parse(text);
  if (!whole)
    return refuseAs("", llvm::toString(whole.takeError()));
  fields = *whole;
  return std::nullopt;
}

std::optional<int64_t> mlir::rmsnorm::getGivenWidth(StringRef overrides) {
  std::optional<int64_t> width;
  if (overrides.trim().starts_with("#rmsnorm.schedule"))
    return width;
  for (StringRef item : splitScheduleItems(overrides)) {
    const auto [key, value] = item.split('=');
    if (key.trim() == "threads_per_row")
      return std::nullopt;
    int64_t number;
    if (key.trim() == "vector_width" &&
        !value.trim().getAsInteger(10, number) && number > 0 &&
        number <= kMaxVectorWidth && llvm::isPowerOf2_64(number))
      width = number;
  }
  return width;
}

OrRefusal<std::string> mlir::rmsnorm::getLoopOverrides(StringRef overrides,
                                                       size_t loop,
                                                       size_t count) {
  SmallVector<StringRef> schedules;
  overrides.split(schedules, ';');
  if (schedules.size() == 1)
    return overrides.str();
  if (schedules.size() != count)
    return Refusal{"",
                   "one schedule or one for each of " + std::to_string(count) +
                       " loops over rows",
                   std::to_string(schedules.size())};
  return schedules[loop].trim().str();
}
