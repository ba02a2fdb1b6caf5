// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ScheduleSpace.h - schedules worth measuring -----------------------===//

#ifndef RMSNORM_TRANSFORMS_SCHEDULESPACE_H
#define RMSNORM_TRANSFORMS_SCHEDULESPACE_H

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>

namespace mlir::rmsnorm {

/// The candidates for the loops over rows with one program.
struct ScheduleSpace {
  SmallVector<Operation *> loops;
  /// What a tuning file knows the program by.
  std::string tuningKey;
  /// Legal on the target and different; first what is chosen without measuring,
  /// one for each class of rows. A few dozen at most.
  SmallVector<ScheduleAttr> schedules;
  /// Others that were thought of, but cannot run on the target.
  size_t numRefused;
};

/// The candidates for the loops over rows of a bufferized function, for rows
/// aligned to `alignment` bytes. Loops whose schedule is written in the IR have
/// none. Where N is known only at a call they are for the class of N without
/// end (getColumnClasses). A schedule that another is known to beat is left
/// out:
/// - narrower accesses than the widest, for aligned rows;
/// - threads without work, or with more than eight vectors unless that takes
///   the largest block;
/// - several rows in flight where one has four vectors or more a thread, and
///   reading a row again where it takes two registers or less a value;
/// - clusters and workgroup memory for rows that a block holds with four
///   vectors a thread, clusters that leave their blocks less than a vector a
///   thread;
/// - a persistent grid that leaves room on a multiprocessor.
///
/// For sums over rows in registers, rings are among them: of two and three
/// slots that each hold 24 to 48 KB on a multiprocessor, of up to four where a
/// row is alone. Reading rows again only where neither registers nor rings hold
/// them. Dependent launches and the caches of copies are changed in what is
/// chosen without measuring alone.
FailureOr<SmallVector<ScheduleSpace>>
getScheduleSpaces(func::FuncOp function, TargetAttr target, int64_t alignment);

} // namespace mlir::rmsnorm

#endif // RMSNORM_TRANSFORMS_SCHEDULESPACE_H
