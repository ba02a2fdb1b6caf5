// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Fragments.h - fragments as accesses, addresses and words -----------===//

#ifndef RMSNORM_LIB_CONVERSION_FRAGMENTS_H
#define RMSNORM_LIB_CONVERSION_FRAGMENTS_H

#include "RMSNorm/IR/RMSNorm.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::rmsnorm {

/// How a fragment is cut into memory accesses: all of one power-of-two size up
/// to 16 bytes.
struct AccessPlan {
  /// A fragment whose address is a multiple of `alignment` bytes.
  AccessPlan(VectorType fragment, int64_t alignment);

  VectorType fragment;
  /// The type of one access: vector<elements x T>.
  VectorType piece;
  int64_t bytes;
  int64_t count;

  int64_t elements() const { return piece.getNumElements(); }
  /// The piece number `i` of `value`, which has the fragment's type.
  Value extract(ImplicitLocOpBuilder &b, Value value, int64_t i) const;
  /// The fragment made of `pieces`.
  Value assemble(ImplicitLocOpBuilder &b, ValueRange pieces) const;
  /// Whether access `i` has something to do: its first element < `valid`.
  Value predicate(ImplicitLocOpBuilder &b, Value valid, int64_t i) const;
};

/// An address in the parts targets can encode: base + row, 64-bit; a
/// non-negative 32-bit offset in the row; a constant. In bytes.
struct FragmentAddress {
  FragmentAddress(ImplicitLocOpBuilder &b, Value base, Value row, Value column,
                  Type element, bool inBounds);

  /// The address of `extra` bytes after the fragment's start; column 0 of the
  /// row where `predicate` is given and false.
  Value get(ImplicitLocOpBuilder &b, int64_t extra,
            Value predicate = nullptr) const;

private:
  Value rowAddress;
  Value offset; // i32
  int64_t constant;
  bool inBounds;
};

/// Takes the constants off `offset` that were added without unsigned wrap, so
/// that they end up in the instruction's immediate; returns their sum.
int64_t peelConstant(Value &offset);

/// The value's bits as 32-bit words (a value narrower than that: one word).
SmallVector<Value> toWords(ImplicitLocOpBuilder &b, Value fragment);
/// The inverse of toWords.
Value fromWords(ImplicitLocOpBuilder &b, ValueRange words, VectorType fragment);

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_CONVERSION_FRAGMENTS_H
