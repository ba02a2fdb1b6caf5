// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- ValueDigits.h - what a thread has of a value's digits -------------===//

#ifndef RMSNORM_LIB_DISTRIBUTION_VALUEDIGITS_H
#define RMSNORM_LIB_DISTRIBUTION_VALUEDIGITS_H

#include "RMSNorm/Schedule/Layout.h"

#include "mlir/IR/BuiltinTypes.h"

namespace mlir::rmsnorm {

/// Where an element of a row is that a thread has: of each digit of the layout
/// which of its vectors, and which element of that.
struct ColumnPlace {
  SmallVector<int64_t, 3> registers, elements;
};

/// The fragments that a thread has of a value with several columns. Of a digit
/// of the layout, which may be several of the program's, a value has as many
/// vectors and elements as a row, one for all that it lacks, or, where single
/// indices are taken, some.
class ValueDigits {
public:
  /// Of a value of type `type` in rows of the digits `sizes`. Parts of digits
  /// that threads share begin at `begins` in each; empty: nobody asks where.
  ValueDigits(const Layout &layout, ArrayRef<int64_t> sizes, VectorType type,
              ArrayRef<int64_t> begins = {});

  /// How many vectors a thread has, and their elements.
  int64_t getNumFragments() const;
  int64_t getWidth() const;

  /// The place in a row of an element of a fragment, the first one if it is
  /// that of several, of a value that is the part of a row at `at`.
  ColumnPlace getPlace(int64_t fragment, int64_t element,
                       ArrayRef<int64_t> at = {}) const;
  /// The number of the row's vector that `place` is in.
  int64_t getRowFragment(const ColumnPlace &place) const;
  /// The fragment and the element of it that the value has for `place`. None if
  /// the value is the part of a row at `at`, and the place is not in it.
  std::optional<std::pair<int64_t, int64_t>>
  find(const ColumnPlace &place,
       std::optional<ArrayRef<int64_t>> at = {}) const;

  /// What a value has of a digit of the layout.
  enum class Share {
    all,
    /// One for all columns that differ in the digit alone.
    none,
    /// Some indices of a digit that a thread holds.
    some,
    /// Some side by side of a digit that threads share, which all have their
    /// fragments of it: columns outside of the part have no certain value.
    inPlace,
    /// Of digits that are one in the layout it lacks the inner ones, or outer
    /// ones: it has an element for `group` of a row.
    groups
  };
  /// Columns side by side in a row that are side by side in the value, too:
  /// from index to index so many columns of either.
  struct Run {
    int64_t stride, size, ownStride;
  };
  struct Digit {
    Share share;
    SmallVector<int64_t, 2> sizes, own;
    int64_t registers, vector, group = 1;
    /// Of a part in place, in indices of the digit: its first, and how many.
    int64_t begin = 0, count = 0;
    /// From one index to the next: columns of the value.
    int64_t ownStride;
    /// Of a value that has groups: in indices of the digit.
    SmallVector<Run, 2> runs;

    /// Columns of a value of an inner digit's group.
    int64_t getGroup() const {
      int64_t group = 1;
      for (size_t i = own.size(); i-- > 0 && own[i] == 1;)
        group *= sizes[i];
      return group;
    }
  };
  /// As the layout's digits.
  ArrayRef<Digit> getDigits() const { return digits; }
  bool hasPartsInPlace() const {
    return llvm::any_of(digits, [](const Digit &digit) {
      return digit.share == Share::inPlace;
    });
  }
  /// Threads, of those with lanes side by side, that have the same value, from
  /// the lowest on.
  int64_t getSharingThreads() const;

private:
  const Layout &layout;
  SmallVector<Digit, 3> digits;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_DISTRIBUTION_VALUEDIGITS_H
