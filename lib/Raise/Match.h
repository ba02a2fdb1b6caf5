// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Match.h - which scalars are norms and gradients -------------------===//
//
// The expression of a scalar is compared with that of our op. The operands are
// guessed from a root in the expression, the op's definition is written down
// for them, and the two must be one expression.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_LIB_RAISE_MATCH_H
#define RMSNORM_LIB_RAISE_MATCH_H

#include "RMSNorm/IR/RMSNorm.h"
#include "RMSNorm/Raise/Passes.h"
#include "Tensors.h"

#include "llvm/ADT/MapVector.h"

namespace mlir::rmsnorm::raising {

/// How far a match came before it failed: the furthest is told.
enum Progress { kGuess, kFactors, kDefinition, kWeight, kInput, kGradient };

/// Why a norm was left as it is.
struct Reason {
  int progress = -1;
  std::string text;
  /// An op that is nearly the gradient of the norm, or sums up that of its
  /// weight.
  Operation *gradient = nullptr;
};

/// The state that matching and rewriting share.
struct Context {
  ExprPool &pool;
  Reader &reader;
  Tensors &tensors;
  Roundings roundings;
  /// One for each root.
  llvm::MapVector<Expr *, Reason> reasons = {};

  Reason &getReason(Expr *root) { return reasons[pool.renumber(root)]; }
  /// Notes `text` for `root`, if nothing further is. Always returns false.
  bool fail(Expr *root, int progress, const llvm::Twine &text,
            Operation *gradient = nullptr) {
    if (Reason &reason = getReason(root); progress > reason.progress)
      reason = {progress, text.str(), gradient};
    return false;
  }
};

/// The operands and attributes of a norm, in the loops of `host`, whose body
/// computes it.
struct Norm {
  explicit Norm(linalg::LinalgOp host) : host(host) {}

  linalg::LinalgOp host;
  Expr *x = nullptr;
  /// Null if there is none; without the offset.
  Expr *weight = nullptr;
  /// rstd as the program has it.
  Expr *rstd = nullptr;
  /// True if that is no root, but a tensor of the rows.
  bool isSaved = false;
  /// The operands as tensors; those without one are to be computed.
  llvm::SmallDenseMap<Expr *, Placed> operands;
  unsigned column = 0;
  /// The size of the rows and, if that is dynamic, the program's divisor.
  int64_t extent = 0;
  Expr *inverse = nullptr;
  double eps = 0, offset = 0;
  Casting casting = Casting::gemma;
  /// The element types of the input and of the result.
  Type inputType, outputType;

  SmallVector<unsigned> getRows() const {
    return getDims(x->dims & ~(uint64_t(1) << column));
  }
  /// The indices of an element of x in its tensor.
  ArrayRef<AffineExpr> getIndices() const {
    return operands.find(x)->second.indices;
  }
};

/// The operands and attributes of a norm's gradient, in the loops of its host.
struct Gradient {
  explicit Gradient(const Norm &norm) : norm(norm) {}

  /// Of the norm: its output type is that of dx.
  Norm norm;
  Expr *dy = nullptr;
  /// The addend of dx before the sum is rounded, or null.
  Expr *rest = nullptr;
  /// Tensors that are the weight's gradient, in one or two types.
  SmallVector<Value> weightGradients;
};

/// `expr`, a scalar of the body of `host`, if it is a norm.
std::optional<Norm> matchForward(Context &context, linalg::LinalgOp host,
                                 Expr *expr);

/// `scalar`, of the body of `host`, which is `expr`, if it is dx.
std::optional<Gradient> matchBackward(Context &context, linalg::LinalgOp host,
                                      Value scalar, Expr *expr);

/// The gradient of a norm's weight alone: `host` adds up dy * x * rstd over
/// rows. Nothing of it depends on the weight, which is not known.
std::optional<Gradient> matchWeightGradient(Context &context,
                                            linalg::LinalgOp host);

//===----------------------------------------------------------------------===//
// What the matches have in common
//===----------------------------------------------------------------------===//

/// Where rstd is given eps is not used; the op wants one that is positive.
constexpr double kUnusedEps = 1e-5;

/// The Rsqrt that `factor` is or rounds, or null.
Expr *getRoot(Expr *factor);

/// Guesses the x, eps and column of which `factor`, a root that may be rounded,
/// is the rstd: the factors of the x whose squares are summed under it are
/// among `parts`. `number`, a constant beside them, becomes part of x if it is.
/// Whether rstd is that of the definition is not looked at. False, with a
/// reason, if there is no such x.
bool guessNorm(Context &context, Expr *factor, ArrayRef<Expr *> parts,
               double &number, Norm &norm);

/// The same where `factor` and x are factors of `product`. Returns the product
/// of the others and of its constant, or null.
Expr *guessInProduct(Context &context, Expr *product, Expr *factor, Norm &norm);

/// `expr` without the roundings that its factors have a root in: a product of
/// a root and others, if it is one but for roundings.
Expr *openRoundings(ExprPool &pool, Expr *expr);

/// True if what is under `root` is made of a variance, by either formula and
/// with any roundings.
bool isOfVariance(Context &context, Expr *root);

/// A part of `expr`, an InverseSize, that is proven to be of the number of
/// iterations of `loop` in `body`, or null.
Expr *findInverse(Expr *expr, Expr *body, AffineExpr loop);

/// The definition of a norm, as `rmsnorm-decompose` writes it, as expressions.
class Definition {
public:
  Definition(ExprPool &pool, const Norm &norm);

  /// The mean of `body` over a row.
  Expr *getMean(Expr *body);
  Expr *getRstd();
  /// An element of the forward's result.
  Expr *getForward();
  /// dy * weight.
  Expr *getG(Expr *dy);
  /// The term of dx with x, after g * rstd; with `none` dx itself.
  Expr *getBackward(Expr *g);
  /// The summand of dweight.
  Expr *getAddend(Expr *dy);

  /// Where `found` first differs from `expected`, one of the above; empty if
  /// they are equal up to the rounding of constants in f32.
  std::string compare(Expr *expected, Expr *found);

private:
  /// A part of both, or nulls, and the innermost named part around it.
  struct Difference {
    Expr *expected = nullptr, *found = nullptr;
    StringRef name;
  };
  Difference findDifference(Expr *expected, Expr *found) const;
  Expr *step(Expr *expr, StringRef name, bool isRounded);
  Expr *getWeight();

  ExprPool &pool;
  const Norm &norm;
  bool isNone;
  DenseMap<Expr *, StringRef> names;
};

/// True if they are equal up to the rounding of constants in f32.
bool isNear(double a, double b);

/// Takes the constant out of a weight that is a sum: the offset, which is added
/// in f32, and with casting none, as the weight is an operand of its own type,
/// is rounded then.
void splitOffset(Norm &norm);

/// Finds `expr`, an operand of `norm`, as a tensor in front of the host, or
/// checks that it can be computed there.
bool place(Context &context, Expr *expr, Norm &norm);

/// The same for x and the weight.
bool placeOperands(Context &context, Norm &norm);

} // namespace mlir::rmsnorm::raising

#endif // RMSNORM_LIB_RAISE_MATCH_H
