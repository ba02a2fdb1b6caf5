// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- AccessMap.h - which elements of a buffer a tile has ---------------===//
//
// An access says where an element lies by an affine map: from the indices of a
// row, then the column (or the group of columns), to the indices of the buffer.
// Index operands are its symbols. Each result is a sum of digits, so whatever
// is asked of a map is read off a list: no ranges are analysed.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_IR_ACCESSMAP_H
#define RMSNORM_IR_ACCESSMAP_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::rmsnorm {

/// `factor` times a digit of a dimension of the domain: `dim floordiv divisor
/// mod modulus`.
struct AccessTerm {
  /// Of the domain, or of the index operands.
  unsigned dim = 0;
  bool isOperand = false;
  int64_t divisor = 1;
  /// 0: what is left, the outermost digit.
  int64_t modulus = 0;
  int64_t factor = 1;

  bool isWhole() const { return divisor == 1 && modulus == 0 && factor == 1; }
  /// The digit, without its factor.
  AffineExpr getDigit(MLIRContext *context) const;
};

/// One index of a buffer.
struct AccessIndex {
  int64_t offset = 0;
  SmallVector<AccessTerm, 1> terms;

  /// The one term, if nothing is added to it, else null.
  const AccessTerm *getTerm() const {
    return offset == 0 && terms.size() == 1 ? &terms.front() : nullptr;
  }
};

/// A map, taken apart. Its domain has the rows' dimensions, one for each of
/// their leading sizes or a single one for the number of the row, or none where
/// all rows have the same; then, with `hasColumn`, the column.
class AccessMap {
public:
  AccessMap(AffineMap map, bool hasColumn);

  /// Rows, then columns: (r0, r1, c) -> (r0, r1, c).
  static AffineMap getPlain(MLIRContext *context, unsigned numRowDims,
                            bool hasColumn);

  /// Rows that have indices only of the leading sizes `dims`: (r0, r1, c) ->
  /// (r0, c). Of a sum of one value a row the column leads nowhere.
  static AffineMap getSome(MLIRContext *context, unsigned numRowDims,
                           ArrayRef<int64_t> dims, bool hasColumn,
                           bool usesColumn);

  /// The map of a sum into a buffer of `rank` that has a row for each of the
  /// leading sizes `dims`, then columns where it has another dimension. Null if
  /// all rows are added to one.
  static AffineMapAttr getSum(MLIRContext *context, unsigned numRowDims,
                              ArrayRef<int64_t> dims, int64_t rank);
  /// The `dims` of such a map, which may be null.
  static SmallVector<int64_t> getSumDims(std::optional<AffineMap> map);

  /// Whether each index is a sum of digits.
  bool isValid() const { return valid; }
  AffineMap getMap() const { return map; }
  ArrayRef<AccessIndex> getIndices() const { return indices; }
  bool hasColumn() const { return column; }
  unsigned getNumRowDims() const { return map.getNumDims() - column; }
  unsigned getColumnDim() const { return getNumRowDims(); }

  /// A digit, and the dimension of the buffer whose index it is part of.
  struct Digit : AccessTerm {
    int64_t place;
  };
  /// The digits of `dim`, the innermost first.
  SmallVector<Digit> getDigits(unsigned dim) const;
  /// How many values `term` has where the dimensions of the domain have
  /// `sizes`; ShapedType::kDynamic if that is not known.
  int64_t getRange(const AccessTerm &term, ArrayRef<int64_t> sizes) const;
  /// Whether the map has all digits of `dim`, each once, and its indices tell
  /// them from those of other dimensions: no two values of `dim` lead to one
  /// element. The dimensions of the domain have `sizes`.
  bool isInjective(unsigned dim, ArrayRef<int64_t> sizes) const;
  /// The dimension of the buffer that has the row dimension `dim`, and nothing
  /// else, as its index, or -1.
  int64_t getPlace(unsigned dim) const;
  /// The dimension of the buffer whose index is index operand `number`, and
  /// that no other depends on, or -1.
  int64_t getOperandPlace(unsigned number) const;
  /// The row dimensions that are indices by themselves, in the buffer's order.
  SmallVector<int64_t> getRowDims() const;
  /// The dimensions of the buffer that no row has a part in.
  SmallVector<int64_t> getPlacesWithoutRow() const;
  /// Whether all row dimensions are used: no two rows have the same elements.
  bool hasAllRows() const;
  /// Whether the last index is the column and no other index depends on it.
  bool hasColumnLast() const;
  /// How many of `columns` columns side by side are so in the last index: all,
  /// those of the innermost digit, or 0. In a buffer of `shape` dimensions of
  /// one element may follow, which lie nowhere.
  int64_t getColumnRun(int64_t columns, ArrayRef<int64_t> shape = {}) const;
  /// Whether this is the map that is not written: `getPlain` of its domain.
  bool isPlain() const;

  /// `(r0, r1, c)[i] -> (r0, i, c)`, `column` being the column's name.
  std::string getText(StringRef column = "c") const {
    return getText(map, getNumRowDims(), column);
  }
  /// The same of any map of rows, then columns: `c0, c1` if there are several.
  static std::string getText(AffineMap map, unsigned numRowDims,
                             StringRef column = "c");

  /// The map with digits of one dimension that are next to each other in an
  /// index as one digit.
  AffineMap joinDigits() const;

private:
  AffineMap map;
  bool column, valid = true;
  SmallVector<AccessIndex> indices;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_IR_ACCESSMAP_H
