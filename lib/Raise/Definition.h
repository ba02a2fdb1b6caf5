// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Definition.h - what our ops compute -------------------------------===//

#ifndef RMSNORM_LIB_RAISE_DEFINITION_H
#define RMSNORM_LIB_RAISE_DEFINITION_H

#include "Match.h"

namespace mlir::rmsnorm::raising {

/// What `rmsnorm-decompose` makes of a norm, as expressions.
class Definition {
public:
  Definition(ExprPool &pool, const Norm &norm);

  Expr *getRstd();
  /// An element of the forward's result.
  Expr *getForward();
  /// dy * weight.
  Expr *getG(Expr *dy);
  /// The term of dx with x, behind g * rstd; with `none` dx itself.
  Expr *getBackward(Expr *g);
  /// What dweight adds up.
  Expr *getAddend(Expr *dy);

  /// Where `found` first differs from `expected`, one of the above; empty if
  /// they are equal but for the rounding of constants in f32.
  std::string compare(Expr *expected, Expr *found);

private:
  /// A part of both, or nulls, and the innermost name of what it is a part of.
  struct Difference {
    Expr *expected = nullptr, *found = nullptr;
    StringRef name;
  };
  Difference findDifference(Expr *expected, Expr *found) const;
  Expr *step(Expr *expr, StringRef name, bool isRounded);
  Expr *getMean(Expr *body);
  Expr *getWeight();

  ExprPool &pool;
  const Norm &norm;
  bool isNone;
  DenseMap<Expr *, StringRef> names;
};

/// True if they are equal but for the rounding of constants in f32.
bool isNear(double a, double b);

} // namespace mlir::rmsnorm::raising

#endif // RMSNORM_LIB_RAISE_DEFINITION_H
