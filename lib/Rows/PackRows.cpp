// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PackRows.cpp - rmsnorm-pack-rows ----------------------------------===//

#include "RMSNorm/IR/TileTypes.h"
#include "RMSNorm/Rows/Passes.h"
#include "RMSNorm/Rows/RowsProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_PACKROWS
#include "RMSNorm/Rows/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// `type` with R rows instead of one.
static Type getPackedType(Type type, int64_t rows) {
  return getTypeOfRows(cast<VectorType>(type), rows);
}

/// The values of `program` that differ from row to row.
static DenseSet<Value> getRowDependentValues(Block &program) {
  DenseSet<Value> dependent;
  for (Operation &op : program) {
    auto load = dyn_cast<TileLoadOp>(op);
    const bool dependsOnRow =
        (load && load.getRow()) ||
        llvm::any_of(op.getOperands(), [&](Value operand) {
          return dependent.contains(operand);
        });
    if (dependsOnRow)
      dependent.insert(op.result_begin(), op.result_end());
  }
  return dependent;
}

/// Replaces each operand of `op` that is the same for all rows by its
/// broadcast to R rows, as elementwise ops want operands of one shape.
static void broadcastUniformOperands(RewriterBase &rewriter, Operation *op,
                                     const DenseSet<Value> &dependent,
                                     int64_t rows) {
  if (isa<vector::BroadcastOp>(op))
    return;
  rewriter.setInsertionPoint(op);
  for (OpOperand &operand : op->getOpOperands()) {
    auto vector = dyn_cast<VectorType>(operand.get().getType());
    if (!vector || vector.getDimSize(0) == rows ||
        dependent.contains(operand.get()))
      continue;
    Type packed = getPackedType(vector, rows);
    SplatElementsAttr splat;
    Value wide;
    if (auto constant = operand.get().getDefiningOp<arith::ConstantOp>();
        constant && (splat = dyn_cast<SplatElementsAttr>(constant.getValue())))
      wide = arith::ConstantOp::create(
          rewriter, constant.getLoc(),
          splat.resizeSplat(cast<ShapedType>(packed)));
    else
      wide = vector::BroadcastOp::create(rewriter, op->getLoc(), packed,
                                         operand.get());
    rewriter.modifyOpInPlace(op, [&] { operand.set(wide); });
  }
}

static LogicalResult packRows(RowsOp rows) {
  FailureOr<ScheduleAttr> schedule = rows.getRequiredSchedule();
  if (failed(schedule) || failed(verifyNotPlaced(rows)))
    return failure();
  const int64_t tileRows = schedule->getTileRows();
  if (tileRows == 1)
    return success();
  Block &program = rows.getTiles().getBody().front();
  for (auto store : program.getOps<TileStoreOp>())
    if (!store.getRow() && store.getIndices().empty())
      return store.emitOpError("expected a row, as ")
             << tileRows << " rows are packed";

  IRRewriter rewriter(rows.getContext());
  DenseSet<Value> dependent = getRowDependentValues(program);
  for (Operation &op : llvm::make_early_inc_range(program)) {
    const bool isDependent = llvm::any_of(op.getResults(), [&](Value result) {
      return dependent.contains(result);
    });
    // A row that does not exist reads another one: its summand is selected
    // away, also where all rows have the same.
    if (isDependent || isa<TileStoreOp, AccumulateOp>(op))
      broadcastUniformOperands(rewriter, &op, dependent, tileRows);
    if (isDependent)
      for (Value result : op.getResults())
        result.setType(getPackedType(result.getType(), tileRows));
  }
  return success();
}

namespace {
struct PackRows final : rmsnorm::impl::PackRowsBase<PackRows> {
  using PackRowsBase::PackRowsBase;

  void runOnOperation() override {
    for (RowsOp rows : getRows(getOperation()))
      if (failed(packRows(rows)))
        return signalPassFailure();
  }
};
} // namespace
