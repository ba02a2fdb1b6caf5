// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Tensors.h - which tensors hold an expression ----------------------===//

#ifndef RMSNORM_LIB_RAISE_TENSORS_H
#define RMSNORM_LIB_RAISE_TENSORS_H

#include "Reader.h"

#include "mlir/IR/Dominance.h"

namespace mlir::rmsnorm::raising {

/// An expression as a tensor, or none: its element at `indices`, each a loop of
/// the host, or 0 where the size is 1.
struct Placed {
  Value tensor;
  SmallVector<AffineExpr> indices;
};

/// All tensors of a function, by the expressions of their elements. Built in
/// the order of the program. It also decides which tensors are not looked
/// through.
class Tensors {
public:
  Tensors(ExprPool &pool, Reader &reader, Operation *root);

  /// Also finds `tensor` from now on.
  void add(Value tensor);
  /// False if it is gone from the program, but not freed.
  bool isLive(Operation *op) const { return root->isAncestor(op); }
  bool isLive(Value value) const;
  /// `tensor` is computed by `other` from now on.
  void replace(Value tensor, Value other);

  /// The live tensors whose element at (d0, d1, ...), dimensions of size 1 left
  /// out, is `expr`.
  SmallVector<Value> lookup(Expr *expr) const;
  /// The live tensors of columns that would hold `sum` if roundings were left
  /// out.
  SmallVector<Value> lookupRelaxed(Expr *sum);
  /// The live tensors with the same elements as `tensor`, itself included.
  SmallVector<Value> getEqual(Value tensor);

  /// A tensor that holds `expr`, in the loops of `host`, and that may stand
  /// in front of it: its loops in any order, but `column` last. The narrowest
  /// that is at least as wide as `type`, and of those the one of the lowest
  /// rank. Without one, the indices are those that it would have.
  Placed find(Expr *expr, unsigned column, Type type, linalg::LinalgOp host);

  /// True if `value` is defined in front of `op`.
  bool dominates(Value value, Operation *op) const {
    return dominance.properlyDominates(value, op);
  }
  bool precedes(Operation *first, Operation *second) const {
    return dominance.properlyDominates(first, second);
  }

private:
  bool shouldCut(Value tensor, Expr *expr) const;
  bool fits(const Placed &placed, Expr *expr, linalg::LinalgOp host) const;

  ExprPool &pool;
  Reader &reader;
  Operation *root;
  DominanceInfo dominance;
  using Index = DenseMap<Expr *, SmallVector<Value, 1>>;
  SmallVector<Value> getLive(const Index &index, Expr *expr) const;
  Index tensors, relaxed;
};

/// True if two loops, `size` and `other` iterations, are as long: if one size
/// is dynamic, where `dim`, the dimension or symbol of both in `expr`, walks a
/// whole dimension of some tensor. Then it has as many iterations wherever
/// `expr` is computed.
bool isSameSize(int64_t size, int64_t other, Expr *expr, AffineExpr dim);

} // namespace mlir::rmsnorm::raising

#endif // RMSNORM_LIB_RAISE_TENSORS_H
