// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Reader.h - what elements of tensors are computed as ---------------===//

#ifndef RMSNORM_LIB_RAISE_READER_H
#define RMSNORM_LIB_RAISE_READER_H

#include "Expr.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

namespace mlir::rmsnorm::raising {

/// The most loops that positions of dimensions are kept for.
constexpr unsigned kMaxLoops = 32;

/// Whether bodies and results of `op` are looked into.
inline bool isReadable(linalg::LinalgOp op) {
  return op.hasPureTensorSemantics() && op.getNumLoops() <= kMaxLoops;
}

/// Reads programs: walks from an element of a tensor through the linalg ops,
/// fills, reshapes and casts that produce it. A value that it cannot look
/// through is an Element. Dimensions and loops of size 1 have index 0, so that
/// they do not count.
///
/// Everything that is read stays true of its value. So replacing an op by one
/// that computes the same invalidates nothing, as long as no value is freed.
class Reader {
public:
  explicit Reader(ExprPool &pool) : pool(pool) {}

  /// The element of `tensor` at `indices`.
  Expr *element(Value tensor, ArrayRef<AffineExpr> indices);
  /// The same, where `tensor` itself is looked through even if it is cut.
  Expr *definition(Value tensor, ArrayRef<AffineExpr> indices);
  /// `scalar` of the body of `op`, with the loops of `op` as dimensions. One
  /// that no body computes, or of no op, is the same for all elements.
  Expr *scalar(Value scalar, linalg::LinalgOp op);
  /// What result `number` of `op` adds up from zero on, with the loops of `op`
  /// as dimensions; null if it is no such sum.
  Expr *summand(linalg::LinalgOp op, unsigned number);

  /// From now on `tensor` is an Element for all that is computed from it.
  void cut(Value tensor) { cuts.insert(tensor); }

private:
  using Loops = SmallVector<AffineExpr, 4>;

  Expr *read(Expr *leaf);
  Expr *readExpandShape(tensor::ExpandShapeOp op, ArrayRef<AffineExpr> indices);
  Expr *readCollapseShape(tensor::CollapseShapeOp op,
                          ArrayRef<AffineExpr> indices,
                          AffineExpr merged = AffineExpr(),
                          ArrayRef<AffineExpr> parts = {});
  void separate(Expr *&body, SmallVectorImpl<AffineExpr> &symbols,
                SmallVectorImpl<int64_t> &extents, unsigned number);
  Expr *readResult(linalg::LinalgOp op, unsigned number,
                   ArrayRef<AffineExpr> indices);
  Expr *readScalar(Value scalar, linalg::LinalgOp op, const Loops &loops);
  Expr *readArgument(BlockArgument argument, linalg::LinalgOp op,
                     const Loops &loops);
  Loops getLoops(linalg::LinalgOp op) const;

  ExprPool &pool;
  /// The expression of the element that is the key.
  DenseMap<Expr *, Expr *> elements;
  /// Scalars of bodies, in the loops of their own op, and others.
  DenseMap<Value, Expr *> scalars;
  DenseSet<Value> cuts;
  unsigned depth = 0;
};

} // namespace mlir::rmsnorm::raising

#endif // RMSNORM_LIB_RAISE_READER_H
