// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- PackRows.cpp - rmsnorm-pack-rows ----------------------------------===//

#include "RMSNorm/Transforms/Passes.h"
#include "TileProgram.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/PatternMatch.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_PACKROWS
#include "RMSNorm/Transforms/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// `type` with R rows instead of one.
static Type getPackedType(Type type, int64_t rows) {
  auto vector = cast<VectorType>(type);
  return VectorType::get({rows, vector.getDimSize(1)}, vector.getElementType());
}

/// The values of `program` that differ from row to row.
static FailureOr<DenseSet<Value>> getRowDependentValues(Block &program,
                                                        Value row) {
  DenseSet<Value> dependent;
  for (Operation &op : program) {
    bool dependsOnRow = false;
    if (auto load = dyn_cast<TileLoadOp>(op))
      dependsOnRow = bool(load.getRow());
    else
      dependsOnRow = llvm::any_of(op.getOperands(), [&](Value operand) {
        return dependent.contains(operand);
      });
    for (Value operand : op.getOperands())
      if (operand == row && !isa<TileLoadOp, TileStoreOp>(op))
        return op.emitOpError("expected the row to be used by tile_load and "
                              "tile_store only");
    if (!dependsOnRow)
      continue;
    for (Value result : op.getResults()) {
      auto vector = dyn_cast<VectorType>(result.getType());
      if (!vector || vector.getRank() != 2)
        return op.emitOpError("expected values that depend on the row to be "
                              "rank-2 vectors, got ")
               << result.getType();
      dependent.insert(result);
    }
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
    if (!vector || vector.getRank() != 2 || vector.getDimSize(0) == rows ||
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

static LogicalResult packRows(scf::ForallOp forall) {
  FailureOr<ScheduleAttr> schedule = getSchedule(forall);
  if (failed(schedule))
    return failure();
  const int64_t rows = schedule->getTileRows();
  if (rows == 1)
    return success();
  if (!forall.isNormalized() || forall.getRank() != 1 ||
      forall.getNumResults() != 0)
    return forall.emitOpError("expected a bufferized loop over rows from 0 "
                              "with step 1");

  IRRewriter rewriter(forall.getContext());
  Location loc = forall.getLoc();
  Block &body = *forall.getBody();
  Value row = forall.getInductionVar(0);
  FailureOr<DenseSet<Value>> dependent = getRowDependentValues(body, row);
  if (failed(dependent))
    return failure();

  // Tiles instead of rows; the last one may hold fewer than R.
  rewriter.setInsertionPoint(forall);
  Value numRows = getValueOrCreateConstantIndexOp(
      rewriter, loc, forall.getMixedUpperBound().front());
  Value tileRows = arith::ConstantIndexOp::create(rewriter, loc, rows);
  Value numTiles = arith::CeilDivUIOp::create(rewriter, loc, numRows, tileRows);
  rewriter.modifyOpInPlace(forall, [&] {
    forall.getDynamicUpperBoundMutable().assign(numTiles);
    forall.setStaticUpperBound({ShapedType::kDynamic});
  });
  rewriter.setInsertionPointToStart(&body);
  Value firstRow = arith::MulIOp::create(rewriter, loc, row, tileRows);
  Value rowsLeft = arith::SubIOp::create(rewriter, loc, numRows, firstRow);
  Value liveRows = arith::MinUIOp::create(rewriter, loc, rowsLeft, tileRows);

  for (Operation &op : llvm::make_early_inc_range(body)) {
    bool isDependent = llvm::any_of(op.getResults(), [&](Value result) {
      return dependent->contains(result);
    });
    if (auto load = dyn_cast<TileLoadOp>(op); load && load.getRow()) {
      load.getRowMutable().assign(firstRow);
      load.getRowsMutable().assign(liveRows);
    } else if (auto store = dyn_cast<TileStoreOp>(op)) {
      if (!store.getRow())
        return store.emitOpError("expected a row, as ")
               << rows << " rows are packed";
      broadcastUniformOperands(rewriter, &op, *dependent, rows);
      store.getRowMutable().assign(firstRow);
      store.getRowsMutable().assign(liveRows);
    } else if (auto accumulate = dyn_cast<AccumulateOp>(op)) {
      // A row that does not exist is another one, which counts already.
      broadcastUniformOperands(rewriter, &op, *dependent, rows);
      accumulate.getRowsMutable().assign(liveRows);
    } else if (isDependent) {
      broadcastUniformOperands(rewriter, &op, *dependent, rows);
    }
    if (isDependent)
      for (Value result : op.getResults())
        result.setType(getPackedType(result.getType(), rows));
  }
  return success();
}

namespace {
struct PackRows final : rmsnorm::impl::PackRowsBase<PackRows> {
  using PackRowsBase::PackRowsBase;

  void runOnOperation() override {
    for (scf::ForallOp forall : getRowLoops(getOperation()))
      if (failed(packRows(forall)))
        return signalPassFailure();
  }
};
} // namespace
