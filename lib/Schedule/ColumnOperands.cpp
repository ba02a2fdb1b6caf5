// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ColumnOperands.cpp - when per-column operands are loaded ----------===//

#include "RMSNorm/Schedule/Layout.h"
#include "Resources.h"
#include "Selectors.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// Whether a thread has registers for per-column operands beside rows that it
/// reads again from L1 (us on an H200, held and loaded where they are used:
/// 4096x7168 30.1 and 30.9, 32768x7168 219.4 and 222.8, 2048x8192 18.7 and
/// 19.3; but of f32 4096x4096 34.3 and 33.6). Not where functions take them
/// (silu of it 4096x4096 19.4 and 18.9), or several tiles (x + residual by 512
/// threads 32768x4096 257.8 and 248.5, with f8 of it x7168 390 and 380), unless
/// what is reduced needs them, too (for a scale of each row 32768x4096 217.2
/// and 220.0, x7168 402.6 and 407.2, of 128 columns 4096x4096 30.1 and 30.6).
/// Of larger blocks fewer are left (a scale and a shift for each batch, by 128
/// threads 32768x4096 127.1 and 132.8, a weight beside them 129.8 and 134.6,
/// without it by 224 4096x7168 31.6 and 30.8; a weight of f32, by 224 threads
/// 32768x7168 219 and 225, by 448 250 and 225), and narrow accesses are many
/// (32768x4098 131.8 and 130.6).
static bool holdsColumnsBesideL1(const ScheduleFields &fields,
                                 const ProgramFacts &facts,
                                 const ChipInfo &chip, int64_t bytes) {
  const int64_t subgroups = fields.threadsPerRow / chip.subgroupSize;
  const int64_t maxBytes = getManyOperations(facts) > 0
                               ? (subgroups <= 4 ? 192 : 64)
                               : (subgroups <= 8 ? 128 : 64);
  const bool oneTile = facts.loadedBitsPerColumn == 16;
  return fields.cache == Cache::reload && rereadsFromL1(chip) &&
         facts.columnOperandBits > 0 && facts.numColumnSums == 0 &&
         (facts.liveBitsPerColumn > facts.loadedBitsPerColumn ||
          facts.groupColumns > 0 ||
          (facts.getFunctions() == 0 &&
           (getManyOperations(facts) > 0 || oneTile))) &&
         fields.vectorWidth * facts.narrowestBits >= 64 && bytes <= maxBytes &&
         !isWalkedInLoop(fields, facts.columns, facts.dynamicColumns);
}

/// Whether a thread waits for per-column operands that are needed after the
/// reduction before it uses its row: their loads are then on their way with the
/// row's; ptxas would put them after the reduction. Only of many rows: with a
/// few on the machine nothing hides the wait (64x4096 1.41 and 1.37 us). It
/// pays as long as it takes no block's place on a multiprocessor. Figures are
/// us on an H200, awaited and not, of one run each.
static bool awaitsColumns(const ScheduleFields &fields,
                          const ProgramFacts &facts, const ChipInfo &chip) {
  if (!rereadsFromL1(chip) || facts.numColumnSums > 0 || facts.part > 0 ||
      facts.dynamicColumns || fields.cluster > 1 ||
      getAccessWidth(facts, chip) < getWidestVector(facts, chip) ||
      facts.columnOperandBits + facts.sharedBitsPerColumn == 0)
    return false;
  const int64_t each = getVectorsPerThread(facts.columns, fields.threadsPerRow,
                                           fields.vectorWidth);
  const bool isWhole =
      facts.columns % (fields.threadsPerRow * fields.vectorWidth) == 0;
  const int64_t subgroups = fields.threadsPerRow / chip.subgroupSize;
  const int64_t tileBits =
      facts.loadedBitsPerColumn - facts.sharedBitsPerColumn;
  if (fields.cache == Cache::registers) {
    // Packed rows of a vector a thread are over too soon (8192x2048 in 8 groups
    // with weights of their own 19.2 and 18.1; the norm 16384x1024 17.5 and
    // 18.1).
    if (fields.rowsPerGroup > 1)
      return each >= 2;
    // norm(x * silu(z)) 4096x4096 25.1 and 25.8, by 448 threads 2340x7168 26.9
    // and 25.8.
    if (facts.numRepeatedFunctions > 0)
      return subgroups <= 12;
    // f8 with a scale given 4096x4096 13.9 and 14.5, 2340x7168 14.3 and 15.1;
    // 32 columns e8m0 beside y 4096x4096 22.4 and 23.3. Sixteen vectors
    // 8192x16384 114 and 95.
    if (!fields.maskBf16 || each > 8)
      return false;
    if (facts.groupColumns > 0)
      return true;
    // Narrow rows by blocks of several, where a lane's last vector may be none,
    // too: the norm x1152 1.035 and 0.946 of a copy's speed at 8192 rows, x704
    // 1.038 and 0.954, x + residual 2048 rows x1280 1.053 and 0.962, a scale
    // given 8192 rows x704 0.91 and 0.87; silu of it x704 0.999 and 0.916, but
    // x1152 0.959 and 0.971. Functions as f8 not with as many vectors, whole or
    // not (x1280 0.884 and 0.953).
    if (facts.columns <= 5 * chip.subgroupSize * fields.vectorWidth) {
      if (facts.getFunctions() > 0 && each > 4)
        return isWhole && facts.storedBitsPerColumn >= 16;
      return isWhole || fields.rowGroups > 1;
    }
    return isWhole;
  }
  if (fields.cache != Cache::reload ||
      isWalkedInLoop(fields, facts.columns, facts.dynamicColumns))
    return false;
  // silu(norm(x)) 4096x4096 17.5 and 19.0, 32768x4096 125.9 and 127.6; by 192
  // threads 21845x6144 131.5 and 127.5, f8 of it 26214x5120 115 and 106.
  if (facts.getFunctions() > 0)
    return tileBits == 16 && fields.vectorsInFlight == 4 && subgroups <= 4 &&
           facts.storedBitsPerColumn >= 16;
  // f8 of x + residual with a scale of 128 columns 4096x4096 29.2 and 30.0,
  // 16384x8192 by 512 threads 224 and 219.
  if (facts.groupColumns > 0)
    return subgroups <= 14;
  if (facts.liveBitsPerColumn > facts.loadedBitsPerColumn)
    return false;
  // A scale and a shift for each batch: 3276x5120 17.4 and 19.1, 26214x5120
  // 117.7 and 121.9, 2730x6144 17.7 and 19.3; but 32768x4096 by 128 threads
  // 131.3 and 127.1, 2340x7168 by 224 21.2 and 19.6.
  if (getManyOperations(facts) > 0)
    return subgroups <= 6 && !llvm::isPowerOf2_64(subgroups);
  // The norm alone: 4096x4096 17.1 and 18.0, of f32 2048x4096 17.2 and 18.3,
  // 131072x1024 127.3 and 127.9; 2340x7168 17.5, of 4 vectors a thread 19.1,
  // neither awaited 18.3.
  if (tileBits == 16 || (tileBits == 32 && facts.narrowestBits == 32))
    return each == 2 && subgroups <= 16;
  // Two tiles and f8 of their sum: 4096x4096 29.2 and 30.1, 32768x4096 by a
  // vector a thread 225 and 233, 18724x7168 by 448 threads 231 and 219. Without
  // f8 32768x4096 265 and 248.
  return tileBits == 32 && facts.storedBitsPerColumn == 24 &&
         (each == 1 || subgroups <= 12);
}

/// Beside tiles in workgroup memory per-column operands are held in registers,
/// so that they are there when the reduction is: up to a quarter of what
/// a thread has. With a ring they stay for all rows.
ColumnOperands mlir::rmsnorm::chooseColumnOperands(const ScheduleFields &fields,
                                                   const ProgramFacts &facts,
                                                   const ChipInfo &chip) {
  if (awaitsColumns(fields, facts, chip))
    return ColumnOperands::awaited;
  constexpr int64_t maxBytes = 128;
  const int64_t bytes = ProgramFacts::getBytes(
      facts.columnOperandBits,
      llvm::divideCeil(facts.columns, fields.cluster * fields.threadsPerRow));
  if (holdsColumnsBesideL1(fields, facts, chip, bytes))
    return ColumnOperands::tile;
  if (fields.cache != Cache::shared || fields.stages >= 2)
    return fields.getDefaultColumnOperands();
  return bytes <= maxBytes ? ColumnOperands::tile : ColumnOperands::use;
}
