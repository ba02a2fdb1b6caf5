// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SelectSchedule.cpp - rmsnorm-select-schedule ----------------------===//

#include "RMSNorm/IR/KernelTarget.h"
#include "RMSNorm/Rows/Passes.h"
#include "RMSNorm/Rows/RowClasses.h"
#include "RMSNorm/Rows/RowsProgram.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_SELECTSCHEDULE
#include "RMSNorm/Rows/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

namespace {
struct SelectSchedule final
    : rmsnorm::impl::SelectScheduleBase<SelectSchedule> {
  using SelectScheduleBase::SelectScheduleBase;

  void runOnOperation() override {
    std::string error;
    FailureOr<TuningTable> table = TuningTable::read(tuning, error);
    if (failed(table)) {
      emitError(UnknownLoc::get(&getContext())) << error;
      return signalPassFailure();
    }
    ScheduleOptions options;
    options.request = {schedule, alignment, batchInvariant, smMargin};
    options.tuning = &*table;
    options.columns = {columns < 0 ? kAnyColumns : int64_t(columns),
                       narrowColumns};
    FailureOr<SmallVector<RowsOp>> all = getPrograms(getOperation());
    if (failed(all))
      return signalPassFailure();
    if (all->empty())
      return;
    FailureOr<TargetAttr> target = getTarget(all->front());
    if (failed(target))
      return signalPassFailure();
    FailureOr<std::vector<Selection>> selections =
        chooseSchedules(*all, *target, options);
    if (failed(selections))
      return signalPassFailure();
    std::vector<ScheduleFields> schedules;
    for (auto [rowsOp, selection] : llvm::zip(*all, *selections)) {
      // M is a fact where it is static; otherwise it is the variant's.
      const int64_t expected = rows < 0 ? kAnyRows : int64_t(rows);
      schedules.push_back(
          selection.getFor(getStaticRows(rowsOp).value_or(expected)));
    }
    setSchedules(getOperation(), schedules, options.columns.last);
  }
};
} // namespace
