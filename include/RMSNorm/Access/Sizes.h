// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Sizes.h - sizes of dimensions as products -------------------------===//

#ifndef RMSNORM_ACCESS_SIZES_H
#define RMSNORM_ACCESS_SIZES_H

#include "RMSNorm/IR/DimTrace.h"

#include "llvm/ADT/DenseMap.h"

namespace mlir::rmsnorm::access {

/// A product: a number times sizes that are known at run time only, by their
/// numbers in `Sizes`. A product with a number of 0 is no usable size: a
/// dimension without elements, or an overflow.
class Size {
public:
  Size(int64_t number = 1) : number(number) {}

  /// The size with number `source` in `Sizes`.
  static Size ofSource(unsigned source);

  bool isUsable() const { return number > 0; }
  bool isStatic() const { return sources.empty(); }
  bool isOne() const { return isStatic() && number == 1; }
  int64_t getNumber() const { return number; }
  /// Sorted; a size that occurs twice is there twice.
  ArrayRef<unsigned> getSources() const { return sources; }

  Size operator*(const Size &other) const;
  /// The quotient if it is certainly a whole number.
  std::optional<Size> dividedBy(const Size &other) const;

  bool operator==(const Size &other) const {
    return number == other.number && sources == other.sources;
  }
  bool operator!=(const Size &other) const { return !(*this == other); }

private:
  int64_t number;
  SmallVector<unsigned, 1> sources;
};

/// Sizes of dimensions, and known relations between them. A reshape of n into
/// [m, 4] says that n is 4 * m. Sizes are written with m from then on, so
/// divisions need no proof of their own.
class Sizes {
public:
  Sizes() = default;
  /// Learns from the ops of `block`: reshapes, casts, insertions, and the loops
  /// that several operands share.
  explicit Sizes(Block &block);

  Size get(Value value, int64_t dim);
  Size get(OpFoldResult size) { return get(traceSize(size)); }

  /// A size of which nothing is known; its source has no value.
  Size addUnknown();

  /// Where a size that is known at run time only comes from.
  const DimSource &getSource(unsigned source) const { return sources[source]; }

  /// Says that two products are the same. It is remembered only if one size can
  /// be written in terms of the others.
  void equate(Size a, Size b);
  /// The product, with all that is known.
  Size simplify(Size size) const;

private:
  Size get(DimSource source);
  void learn(Operation &op);

  SmallVector<DimSource> sources;
  DenseMap<std::pair<Value, int64_t>, unsigned> numbers;
  /// Sizes in terms of others, without circles.
  DenseMap<unsigned, Size> known;
};

} // namespace mlir::rmsnorm::access

#endif // RMSNORM_ACCESS_SIZES_H
