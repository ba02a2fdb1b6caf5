// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Expr.h - values as expressions in a normal form -------------------===//
//
// The value of a scalar without the tensors and types in between: a real number
// that f32 holds, as an expression over elements of tensors. Two scalars of a
// program that are equal in real arithmetic, with the same roundings, mostly
// are one node, however many ops and reshapes stand between them.
//
//===----------------------------------------------------------------------===//

#ifndef RMSNORM_LIB_RAISE_EXPR_H
#define RMSNORM_LIB_RAISE_EXPR_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/FoldingSet.h"

#include <memory>
#include <vector>

namespace mlir::rmsnorm::raising {

struct Expr : llvm::FoldingSetNode {
  enum class Kind {
    Element,     ///< `value` at `indices`; a scalar SSA value has none
    Index,       ///< the number `indices[0]`
    Constant,    ///< `number`
    Product,     ///< `number` times two or more operands, or one
    Add,         ///< of two operands, a constant last
    Round,       ///< to `type`, ties to even
    Rsqrt,       ///<
    Sqrt,        ///<
    Sum,         ///< of the operand over the symbols `indices`, `extents` each
    Size,        ///< of dimension `extents[0]` of `value`
    InverseSize, ///< 1 / Size
    Op,          ///< what the op `name` computes of the operands
  };

  explicit Expr(Kind kind) : kind(kind) {}
  void Profile(llvm::FoldingSetNodeID &id) const;

  bool is(Kind other) const { return kind == other; }
  /// The bound symbol of a sum over a single one.
  AffineExpr getSymbol() const { return indices.front(); }
  /// True if it depends on dimension `dim`.
  bool hasDim(unsigned dim) const { return dims >> dim & 1; }

  Kind kind;
  SmallVector<Expr *, 2> operands;
  Value value;
  SmallVector<AffineExpr, 3> indices;
  SmallVector<int64_t, 1> extents;
  double number = 0;
  /// Of Round. Of a Sum: the accumulator's, if it is narrower than f32. Of an
  /// Op: its operands' and result's, a function type.
  Type type;
  std::optional<OperationName> name;
  DictionaryAttr attributes;

  // Derived from the members above.
  unsigned id = 0;
  /// How deep sums are nested in it.
  unsigned height = 0;
  /// The dimensions that it depends on, and those that sums in it depend on.
  uint64_t dims = 0, sumDims = 0;
  /// The positions of symbols that no sum in it binds, sorted.
  SmallVector<unsigned, 2> freeSymbols;
};

/// f32, bf16 or f16: types whose numbers f32 holds.
bool isSmallFloat(Type type);

using Substitution = DenseMap<AffineExpr, AffineExpr>;

/// Makes expressions, each one once. All of them are f32 at heart: extensions
/// vanish, roundings are nodes, the association of sums and products does not
/// count.
class ExprPool {
public:
  using Kind = Expr::Kind;
  using List = SmallVector<Expr *, 4>;

  explicit ExprPool(MLIRContext *context) : context(context) {}

  Expr *element(Value value, ArrayRef<AffineExpr> indices);
  Expr *index(AffineExpr value);
  Expr *constant(double number);
  Expr *product(ArrayRef<Expr *> factors, double number = 1);
  Expr *add(Expr *lhs, Expr *rhs);
  Expr *subtract(Expr *lhs, Expr *rhs) { return add(lhs, product({rhs}, -1)); }
  /// The expression itself where it already is a `type`, or null.
  Expr *round(Type type, Expr *expr);
  Expr *rsqrt(Expr *expr) { return unary(Kind::Rsqrt, expr); }
  Expr *sqrt(Expr *expr) { return unary(Kind::Sqrt, expr); }
  /// Of `body`, in which `symbols` are fresh.
  Expr *sum(Expr *body, ArrayRef<AffineExpr> symbols, ArrayRef<int64_t> extents,
            Type accumulator = Type());
  Expr *size(Kind kind, Value value, int64_t dim);
  Expr *operation(Operation *op, ArrayRef<Expr *> operands);

  AffineExpr dim(unsigned position) const;
  AffineExpr zero() const;
  AffineExpr freshSymbol();

  /// The narrowest type that is known to hold the value.
  Type getType(Expr *expr) const;

  /// `expr` with dimensions and free symbols replaced.
  Expr *substitute(Expr *expr, const Substitution &substitution);
  Expr *substitute(Expr *expr, AffineExpr from, AffineExpr to) {
    return substitute(expr, Substitution{{from, to}});
  }
  /// `expr` as if all that it makes of roots were computed in f32: without the
  /// roundings of that and the narrow accumulators. Roots are as they are.
  Expr *relax(Expr *expr);
  /// `expr` with the dimensions that it depends on renumbered from 0 on, in
  /// ascending order: equal for expressions that differ in unused loops only.
  Expr *renumber(Expr *expr);

private:
  Expr *unary(Kind kind, Expr *operand);
  /// The summand of `sum`, with fresh `symbols`, which are appended.
  Expr *open(Expr *sum, SmallVectorImpl<AffineExpr> &symbols);
  Expr *get(Expr &&expr);
  void derive(Expr &expr) const;

  MLIRContext *context;
  llvm::FoldingSet<Expr> set;
  DenseMap<Expr *, Expr *> relaxed;
  std::vector<std::unique_ptr<Expr>> nodes;
  unsigned freshSymbols = 0;
};

/// The factors of `expr`, itself if it is no product, without their constant.
ExprPool::List getFactors(Expr *expr);
/// That constant.
double getNumber(Expr *expr);
/// The constant that `expr`, if it is a sum, adds; otherwise 0.
double getConstantTerm(Expr *expr);
/// The operand of the rounding `expr`; otherwise `expr` itself.
Expr *stripRound(Expr *expr);
/// The type that `expr` rounds to, or null.
Type getRounding(Expr *expr);
/// Takes one occurrence of `expr` out of `list`; false if there is none.
bool take(ExprPool::List &list, Expr *expr);
/// All nodes of `expr`, each once, itself first.
SmallVector<Expr *, 0> getParts(Expr *expr);
/// The positions of the dimensions in `dims`, ascending.
SmallVector<unsigned> getDims(uint64_t dims);
/// The result of `op` for `operands`; `op` has one result, no regions and no
/// effects. Each op of a type narrower than f32 rounds.
Expr *readArithmetic(ExprPool &pool, Operation *op, ArrayRef<Expr *> operands);

} // namespace mlir::rmsnorm::raising

#endif // RMSNORM_LIB_RAISE_EXPR_H
