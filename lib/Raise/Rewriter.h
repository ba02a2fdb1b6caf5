// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Rewriter.h - norms in place of scalars ----------------------------===//

#ifndef RMSNORM_LIB_RAISE_REWRITER_H
#define RMSNORM_LIB_RAISE_REWRITER_H

#include "Tensors.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Rewrite/PatternApplicator.h"

namespace mlir::rmsnorm::raising {

/// Changes a program that is still being read: ops and blocks that go are freed
/// last, so that no value comes into being at the address of another one. With
/// its last use a value goes, and what only that needed, inputs and results of
/// linalg.generic among it: they keep statistics alive.
class Rewriter final : public PatternRewriter {
public:
  Rewriter(MLIRContext *context, Tensors &tensors);

  /// The linalg op whose body computes `scalar` reads `summands` at `indices`
  /// in its place: it is their element, or the sum of theirs.
  void replaceScalar(Value scalar, ValueRange summands,
                     ArrayRef<AffineExpr> indices);
  /// Uses of `tensor` become uses of `other`, which is equal.
  void replaceTensor(Value tensor, Value other);
  /// Takes out of `ops` what nobody uses.
  void eraseUnused(ArrayRef<Operation *> ops);
  /// Gives `op` the locations, after its own, of all that has gone since the
  /// last call: that is what it stands for.
  void takeLocations(Operation *op);

  void replaceOp(Operation *op, ValueRange values) override;
  void eraseOp(Operation *op) override;
  void eraseBlock(Block *block) override;

private:
  BlockArgument addInput(linalg::GenericOp host, Value tensor, AffineMap map);
  void eraseDead();

  Tensors &tensors;
  /// Of upstream: take out what a linalg.generic does not use.
  const FrozenRewritePatternSet patterns;
  PatternApplicator applicator;
  /// What is gone.
  Block graveyard;
  std::vector<std::unique_ptr<Block>> blocks;
  /// Ops that may be dead now, or have dead parts.
  SmallVector<Operation *> suspects;
  /// Where it was what is gone since takeLocations.
  SmallVector<Location> locations;
};

} // namespace mlir::rmsnorm::raising

#endif // RMSNORM_LIB_RAISE_REWRITER_H
