// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Records.cpp - measurements that come with the compiler ------------===//

#include "Selectors.h"

#include "RMSNorm/Schedule/CostModel.h"

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
/// A program that was measured, and what was the fastest.
struct Record {
  const char *chip, *device;
  /// Its facts, as getProgramKey.
  const char *program;
  /// Up to the one for any number of rows.
  struct {
    int64_t lastRow;
    const char *schedule;
  } classes[kMaxClasses];
};
} // namespace

static constexpr Record kRecords[] = {
#include "Models/sm_90_records.inc"
};

SmallVector<RowClass, 2> mlir::rmsnorm::findRecord(const ProgramFacts &facts,
                                                   const ChipInfo &chip) {
  const std::string program = getProgramKey(facts);
  SmallVector<RowClass, 2> classes;
  const auto *found = llvm::find_if(kRecords, [&](const Record &record) {
    return chip.name == record.chip && program == record.program;
  });
  if (found == std::end(kRecords))
    return classes;
  for (const auto &[lastRow, text] : found->classes) {
    llvm::Expected<ScheduleFields> schedule = ScheduleFields::parse(text);
    // A program has other facts or fields than when it was measured.
    if (!schedule || verifyOnTarget(*schedule, facts, chip)) {
      llvm::consumeError(schedule.takeError());
      return {};
    }
    classes.push_back({lastRow, *schedule, found->device});
    if (lastRow == kAnyRows)
      break;
  }
  return classes;
}
