// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Digits.h - indices as sums of digits times factors ----------------===//

#ifndef RMSNORM_ACCESS_DIGITS_H
#define RMSNORM_ACCESS_DIGITS_H

#include "RMSNorm/Access/Sizes.h"

#include "mlir/IR/AffineExpr.h"

namespace mlir::rmsnorm::access {

/// A number `0 <= d < size`. It may be divided: `d = high * low.size + low`.
struct Digit {
  Size size;
  /// Whether it counts rows, not columns.
  bool isRow;
  /// The numbers of the two parts of a digit that is divided.
  std::optional<std::pair<unsigned, unsigned>> parts = std::nullopt;
  /// Whether it is a part of a division that may not come out even: together
  /// with the other part it does not take all values.
  bool isPartial = false;
};

/// A digit times a factor.
struct Term {
  unsigned digit;
  Size factor;

  bool operator==(const Term &other) const {
    return digit == other.digit && factor == other.factor;
  }
};

/// The index in one dimension: an offset, terms, and for a gather the value of
/// an index operand, by its number.
struct Sum {
  int64_t offset = 0;
  SmallVector<Term, 2> terms;
  std::optional<unsigned> operand;

  bool operator==(const Sum &other) const {
    return offset == other.offset && terms == other.terms &&
           operand == other.operand;
  }
};

/// Where an element of a tensor lies: its index in each dimension.
using Layout = SmallVector<Sum>;

/// The digits of a cluster, in mixed radix. On digits a reshape is exact
/// without analysis of ranges: dimensions are joined by concatenating their
/// digits, and split by dividing them. A digit that was divided once is divided
/// for all; `resolve` brings older sums up to date. A division need not come
/// out even: `d = (d floordiv s) * s + d mod s` is always true.
class Digits {
public:
  explicit Digits(Sizes sizes) : sizes(std::move(sizes)) {}

  unsigned add(Size size, bool isRow);
  unsigned size() const { return digits.size(); }
  const Digit &operator[](unsigned digit) const { return digits[digit]; }
  Sizes &getSizes() { return sizes; }
  const Sizes &getSizes() const { return sizes; }

  /// The digit as an index; a digit of size 1 is always 0.
  Sum getSum(unsigned digit) const;

  Sum resolve(const Sum &sum) const;
  Layout resolve(const Layout &layout) const;

  /// The index in a dimension that dimensions of these sizes are joined to.
  std::optional<Sum> join(ArrayRef<Sum> sums, ArrayRef<Size> dims) const;
  /// The indices in dimensions of these sizes that one is split into. Divides
  /// digits where it has to. None if indices cannot be told apart.
  std::optional<Layout> split(const Sum &sum, ArrayRef<Size> dims);
  /// `sum * stride + offset`.
  static std::optional<Sum> scale(Sum sum, int64_t offset, int64_t stride);

  /// The least and the largest value, if sizes are static.
  std::optional<std::pair<int64_t, int64_t>> getRange(const Sum &sum) const;
  bool hasRows(const Sum &sum) const;
  bool hasColumns(const Sum &sum) const;
  /// Whether `sum` takes each value from 0 to `size` - 1, once.
  bool counts(const Sum &sum, Size size) const;
  /// Whether the rows at two indices are the same, whatever the columns are.
  bool haveSameRows(const Sum &a, const Sum &b) const;

  /// The undivided digits that `digit` consists of, the highest first.
  SmallVector<unsigned> getLeaves(unsigned digit) const;
  /// The fewest digits that consist of `leaves`, in the order in which they
  /// first occur.
  SmallVector<unsigned> getCover(ArrayRef<unsigned> leaves) const;

  /// The index as an expression of `variables`, which are digits; each digit of
  /// `sum` is one or a part of one. Symbols are the index operands, then the
  /// sizes in `symbols`, to which those that are missing are added.
  AffineExpr getExpr(MLIRContext *context, Sum sum,
                     ArrayRef<unsigned> variables, unsigned numOperands,
                     SmallVectorImpl<unsigned> &symbols) const;

private:
  void divide(unsigned digit, const Size &low);
  void undivide(SmallVectorImpl<Term> &terms) const;
  bool splitOnce(const Sum &sum, const Size &dim, Sum &outer, Sum &inner);
  bool areNested(ArrayRef<Term> terms) const;
  Size getExtent(const Term &term) const;
  bool keepsRows(const Sum &sum) const;

  Sizes sizes;
  SmallVector<Digit> digits;
};

} // namespace mlir::rmsnorm::access

#endif // RMSNORM_ACCESS_DIGITS_H
