// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpsSums.cpp - sums over rows: verifiers, effects ------------------===//

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::rmsnorm;

//===----------------------------------------------------------------------===//
// column_sum, accumulate
//===----------------------------------------------------------------------===//

static bool isSumType(ShapedType type) {
  Type element = type.getElementType();
  return type.getRank() == 1 &&
         (element.isF16() || element.isBF16() || element.isF32());
}

/// Constraints (C1) and (C3), and what holds of `init`, which the two ops
/// share. `type` is the source's, of rank 1 or 2.
template <typename OpTy>
static LogicalResult verifyColumns(OpTy op, ShapedType type) {
  auto dest = cast<ShapedType>(op.getDest().getType());
  // (C1)
  if (!isSumType(dest))
    return op.emitOpError("expected dest to have rank 1 and element type f16, "
                          "bf16 or f32, got ")
           << dest;
  if (Value init = op.getInit())
    if (auto other = cast<ShapedType>(init.getType());
        !isSumType(other) || other.getShape() != dest.getShape())
      return op.emitOpError("expected init to have the shape of dest, ")
             << dest << ", and element type f16, bf16 or f32, got " << other;
  // (C3)
  int64_t columns = type.getShape().back();
  if (op.getColumns()) {
    if (!isa<VectorType>(type) || columns != kDynamicColumns)
      return op.emitOpError("expected a vector of ")
             << kDynamicColumns << " columns, as columns is given, got "
             << type;
    return success();
  }
  bool dynamic = ShapedType::isDynamic(dest.getDimSize(0));
  if (dynamic && isa<VectorType>(type))
    return op.emitOpError("expected columns, as dest has a dynamic size, got ")
           << dest;
  if (columns != dest.getDimSize(0))
    return op.emitOpError("expected as many columns as dest has, got ")
           << type << " and " << dest;
  return success();
}

LogicalResult ColumnSumOp::verify() {
  auto source = cast<ShapedType>(getSource().getType());
  // (C2)
  if (isa<VectorType>(source) ? source.getDimSize(0) != 1
                              : source.getRank() != 1)
    return emitOpError("expected source to be a vector 1xN or a tensor of rank "
                       "1, got ")
           << source;
  if (failed(verifyColumns(*this, source)))
    return failure();
  // (C4)
  if (!isa_and_present<scf::InParallelOp>((*this)->getParentOp()))
    return emitOpError("expected to stand in scf.forall.in_parallel");
  return success();
}

MutableOperandRange ColumnSumOp::getUpdatedDestinations() {
  return getDestMutable();
}

Operation *ColumnSumOp::getIteratingParent() {
  return (*this)->getParentOfType<scf::ForallOp>();
}

LogicalResult AccumulateOp::verify() {
  VectorType source = getSource().getType();
  auto dest = dyn_cast<VectorType>(getDest().getType());
  // (C5)
  if (bool(dest) != bool(getResult()) ||
      (dest && getResult().getType() != dest))
    return emitOpError("expected a result of the type of dest if and only if "
                       "that is a vector, got dest ")
           << getDest().getType();
  // In rmsnorm.rows that says how many columns there are, and verifies it.
  if (!dest && (*this)->getParentOfType<RowsOp>())
    return success();
  if (!dest)
    return verifyColumns(*this, source);
  // (C4)
  if (getColumns() || getInit() || source.getDimSize(1) != dest.getDimSize(1) ||
      source.getDimSize(0) % dest.getDimSize(0) != 0)
    return emitOpError(
               "expected a vector dest with as many columns as source, "
               "a divisor of its rows, and no 'columns' or 'init', got ")
           << source << " and " << dest;
  return success();
}

void AccumulateOp::getEffects(
    SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>>
        &effects) {
  if (!isa<MemRefType>(getDest().getType()))
    return;
  effects.emplace_back(MemoryEffects::Read::get(), &getDestMutable());
  effects.emplace_back(MemoryEffects::Write::get(), &getDestMutable());
  if (getInit())
    effects.emplace_back(MemoryEffects::Read::get(), &getInitMutable()[0]);
}
