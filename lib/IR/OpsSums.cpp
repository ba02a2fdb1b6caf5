// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- OpsSums.cpp - sums over rows: verifiers, effects ------------------===//

#include "RMSNorm/IR/AccessMap.h"
#include "RMSNorm/IR/TileTypes.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace mlir::rmsnorm;

//===----------------------------------------------------------------------===//
// accumulate
//===----------------------------------------------------------------------===//

/// (C6), but for `init`.
static LogicalResult verifyKind(AccumulateOp op) {
  if (op.getKind() == ReduceKind::mul)
    return op.emitOpError("expected rows to be added up, or their maximum or "
                          "minimum to be taken, got kind mul");
  if (op.getStart() && op.getKind() == ReduceKind::add)
    return op.emitOpError("expected no start of a sum, got ")
           << op.getStartAttr();
  return success();
}

/// (C1), (C3) and (C6) of a memref.
static LogicalResult verifyDest(AccumulateOp op) {
  const VectorType type = op.getSource().getType();
  auto dest = cast<ShapedType>(op.getDest().getType());
  // (C1)
  auto isSumType = [&](ShapedType sum) {
    Type element = sum.getElementType();
    return element.isF16() || element.isBF16() || element.isF32();
  };
  const int64_t rank = op.getDims().size();
  const int64_t columns = getNumColumns(type);
  if (!isSumType(dest) ||
      (dest.getRank() != rank + 1 && !(columns == 1 && dest.getRank() == rank)))
    return op.emitOpError("expected dest to have rank ")
           << rank + 1 << " and element type f16, bf16 or f32, got " << dest;
  // (C6)
  if (Value init = op.getInit())
    if (auto other = cast<ShapedType>(init.getType());
        !isSumType(other) || other.getShape() != dest.getShape())
      return op.emitOpError("expected init to have the shape of dest, ")
             << dest << ", and element type f16, bf16 or f32, got " << other;
  // (C3)
  const int64_t expected = dest.getRank() == rank ? 1 : dest.getShape().back();
  if (ShapedType::isDynamic(expected))
    return op.emitOpError("expected dest to have a static size, got ") << dest;
  if (columns != expected)
    return op.emitOpError("expected as many columns as dest has, got ")
           << type << " and " << dest;
  return success();
}

SmallVector<int64_t> AccumulateOp::getDims() {
  return AccessMap::getSumDims(getMap());
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
  if (failed(verifyKind(*this)))
    return failure();
  // (C7)
  if (getMap()) {
    const AccessMap access(*getMap(), /*hasColumn=*/true);
    const SmallVector<int64_t> dims = access.getRowDims();
    const bool isSome =
        getMap()->getNumDims() > 0 &&
        llvm::is_sorted(dims, std::less_equal<>()) &&
        *getMap() == AccessMap::getSome(getContext(), access.getNumRowDims(),
                                        dims, /*hasColumn=*/true,
                                        access.hasColumnLast());
    if (!isSome)
      return emitOpError("expected 'map' to have increasing indices of rows, "
                         "then the column or nothing, got ")
             << getMapAttr();
  }
  // In rmsnorm.rows that says how many columns there are, and verifies it.
  if (!dest && (*this)->getParentOfType<RowsOp>())
    return success();
  if (!dest)
    return verifyDest(*this);
  // (C4)
  if (getInit() || getStart() || getMap() ||
      getColumnShape(source) != getColumnShape(dest) ||
      source.getDimSize(0) % dest.getDimSize(0) != 0)
    return emitOpError("expected a vector dest with as many columns as source, "
                       "a divisor of its rows, and no 'init', 'start' or "
                       "'map', got ")
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
