// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SelectSchedule.cpp - rmsnorm-select-schedule ----------------------===//

#include "RMSNorm/Transforms/Passes.h"
#include "ScheduleChoice.h"

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
    FailureOr<SmallVector<ScheduleClass, 2>> classes =
        chooseSchedules(forall, *target,
                        {schedule, alignment, batchInvariant, tuning, columns});
    if (failed(classes))
      return failure();
    // M is a fact where it is static, else what the variant is for.
    std::optional<int64_t> m =
        getConstantIntValue(forall.getMixedUpperBound().front());
    int64_t expected = rows < 0 ? kAnyRows : int64_t(rows);
    forall->setAttr(RMSNormDialect::kScheduleAttrName,
                    getScheduleFor(*classes, m.value_or(expected)));
    return success();
  }
};
} // namespace
