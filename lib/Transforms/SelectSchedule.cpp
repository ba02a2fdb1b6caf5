// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SelectSchedule.cpp - rmsnorm-select-schedule ----------------------===//

#include "RMSNorm/Transforms/Passes.h"
#include "ScheduleSelector.h"

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
    for (scf::ForallOp forall : getRowLoops(getOperation()))
      if (failed(select(forall)))
        return signalPassFailure();
  }

  LogicalResult select(scf::ForallOp forall) {
    FailureOr<TargetAttr> target = getTarget(forall);
    if (failed(target))
      return failure();
    FailureOr<ProgramFacts> facts = getProgramFacts(forall);
    if (failed(facts))
      return failure();
    const ChipInfo &chip = target->getChipInfo();
    auto emitError = [&] { return forall.emitOpError("schedule: "); };

    // A schedule written in the IR is the user's: it is checked, not changed.
    auto attr =
        forall->getAttrOfType<ScheduleAttr>(RMSNormDialect::kScheduleAttrName);
    if (!attr) {
      ScheduleFields fields = selectSchedule(*facts, chip);
      fields.alignment = alignment;
      if (failed(applyScheduleOverrides(schedule, fields, emitError)))
        return failure();
      // Row groups follow the threads of a row unless they are given too.
      if (!StringRef(schedule).contains("row_groups"))
        fields.rowGroups = std::max<int64_t>(
            1, std::min(fields.rowGroups,
                        4 * chip.subgroupSize /
                            std::max<int64_t>(1, fields.threadsPerRow)));
      attr = fields.getChecked(emitError, &getContext());
      if (!attr)
        return failure();
    }
    if (failed(verifyScheduleOnTarget(attr, *facts, chip, emitError)))
      return failure();
    forall->setAttr(RMSNormDialect::kScheduleAttrName, attr);
    return success();
  }
};
} // namespace
