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
    for (scf::ForallOp forall : getRowLoops(getOperation()))
      if (failed(select(forall, options)))
        return signalPassFailure();
  }

  LogicalResult select(scf::ForallOp forall, const ScheduleOptions &options) {
    FailureOr<TargetAttr> target = getTarget(forall);
    if (failed(target))
      return failure();
    FailureOr<Selection> selection = chooseSchedules(forall, *target, options);
    if (failed(selection))
      return failure();
    // M is a fact where it is static, else what the variant is for.
    std::optional<int64_t> m =
        getConstantIntValue(forall.getMixedUpperBound().front());
    int64_t expected = rows < 0 ? kAnyRows : int64_t(rows);
    forall->setAttr(RMSNormDialect::kScheduleAttrName,
                    ScheduleAttr::get(&getContext(),
                                      selection->getFor(m.value_or(expected))));
    return success();
  }
};
} // namespace
