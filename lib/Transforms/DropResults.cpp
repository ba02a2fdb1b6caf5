// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- DropResults.cpp - rmsnorm-drop-results ----------------------------===//

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Transforms/Passes.h"

#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/BitVector.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_DROPRESULTS
#include "RMSNorm/Transforms/Passes.h.inc"
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

/// Copies `source` to `target`, both arguments, in a loop over rows.
static void copyRows(OpBuilder &builder, Location loc, Value source,
                     Value target) {
  auto type = cast<MemRefType>(source.getType());
  int64_t rank = type.getRank(), rowDims = std::max<int64_t>(rank - 1, 0);
  SmallVector<Value> sizes = getValueOrCreateConstantIndexOp(
      builder, loc, memref::getMixedSizes(builder, loc, target));
  Value rows = arith::createProduct(builder, loc,
                                    ArrayRef<Value>(sizes).take_front(rowDims),
                                    builder.getIndexType());
  auto mapping = builder.getArrayAttr(gpu::GPUBlockMappingAttr::get(
      builder.getContext(), gpu::MappingId::DimX));
  auto loop = scf::ForallOp::create(builder, loc, OpFoldResult(rows),
                                    ValueRange(), mapping);
  loop->setAttr(RMSNormDialect::kRowsAttrName,
                builder.getI64IntegerAttr(rowDims));
  builder.setInsertionPoint(loop.getTerminator());
  TileKind kind = rank == 0 ? TileKind::row : TileKind::tile;
  Value row = rank > 1 ? loop.getInductionVar(0) : Value();
  int64_t size = rank == 0 ? 1 : type.getShape().back();
  Value columns;
  if (ShapedType::isDynamic(size)) {
    size = kDynamicColumns;
    columns = sizes.back();
  }
  Value tile = TileLoadOp::create(
      builder, loc, VectorType::get({1, size}, type.getElementType()), kind,
      source, row, /*index=*/Value(), columns, /*map=*/nullptr);
  TileStoreOp::create(builder, loc, /*result=*/Type(), kind, tile, target, row,
                      columns, /*map=*/nullptr);
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
