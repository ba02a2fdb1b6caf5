// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Resources.h - what a schedule takes of a chip ---------------------===//

#ifndef RMSNORM_LIB_SCHEDULE_RESOURCES_H
#define RMSNORM_LIB_SCHEDULE_RESOURCES_H

#include "RMSNorm/Schedule/Layout.h"
#include "RMSNorm/Schedule/ProgramFacts.h"

namespace mlir::rmsnorm {

/// How rows of a program lie, and how many vectors of one a thread has: none if
/// there is no such layout.
Layout getLayout(const ScheduleFields &fields, const ProgramFacts &facts,
                 int64_t subgroupSize = 1);
int64_t countVectors(const ScheduleFields &fields, const ProgramFacts &facts);

/// Elements of the narrowest operand that one access can take. N is a multiple
/// of them, as a row begins where the row before it ends.
int64_t getAccessWidth(const ProgramFacts &facts, const ChipInfo &chip);

/// Registers a thread has if the blocks that the schedule wants are to share
/// a multiprocessor.
int64_t getRegisterBudget(const ScheduleFields &fields, const ChipInfo &chip);

/// Vectors of its rows that a thread has in workgroup memory, and the most of
/// them: accesses to it are unrolled.
int64_t countRingVectors(const ScheduleFields &fields,
                         const ProgramFacts &facts);
constexpr int64_t kMaxRingVectors = 64;

/// Bytes of one slot of all rings of a block, and of all slots: tiles are in
/// a slot each of a ring, or all in the only one.
int64_t getSlotBytes(const ScheduleFields &fields, const ProgramFacts &facts);
int64_t getRingBytes(const ScheduleFields &fields, const ProgramFacts &facts);

/// Workgroup memory of a block for the exchanges of row_reduce, and what the
/// hardware takes.
constexpr int64_t kReservedWorkgroupBytes = 2 << 10;

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_SCHEDULE_RESOURCES_H
