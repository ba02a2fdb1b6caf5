// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScheduleChoice.h - the schedules a loop over rows gets ------------===//

#ifndef RMSNORM_LIB_TRANSFORMS_SCHEDULECHOICE_H
#define RMSNORM_LIB_TRANSFORMS_SCHEDULECHOICE_H

#include "ScheduleSelector.h"

namespace mlir::rmsnorm {

/// A verified schedule and the largest M it is for, see RowClass.
struct ScheduleClass {
  int64_t lastRow;
  ScheduleAttr schedule;
};

/// The schedules of `forall` by number of rows, neighbours different, the last
/// for any number. A schedule written in the IR is the only one; else the
/// overrides go before the tuning file, and that before the selector.
FailureOr<SmallVector<ScheduleClass, 2>>
chooseSchedules(scf::ForallOp forall, TargetAttr target,
                const ScheduleOptions &options);

/// The schedule of `classes` for `rows` rows.
ScheduleAttr getScheduleFor(ArrayRef<ScheduleClass> classes, int64_t rows);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_TRANSFORMS_SCHEDULECHOICE_H
