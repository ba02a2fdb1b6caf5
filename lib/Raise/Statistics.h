// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Statistics.h - rsqrt(mean(x * x) + eps) ---------------------------===//

#ifndef RMSNORM_LIB_RAISE_STATISTICS_H
#define RMSNORM_LIB_RAISE_STATISTICS_H

#include "Expr.h"

#include "llvm/ADT/Twine.h"

namespace mlir::rmsnorm::raising {

/// Why roots were left as they are: for each the reason of the match that came
/// furthest.
class Reasons {
public:
  explicit Reasons(ExprPool &pool) : pool(pool) {}

  /// Notes `text` for `root`. Always returns false.
  bool add(Expr *root, int progress, const llvm::Twine &text);
  /// The text for `root`, empty if there is none.
  StringRef lookup(Expr *root);

private:
  ExprPool &pool;
  DenseMap<Expr *, std::pair<int, std::string>> texts;
};

/// How far a match came before it failed; see Reasons.
enum Progress : int {
  kUnderRoot,
  kMean,
  kSum,
  kSquare,
  kFactors,
  kScale,
  kRoundings,
  kWeight,
  kInput
};

/// A root over the mean square of a row.
struct Statistics {
  /// The Rsqrt.
  Expr *root = nullptr;
  Expr *sum = nullptr;
  /// The factors of x, in the symbol of `sum`.
  ExprPool::List x;
  /// (What is added to eps) / (mean of the squares of the product of `x`).
  double scale = 1;
  double eps = 0;
  /// Where rounded: x * x, the mean, the mean plus eps.
  Type square, mean, shifted;
};

/// Reads `root`, an Rsqrt. False, with a reason, if it is not one of a mean
/// square over one dimension plus a positive constant.
bool readStatistics(Expr *root, Statistics &statistics, Reasons &reasons);

/// True if `size`, a Size or InverseSize, is proven to be the number of
/// iterations of the loop `symbol` in `body`.
bool isExtent(Expr *size, Expr *body, AffineExpr symbol);

/// True if they are equal but for the rounding of constants in f32.
bool isNear(double a, double b);

} // namespace mlir::rmsnorm::raising

#endif // RMSNORM_LIB_RAISE_STATISTICS_H
