// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScheduleFields.h - what a #rmsnorm.schedule says ------------------===//
//
// A plain value that needs no context. Selection computes with it, and the
// attribute holds it. The fields are in ScheduleFields.def.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_IR_SCHEDULEFIELDS_H
#define RMSNORM_IR_SCHEDULEFIELDS_H

#include "RMSNorm/IR/Enums.h"

#include "llvm/ADT/Hashing.h"
#include "llvm/Support/Error.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

namespace mlir::rmsnorm {

struct ScheduleFields;

/// A schedule in a field of another, or none. A value: copied and compared as
/// such.
class NestedSchedule {
public:
  NestedSchedule() = default;
  NestedSchedule(const ScheduleFields &fields);

  explicit operator bool() const { return bool(fields); }
  const ScheduleFields &operator*() const { return *fields; }
  const ScheduleFields *operator->() const { return fields.get(); }
  bool operator==(const NestedSchedule &other) const;
  bool operator!=(const NestedSchedule &other) const {
    return !(*this == other);
  }

private:
  std::shared_ptr<const ScheduleFields> fields;
};

/// Why a schedule is refused: the condition on a field, and the field's value.
struct Refusal {
  /// As the text spells it, "threads_per_row"; empty if it is not one alone.
  std::string field;
  /// "at most 1024 threads a block on sm_90".
  std::string expected;
  /// "2048"; empty if `expected` says it all.
  std::string got;
  /// Where it was asked for, "FILE: record 3"; empty if it was chosen here.
  std::string place = "";

  /// "expected at most 1024 threads a block on sm_90, got 2048".
  std::string getMessage() const;
};

/// A value, or why there is none.
template <typename T> class OrRefusal {
public:
  OrRefusal(T value) : value(std::move(value)) {}
  OrRefusal(Refusal refusal) : why(std::move(refusal)) {}

  explicit operator bool() const { return value.has_value(); }
  T &operator*() { return *value; }
  T *operator->() { return &*value; }
  const Refusal &getRefusal() const { return why; }

private:
  std::optional<T> value;
  Refusal why;
};

struct ScheduleFields {
#define RMSNORM_SCHEDULE_FIELD(Type, member, Getter, text, Default, Letter)    \
  Type member = Default;
#include "RMSNorm/IR/ScheduleFields.def"

  /// The value of each field that the text leaves out, given the fields above.
#define RMSNORM_SCHEDULE_FIELD(Type, member, Getter, text, Default, Letter)    \
  Type getDefault##Getter() const { return Default; }
#include "RMSNorm/IR/ScheduleFields.def"

  bool operator==(const ScheduleFields &other) const;
  bool operator!=(const ScheduleFields &other) const {
    return !(*this == other);
  }

  /// Sets the field that the text spells `key`. Returns false and says why in
  /// `error` if there is none, or if `value` is none of its values.
  bool set(StringRef key, StringRef value, std::string &error);
  /// Reads "threads_per_row = 64, vector_width = 8", as print writes it; with
  /// or without "#rmsnorm.schedule<" and ">" around it.
  static llvm::Expected<ScheduleFields> parse(StringRef text);
  /// Writes "threads_per_row = 64, vector_width = 8": all that is required or
  /// not the default.
  void print(raw_ostream &os) const;
  /// "row_groups, rows_per_group, ..." for messages.
  static std::string getNames();

  /// The reason why no target and no program takes the schedule, if there is
  /// one.
  std::optional<Refusal> check() const;

  /// Whether a block owns a strip of columns.
  bool hasStrips() const { return columnSums != ColumnSums::registers; }
  /// Rows of one tile.
  int64_t getTileRows() const { return rowGroups * rowsPerGroup; }
  /// Threads of a block.
  int64_t getBlockThreads() const { return rowGroups * threadsPerRow; }
  /// Columns of every rank's part of a row of `columns`. The last ranks have
  /// the rest, which may be nothing.
  int64_t getPartColumns(int64_t columns) const;
  /// Tiles that workgroup memory holds at once, of one buffer.
  int64_t getRingSlots() const { return std::max<int64_t>(stages, 1); }
  /// Columns of the strip that a block owns, if column_sums = strips.
  int64_t getStripColumns() const { return threadsPerRow * vectorWidth; }
  /// The mode's name: multi_wave_cached, multi_wave_reload,
  /// static_persistent or column_strips.
  StringRef getMode() const;
  /// The part of a kernel's name that names its specialisation.
  std::string getKernelSuffix() const;
};

llvm::hash_code hash_value(const ScheduleFields &fields);

/// The items of "a = 1, b = <c = 2, d = 3>" between its outermost commas.
SmallVector<StringRef> splitScheduleItems(StringRef text);

} // namespace mlir::rmsnorm

#endif // RMSNORM_IR_SCHEDULEFIELDS_H
