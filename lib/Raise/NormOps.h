// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- NormOps.h - norms that were recognised, as ops --------------------===//

#ifndef RMSNORM_LIB_RAISE_NORMOPS_H
#define RMSNORM_LIB_RAISE_NORMOPS_H

#include "Match.h"
#include "Rewriter.h"

namespace mlir::rmsnorm::raising {

/// Creates the ops of norms and puts them in place of the ops that computed
/// them.
class NormOps {
public:
  NormOps(Context &context, Rewriter &rewriter)
      : context(context), rewriter(rewriter) {}

  /// `scalar`, in the body of the host, is an element of `norm`.
  void createForward(Value scalar, const Norm &norm);
  /// `scalar`, in the body of the host, is an element of dx of `gradient`; null
  /// if that is of the weight alone.
  void createBackward(Value scalar, const Gradient &gradient);
  /// Makes norms return their rstd, in place of ops that still compute it for
  /// others. Runs after all norms have been created.
  void returnStatistics();

private:
  struct Forward {
    ForwardOp op;
    /// rstd in the dimensions of the rows.
    Expr *rstd;
  };

  Value getNarrow(Value tensor, Type type);
  Value getInput(const Norm &norm);
  Value getOperand(const Norm &norm, Expr *expr, ArrayRef<AffineExpr> indices);
  bool precedesUsers(Operation *next, Value tensor) const;
  void returnStatistics(Forward &forward, Value tensor);

  Context &context;
  Rewriter &rewriter;
  SmallVector<Forward> forwards;
};

} // namespace mlir::rmsnorm::raising

#endif // RMSNORM_LIB_RAISE_NORMOPS_H
