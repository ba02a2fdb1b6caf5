// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Multiples.h - what must be aligned ---------------------------------===//

#ifndef RMSNORM_LIB_EMBED_MULTIPLES_H
#define RMSNORM_LIB_EMBED_MULTIPLES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::rmsnorm {

/// Values that must be multiples of an alignment in bytes. Bits of dynamic
/// values are collected; static ones are checked at once.
class Multiples {
public:
  Multiples(OpBuilder &builder, Location loc, int64_t bytes)
      : builder(builder), loc(loc), bytes(bytes) {}

  /// `count` things of `unit` bytes.
  void add(OpFoldResult count, int64_t unit);
  /// The rows of a buffer that a tile is a row of, or the columns.
  void addRows(Value buffer);

  bool isPossible = true;
  /// Null: it holds.
  Value emitCondition();

private:
  void addAddress(Value buffer);
  Value emitIndex(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }

  OpBuilder &builder;
  Location loc;
  const int64_t bytes;
  /// Of all that was added, the low ones count.
  Value bits;
};

} // namespace mlir::rmsnorm

#endif // RMSNORM_LIB_EMBED_MULTIPLES_H
