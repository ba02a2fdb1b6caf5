// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DropResults.cpp - rmsnorm-drop-results ----------------------------===//

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Rows/RowsProgram.h"
#include "RMSNorm/Tiling/Passes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_DROPRESULTS
#include "RMSNorm/Tiling/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;

/// The argument that `value` is, perhaps with a type that says less or in
/// another shape, or null.
static BlockArgument findArgument(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<memref::CastOp, memref::CollapseShapeOp, memref::ExpandShapeOp>(
            op))
      break;
    value = op->getOperand(0);
  }
  return isa<MemRefType>(value.getType()) ? dyn_cast<BlockArgument>(value)
                                          : BlockArgument();
}

/// Copies `source` to `target`, both arguments, row by row.
static void copyRows(OpBuilder &builder, Location loc, Value source,
                     Value target) {
  auto type = cast<MemRefType>(source.getType());
  const int64_t rank = type.getRank();
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(builder, loc, target);
  const TileKind kind = rank == 0 ? TileKind::row : TileKind::tile;
  int64_t columns = 1;
  Value dynamicColumns;
  if (rank > 0) {
    columns = getConstantIntValue(sizes.back()).value_or(kDynamicColumns);
    dynamicColumns = dyn_cast<Value>(sizes.pop_back_val());
  }
  if (sizes.empty())
    sizes.push_back(builder.getIndexAttr(1));
  RowsOp rows = createRows(builder, loc, /*results=*/TypeRange(), sizes,
                           dynamicColumns, columns, {source, target},
                           {AccessKind::read, AccessKind::write});
  Block &body = rows.getTiles().getBody().front();
  Value row = rank > 1 ? body.getArgument(0) : Value();
  OpBuilder inside = OpBuilder::atBlockEnd(&body);
  auto buffers = rows.getBufferArguments();
  Value tile = TileLoadOp::create(
      inside, loc, VectorType::get({1, columns}, type.getElementType()), kind,
      buffers[0], row, /*indices=*/ValueRange(),
      /*map=*/nullptr);
  TileStoreOp::create(inside, loc, /*result=*/Type(), kind, tile, buffers[1],
                      row, /*indices=*/ValueRange(), /*map=*/nullptr);
  YieldOp::create(inside, loc);
}

namespace {
struct DropResults final : rmsnorm::impl::DropResultsBase<DropResults> {
  using DropResultsBase::DropResultsBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (!function.isPublic() || !function.getBody().hasOneBlock())
      return;
    Operation *terminator = function.front().getTerminator();
    llvm::BitVector dropped(terminator->getNumOperands());
    OpBuilder builder(terminator);
    for (OpOperand &operand : terminator->getOpOperands()) {
      BlockArgument argument = findArgument(operand.get());
      if (!argument)
        continue;
      unsigned number = operand.getOperandNumber();
      dropped.set(number);
      // What an argument holds already, by folding, is still to be written.
      auto bound = function.getResultAttrOfType<IntegerAttr>(
          number, RMSNormDialect::kArgumentAttrName);
      if (!bound || bound.getInt() == argument.getArgNumber())
        continue;
      builder.setInsertionPoint(terminator);
      Value source = operand.get();
      while (auto cast = source.getDefiningOp<memref::CastOp>())
        source = cast.getSource();
      Value target = function.getArgument(bound.getInt());
      if (failed(verifyCompatibleShape(source.getType(), target.getType()))) {
        function.emitOpError("expected result #")
            << number << " to have the shape of argument #" << bound.getInt()
            << ", which it is written to, got " << source.getType() << " and "
            << target.getType();
        return signalPassFailure();
      }
      copyRows(builder, terminator->getLoc(), source, target);
    }
    terminator->eraseOperands(dropped);
    if (failed(function.eraseResults(dropped)))
      signalPassFailure();
  }
};
} // namespace
