// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Backward.h - which scalars are gradients of norms -----------------===//

#ifndef RMSNORM_LIB_RAISE_BACKWARD_H
#define RMSNORM_LIB_RAISE_BACKWARD_H

#include "Forward.h"

namespace mlir::rmsnorm::raising {

/// Where rstd is given eps is not used; the op wants one that is positive.
constexpr double kUnusedEps = 1e-5;

/// The operands and attributes of a norm's gradient, in the loops of its host.
struct Gradient {
  /// Of the norm: its output type is that of dx.
  Norm norm;
  Expr *dy = nullptr;
  /// What is added to dx before the sum is rounded, or null.
  Expr *rest = nullptr;
  /// rstd, if it is not computed here but given: a tensor of the rows.
  Expr *savedRstd = nullptr;
  /// Tensors that are the weight's gradient, in one or two types, and which.
  SmallVector<Value> weightGradients;
};

/// Recognises dx: scalars of linalg bodies that are, by the definition of
/// `rmsnorm.backward`, the elements of it. As autodiff leaves it,
///
///     dx = dy * w * r - 1/N * x * r^3 * sum(x * dy * w)
///
/// in any order of terms and factors, also with terms that occur twice. The
/// factors of the first term say what dy, w and r are, and the second one is
/// compared with what it must be then.
class BackwardMatcher {
public:
  BackwardMatcher(const Context &context, linalg::GenericOp host);

  /// `scalar`, of the body of the host, is `expr`.
  std::optional<Gradient> match(Value scalar, Expr *expr);

private:
  using List = ExprPool::List;
  struct Term {
    Expr *product;
    double number;
  };
  using Terms = SmallVector<Term, 4>;

  bool collectTerms(Expr *expr, double number, Terms &terms);
  bool matchTerms(const Term &first, const Term &second, Gradient &gradient);
  bool matchRstd(Expr *rstd, const Term &first, const Term &second,
                 Gradient &gradient);
  bool matchColumn(const Term &first, const Term &second, int64_t extent,
                   Gradient &gradient);
  bool placeRest(ArrayRef<Term> terms, const Term &first, const Term &second,
                 Value scalar, Gradient &gradient);
  void findWeightGradients(Gradient &gradient);

  const Context &context;
  ExprPool &pool;
  linalg::GenericOp host;
};

/// The same for casting `none`, where each step is rounded: `expr` is compared
/// with the definition, whose operands it names. Weight gradients and tensors
/// are not looked for.
bool matchNoneGradient(const Context &context, linalg::GenericOp host,
                       Expr *expr, Gradient &gradient);

/// The gradient of a norm's weight alone: `host` adds up dy * x * rstd over
/// rows. Nothing of it depends on the weight, which is not known.
std::optional<Gradient> matchWeightGradient(const Context &context,
                                            linalg::GenericOp host);

/// Finds the operands of `gradient` as tensors in front of `host`, or checks
/// that they can be computed there.
bool placeGradient(const Context &context, linalg::GenericOp host,
                   Gradient &gradient);

/// A tensor that holds `expr`, which is of the rows and the column of x.
Placed findLike(const Context &context, linalg::LinalgOp host, Expr *expr,
                const Norm &norm);

/// Sets the weight of `gradient` to those of `factors`, which with `number` are
/// dy * w, that depend on the column only, and dy to the others.
void splitWeight(ExprPool &pool, ExprPool::List factors, double number,
                 Gradient &gradient);

} // namespace mlir::rmsnorm::raising

#endif // RMSNORM_LIB_RAISE_BACKWARD_H
