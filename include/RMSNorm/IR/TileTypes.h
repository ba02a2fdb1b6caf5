// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- TileTypes.h - what the shape of a tile's value says ---------------===//
//
// The first dimension of a value counts rows, the others are the digits of the
// number of a column, the outermost first. A value that does not depend on a
// digit has size 1 there.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_IR_TILETYPES_H
#define RMSNORM_IR_TILETYPES_H

#include "RMSNorm/IR/RMSNorm.h"

namespace mlir::rmsnorm {

/// The value that changes nothing in a reduction.
APFloat getIdentity(ReduceKind kind, const llvm::fltSemantics &semantics);
/// Whether `value` is that: any NaN, a zero of either sign.
bool isIdentity(ReduceKind kind, const APFloat &value);

/// The digits of the columns of `type`.
inline ArrayRef<int64_t> getColumnShape(VectorType type) {
  return type.getShape().drop_front();
}
/// Columns of `type`: the product of its digits.
inline int64_t getNumColumns(Type type) {
  return ShapedType::getNumElements(getColumnShape(cast<VectorType>(type)));
}
/// A vector of `rows` rows with these digits.
VectorType getTileType(int64_t rows, ArrayRef<int64_t> digits, Type element);
/// `type` with other rows, and with one value a row.
VectorType getTypeOfRows(VectorType type, int64_t rows);
VectorType getPerRowType(VectorType type);

/// Whether threads of a row hold different parts of `type`, which has several
/// columns.
inline bool isPerColumn(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() >= 2 && getNumColumns(vector) != 1;
}

/// Columns from one index of each of the digits `sizes` to the next.
SmallVector<int64_t> getDigitStrides(ArrayRef<int64_t> sizes);

/// Whether a value with the digits `groups` lacks innermost digits of `whole`,
/// and no other, as the value of a group of columns does.
bool hasGroups(ArrayRef<int64_t> groups, ArrayRef<int64_t> whole);

/// The columns side by side that an element of `type` is for, of rows with the
/// digits `sizes`.
int64_t getGroupColumns(VectorType type, ArrayRef<int64_t> sizes);

/// How a program takes the columns of its rows apart. Of the number of a column
/// digits side by side are one, but where some indices of one are taken by
/// themselves. From the outermost such digit to the innermost, but for pairs,
/// every thread holds all columns. Not so of a digit whose parts stay in place:
/// none meets one from elsewhere in a row, so threads that have them share it.
struct ColumnParts {
  /// Parts begin and end at multiples of so many columns; 0: rows are whole.
  int64_t part = 0;
  /// So many columns are taken apart alike: those of a head, or all.
  int64_t whole = 0;
  /// Whether pairs of columns that lie side by side are taken apart.
  bool hasPairs = false;
  /// Of values that are parts in place of some digits where they begin in each.
  DenseMap<Value, SmallVector<int64_t>> inPlace;
};
ColumnParts getColumnParts(RowsOp rows);

} // namespace mlir::rmsnorm

#endif // RMSNORM_IR_TILETYPES_H
