// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SelectSchedule.cpp - rmsnorm-select-schedule ----------------------===//

#include "RMSNorm/Transforms/Passes.h"
#include "RMSNorm/Transforms/RowClasses.h"
#include "TileProgram.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_SELECTSCHEDULE
#include "RMSNorm/Transforms/Passes.h.inc"
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
    options.columns = columns;
    SmallVector<scf::ForallOp> loops = getRowLoops(getOperation());
    if (loops.empty())
      return;
    FailureOr<TargetAttr> target = getTarget(loops.front());
    if (failed(target))
      return signalPassFailure();
    FailureOr<std::vector<Selection>> selections =
        chooseSchedules(loops, *target, options);
    if (failed(selections))
      return signalPassFailure();
    for (auto [forall, selection] : llvm::zip(loops, *selections)) {
      // M is a fact where it is static, else what the variant is for.
      std::optional<int64_t> m =
          getConstantIntValue(forall.getMixedUpperBound().front());
      int64_t expected = rows < 0 ? kAnyRows : int64_t(rows);
      forall->setAttr(
          RMSNormDialect::kScheduleAttrName,
          ScheduleAttr::get(&getContext(),
                            selection.getFor(m.value_or(expected))));
    }
  }
};
} // namespace
