// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- EarlyLoads.cpp - loads for later segments, in the first ------------===//

#include "EarlyLoads.h"
#include "RMSNorm/IR/TileTypes.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace mlir::rmsnorm;

/// A value that is written before the load, even by the same row, does not
/// exist earlier.
static bool isWrittenBefore(TileLoadOp load, Block &program) {
  auto rows = load->getParentOfType<RowsOp>();
  return llvm::any_of(program.getOps<TileStoreOp>(), [&](TileStoreOp store) {
    return store->isBeforeInBlock(load) &&
           rows.mayAlias(store.getBase(), load.getBase());
  });
}

static void loadRowValues(RewriterBase &rewriter, Block &program,
                          Segments &segments) {
  auto first = llvm::find_if(program, llvm::IsaPred<TileLoadOp>);
  for (auto load : llvm::make_early_inc_range(program.getOps<TileLoadOp>()))
    if (load.getKind() == TileKind::row && load.getIndices().empty() &&
        segments.get(load) != 0 && !isWrittenBefore(load, program)) {
      rewriter.moveOpBefore(load, &*first);
      segments.set(load, 0);
    }
}

/// If only a later segment needs a load, ptxas moves it to the reduction or
/// past it, where its latency comes on top. It does not move a load that an
/// instruction of the first segment needs. Such an instruction is a
/// rmsnorm.keep of the row, after all loads that the row waits for.
static bool awaitOperands(RewriterBase &rewriter, Block &program,
                          Segments &segments) {
  auto isUse = [&](Operation *user) {
    return segments.get(user) == 0 && !isa<KeepOp>(user);
  };
  TileLoadOp row;
  SmallVector<TileLoadOp> operands;
  for (auto load : program.getOps<TileLoadOp>()) {
    if (!load.getIndices().empty() || segments.get(load) != 0)
      continue;
    const bool isUsed = llvm::any_of(load->getUsers(), isUse);
    if (load.isShared() && !isUsed)
      operands.push_back(load);
    else if (load.getKind() == TileKind::tile && isUsed)
      row = load;
  }
  // Parts of rows have vectors of their own, two fours are a byte.
  llvm::erase_if(operands, [&](TileLoadOp operand) {
    const int64_t bits = operand.getType().getElementTypeBitWidth();
    return !row ||
           getColumnShape(operand.getType()) != getColumnShape(row.getType()) ||
           bits < 8 || bits > 32;
  });
  if (operands.empty())
    return false;
  Operation *last = row;
  for (TileLoadOp operand : operands)
    if (last->isBeforeInBlock(operand)) {
      rewriter.moveOpAfter(operand, last);
      last = operand;
    }
  Value kept = row;
  rewriter.setInsertionPointAfter(last);
  for (TileLoadOp operand : operands) {
    kept = KeepOp::create(rewriter, row.getLoc(), row.getType(), kept, operand);
    segments.set(kept.getDefiningOp(), 0);
  }
  row.getResult().replaceUsesWithIf(
      kept, [&](OpOperand &use) { return isUse(use.getOwner()); });
  return true;
}

void mlir::rmsnorm::loadEarly(RewriterBase &rewriter, Block &program,
                              ScheduleAttr schedule, Segments &segments) {
  // Where the row is used with its operands at once, registers are short.
  if (schedule.getColumnOperands() != ColumnOperands::awaited ||
      awaitOperands(rewriter, program, segments))
    loadRowValues(rewriter, program, segments);
}
