// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileTypes.cpp - what the shape of a tile's value says -------------===//

#include "RMSNorm/IR/TileTypes.h"

using namespace mlir;
using namespace mlir::rmsnorm;

APFloat rmsnorm::getIdentity(ReduceKind kind,
                             const llvm::fltSemantics &semantics) {
  switch (kind) {
  case ReduceKind::add:
    return APFloat::getZero(semantics);
  case ReduceKind::maximumf:
    return APFloat::getInf(semantics, /*Negative=*/true);
  case ReduceKind::minimumf:
    return APFloat::getInf(semantics);
  case ReduceKind::mul:
    return APFloat(semantics, 1);
  case ReduceKind::maxnumf:
  case ReduceKind::minnumf:
    return APFloat::getQNaN(semantics);
  }
  llvm_unreachable("unknown reduction kind");
}

bool rmsnorm::isIdentity(ReduceKind kind, const APFloat &value) {
  APFloat identity = getIdentity(kind, value.getSemantics());
  return identity.isNaN()    ? value.isNaN()
         : identity.isZero() ? value.isZero()
                             : value.bitwiseIsEqual(identity);
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

VectorType rmsnorm::getTileType(int64_t rows, ArrayRef<int64_t> digits,
                                Type element) {
  SmallVector<int64_t> shape{rows};
  llvm::append_range(shape, digits);
  return VectorType::get(shape, element);
}

VectorType rmsnorm::getTypeOfRows(VectorType type, int64_t rows) {
  return getTileType(rows, getColumnShape(type), type.getElementType());
}

VectorType rmsnorm::getPerRowType(VectorType type) {
  return getTileType(type.getDimSize(0),
                     SmallVector<int64_t>(type.getRank() - 1, 1),
                     type.getElementType());
}

SmallVector<int64_t> rmsnorm::getDigitStrides(ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> strides(sizes.size(), 1);
  for (size_t digit = sizes.size(); digit-- > 1;)
    strides[digit - 1] = strides[digit] * sizes[digit];
  return strides;
}

bool rmsnorm::hasGroups(ArrayRef<int64_t> groups, ArrayRef<int64_t> whole) {
  if (groups.size() != whole.size())
    return false;
  while (!groups.empty() && groups.back() == 1) {
    groups = groups.drop_back();
    whole = whole.drop_back();
  }
  return groups == whole;
}

int64_t rmsnorm::getGroupColumns(VectorType type, ArrayRef<int64_t> sizes) {
  int64_t count = 1;
  for (auto [own, size] :
       llvm::reverse(llvm::zip_equal(getColumnShape(type), sizes))) {
    if (own != 1)
      break;
    count *= size;
  }
  return count;
}

//===----------------------------------------------------------------------===//
// Parts of rows
//===----------------------------------------------------------------------===//

/// The digits of which `op` accesses some indices by themselves.
static void addHeldDigits(Operation *op, ArrayRef<int64_t> sizes,
                          SmallVectorImpl<bool> &held) {
  auto add = [&](function_ref<bool(size_t)> isTaken) {
    for (size_t digit = 0; digit < sizes.size(); ++digit)
      held[digit] = held[digit] || (sizes[digit] > 1 && isTaken(digit));
  };
  auto getShape = [&](Type type) {
    return getColumnShape(cast<VectorType>(type));
  };
  for (Type type : op->getResultTypes())
    if (isPerColumn(type))
      add([&](size_t digit) {
        const int64_t own = getShape(type)[digit];
        return own != 1 && own != sizes[digit];
      });
  auto load = dyn_cast<TileLoadOp>(op);
  auto store = dyn_cast<TileStoreOp>(op);
  if (isa<TakeOp, PutOp>(op)) {
    const bool isPut = isa<PutOp>(op);
    const auto part =
        getShape((isPut ? op->getOperand(0) : op->getResult(0)).getType());
    const auto whole =
        getShape((isPut ? op->getResult(0) : op->getOperand(0)).getType());
    add([&](size_t digit) { return part[digit] != whole[digit]; });
  } else if (load || store) {
    const Type type = load ? Type(load.getType()) : store.getValue().getType();
    const TileKind kind = load ? load.getKind() : store.getKind();
    if (kind != TileKind::tile && kind != TileKind::group)
      return;
    const auto own = getShape(type);
    size_t inner = own.size();
    while (inner > 0 && own[inner - 1] == 1)
      --inner;
    add([&](size_t digit) {
      // What has inner digits alone is the same for all outer ones, unless it
      // is stored.
      return own[digit] == 1 &&
             (digit < inner ? bool(store) : kind == TileKind::tile);
    });
  }
}

ColumnParts rmsnorm::getColumnParts(RowsOp rows) {
  const ArrayRef<int64_t> sizes = rows.getDigits();
  const int64_t columns = rows.getColumns();
  SmallVector<bool> held(sizes.size());
  rows.getBody().walk([&](Operation *op) { addHeldDigits(op, sizes, held); });
  ColumnParts parts;
  parts.whole = columns;
  parts.hasPairs = held.back() && sizes.back() == 2;
  if (parts.hasPairs)
    held.back() = false;
  const auto *first = llvm::find(held, true);
  if (first == held.end()) {
    parts.part = parts.hasPairs ? columns : 0;
    return parts;
  }
  const SmallVector<int64_t> strides = getDigitStrides(sizes);
  for (size_t digit = 0; digit < sizes.size(); ++digit)
    if (held[digit])
      parts.part = strides[digit];
  const size_t outer = first - held.begin();
  parts.whole = strides[outer] * sizes[outer];
  return parts;
}
