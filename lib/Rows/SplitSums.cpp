// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- SplitSums.cpp - rmsnorm-split-sums --------------------------------===//

#include "RMSNorm/Rows/Passes.h"
#include "RMSNorm/Rows/RowsProgram.h"

#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_SPLITSUMS
#include "RMSNorm/Rows/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

void mlir::rmsnorm::dropSegments(RowsOp rows) {
  if (llvm::none_of(rows.getTiles().getBody().getOps<AccumulateOp>(),
                    [](AccumulateOp sum) { return bool(sum.getMap()); }))
    rows.setSegments({});
}

FailureOr<RowsOp> mlir::rmsnorm::moveSums(RewriterBase &rewriter, RowsOp rows,
                                          ArrayRef<int64_t> dims) {
  auto isMoved = [&](AccumulateOp sum) {
    return ArrayRef<int64_t>(sum.getDims()) == dims;
  };
  // What the sums read is read before `rows` overwrites it, or else after it.
  rewriter.setInsertionPoint(rows);
  auto moved = cast<RowsOp>(rewriter.clone(*rows));
  auto eraseOps = [&](RowsOp op, function_ref<bool(Operation &)> isErased) {
    Block &program = op.getTiles().getBody().front();
    for (Operation &op : llvm::make_early_inc_range(program))
      if (isErased(op))
        rewriter.eraseOp(&op);
    eraseDeadOps(rewriter, program);
  };
  eraseOps(moved, [&](Operation &op) {
    auto sum = dyn_cast<AccumulateOp>(op);
    return isa<TileStoreOp>(op) || (sum && !isMoved(sum));
  });
  moved.setSegments(dims);

  Block &program = rows.getTiles().getBody().front();
  auto isRead = [](Block &program, auto isOne) {
    return llvm::any_of(program.getOps<TileLoadOp>(),
                        [&](TileLoadOp load) { return isOne(load.getBase()); });
  };
  const bool isOverwritten =
      isRead(moved.getTiles().getBody().front(), [&](Value read) {
        const unsigned number = cast<BlockArgument>(read).getArgNumber();
        return llvm::any_of(
            program.getOps<TileStoreOp>(), [&](TileStoreOp store) {
              return rows.mayAlias(rows.getBody().getArgument(number),
                                   store.getBase());
            });
      });
  const bool overwrites = isRead(program, [&](Value read) {
    return llvm::any_of(program.getOps<AccumulateOp>(), [&](AccumulateOp sum) {
      return isMoved(sum) && rows.mayAlias(read, sum.getDest());
    });
  });
  if (isOverwritten && overwrites) {
    InFlightDiagnostic error = rows.emitOpError(
        "expected sums over rows that another kernel can take, got one whose "
        "destination the program reads, of what the program overwrites");
    rewriter.eraseOp(moved);
    return error;
  }
  eraseOps(rows, [&](Operation &op) {
    auto sum = dyn_cast<AccumulateOp>(op);
    return sum && isMoved(sum);
  });
  if (!isOverwritten)
    rewriter.moveOpAfter(moved, rows);
  dropSegments(rows);
  pruneOperands(rewriter, moved);
  pruneOperands(rewriter, rows);
  return moved;
}

namespace {
struct SplitSums final : rmsnorm::impl::SplitSumsBase<SplitSums> {
  using SplitSumsBase::SplitSumsBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    for (RowsOp rows : getRows(getOperation())) {
      if (failed(verifyNotPlaced(rows)))
        return signalPassFailure();
      Block &program = rows.getTiles().getBody().front();
      SmallVector<SmallVector<int64_t>> groupings;
      for (auto sum : program.getOps<AccumulateOp>())
        if (SmallVector<int64_t> dims = sum.getDims();
            !dims.empty() && !llvm::is_contained(groupings, dims))
          groupings.push_back(std::move(dims));
      if (groupings.empty())
        continue;
      for (ArrayRef<int64_t> dims : llvm::drop_begin(groupings))
        if (failed(moveSums(rewriter, rows, dims)))
          return signalPassFailure();
      rows.setSegments(groupings.front());
    }
  }
};
} // namespace
