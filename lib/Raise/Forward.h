// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Forward.h - which scalars are norms -------------------------------===//

#ifndef RMSNORM_LIB_RAISE_FORWARD_H
#define RMSNORM_LIB_RAISE_FORWARD_H

#include "RMSNorm/IR/RMSNorm.h"
#include "Statistics.h"
#include "Tensors.h"

namespace mlir::rmsnorm::raising {

/// What matching and rewriting share.
struct Context {
  ExprPool &pool;
  Reader &reader;
  Tensors &tensors;
  Reasons &reasons;
};

/// The operands and attributes of a norm, in the loops of its host.
struct Norm {
  Expr *x = nullptr;
  /// Null if there is none; without the offset.
  Expr *weight = nullptr;
  /// rstd as an expression, rounded if it is.
  Expr *rstd = nullptr;
  /// x as a tensor, which is null if it is to be computed; the loops are set.
  Placed input;
  /// The same of the weight.
  Placed weights;
  unsigned column = 0;
  double eps = 0, offset = 0;
  Casting casting = Casting::gemma;
  /// The element types of the input and of what is computed.
  Type inputType, outputType;
};

/// Recognises norms: scalars of linalg bodies that are, by the definition of
/// `rmsnorm.forward`, the elements of its result.
class ForwardMatcher {
public:
  ForwardMatcher(const Context &context, linalg::GenericOp host);

  /// The largest part of the product `expr`, a scalar of the host, that is a
  /// norm must be all of it.
  std::optional<Norm> match(Expr *expr);

private:
  using List = ExprPool::List;
  /// round_outer(number * product of `outside` and of
  /// round_inner(innerNumber * product of `inside`)).
  struct Product {
    Type outer, inner;
    double number = 1, innerNumber = 1;
    List inside, outside;
  };

  bool matchRoot(const Product &product, Expr *factor, Norm &norm);
  bool matchX(const Statistics &s, List &factors, Norm &norm);
  bool matchScale(const Statistics &s, double number, Norm &norm);
  bool matchRoundings(const Statistics &s, const Product &product,
                      bool hasInsideFactors, Norm &norm, Type rstdType);
  bool matchWeight(Expr *root, ArrayRef<Expr *> factors, Norm &norm);

  const Context &context;
  ExprPool &pool;
  linalg::GenericOp host;
};

/// Takes the constant out of a weight that is a sum: the offset, which is added
/// in f32, and with casting none, as the weight is an operand of its own type,
/// is rounded then.
void splitOffset(Norm &norm);

/// Whether the loop `column` of `host` walks what `sum` sums over.
bool isSameLoop(Expr *sum, linalg::LinalgOp host, unsigned column);

/// Finds x and the weight of `norm` as tensors in front of `host`, or checks
/// that they can be computed there.
bool placeOperands(const Context &context, linalg::GenericOp host, Expr *root,
                   Norm &norm);

} // namespace mlir::rmsnorm::raising

#endif // RMSNORM_LIB_RAISE_FORWARD_H
