// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Resources.h - what a schedule takes of a chip ---------------------===//

#ifndef RMSNORM_LIB_SCHEDULE_RESOURCES_H
#define RMSNORM_LIB_SCHEDULE_RESOURCES_H

#include "RMSNorm/Schedule/Layout.h"
#include "RMSNorm/Schedule/ProgramFacts.h"

namespace mlir::rmsnorm {

/// Elements of the narrowest operand in the chip's widest access, the unit in
/// which rows are measured.
int64_t getWidestVector(const ProgramFacts &facts, const ChipInfo &chip);

/// Elements of the narrowest operand that one access can take. N is a multiple
/// of them, as a row begins where the row before it ends.
int64_t getAccessWidth(const ProgramFacts &facts, const ChipInfo &chip);

/// Whether L1 holds the rows that a multiprocessor works on, so that reading
/// them again is cheap.
bool rereadsFromL1(const ChipInfo &chip);

/// Registers a thread needs for its part of the rows it keeps, or of per-column
/// operands beside rows it reads again, and of the sums over rows.
int64_t countRowRegisters(const ScheduleFields &fields,
                          const ProgramFacts &facts);
int64_t countSumRegisters(const ScheduleFields &fields,
                          const ProgramFacts &facts);

/// Registers a thread has if the blocks that the schedule wants are to share
/// a multiprocessor. Rows and sums may take half of them, the rest is for
/// addresses, weights and arithmetic; sums alone a quarter: 48 of 128 spilt
/// 48 bytes (rows of 24576 bf16, 512 threads, sm_90).
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

/// Bytes that slots may take of a block's workgroup memory, if the blocks that
/// the schedule wants are to share a multiprocessor.
int64_t getRingBudget(const ScheduleFields &fields, const ChipInfo &chip);

/// Whether tiles fit into workgroup memory.
bool holdsRings(const ScheduleFields &fields, const ProgramFacts &facts,
                const ChipInfo &chip);

/// Workgroup memory in which row groups add up their sums over rows.
int64_t getColumnReduceBytes(const ScheduleFields &fields,
                             const ProgramFacts &facts);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_SCHEDULE_RESOURCES_H
