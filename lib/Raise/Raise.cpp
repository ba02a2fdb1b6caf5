// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===- Raise.cpp - rmsnorm-raise -----------------------------------------===//

#include "NormOps.h"
#include "RMSNorm/Raise/Passes.h"
#include "RMSNorm/Source/Elementwise.h"
#include "RMSNorm/Tiling/RowReduction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/ADT/SetVector.h"

namespace mlir::rmsnorm {
#define GEN_PASS_DEF_RAISE
#include "RMSNorm/Raise/Passes.h.inc"
} // namespace mlir::rmsnorm

using namespace mlir;
using namespace mlir::rmsnorm;
using namespace mlir::rmsnorm::raising;

using Kind = Expr::Kind;

/// The scalars that bodies of linalg ops compute, users first.
static SmallVector<Operation *> getCandidates(Operation *function) {
  SmallVector<Operation *> ops;
  function->walk<WalkOrder::PreOrder>([&](linalg::LinalgOp host) {
    if (isReadable(host))
      for (Operation &op : host.getBlock()->without_terminator())
        if (op.getNumResults() == 1 && isSmallFloat(op.getResult(0).getType()))
          ops.push_back(&op);
  });
  std::reverse(ops.begin(), ops.end());
  return ops;
}

/// What a candidate computes; null if it is no norm for certain: it is gone,
/// is no function of a sum, or is equal to one of its operands, like a cast.
static Expr *readCandidate(Context &context, Operation *op) {
  if (!context.tensors.isLive(op) || op->use_empty())
    return nullptr;
  auto host = cast<linalg::LinalgOp>(op->getParentOp());
  Expr *expr = context.reader.scalar(op->getResult(0), host);
  if (expr->height == 0 || expr->is(Kind::Sum))
    return nullptr;
  for (Value operand : op->getOperands())
    if (isSmallFloat(operand.getType()) &&
        context.reader.scalar(operand, host) == expr)
      return nullptr;
  return expr;
}

/// True if `expr` depends on what a reduction computes.
static bool isOfReduction(Expr *expr) {
  return llvm::any_of(getParts(expr), [](Expr *part) {
    auto op = part->is(Kind::Element)
                  ? part->value.getDefiningOp<linalg::LinalgOp>()
                  : linalg::LinalgOp();
    return part->is(Kind::Sum) || (op && op.getNumReductionLoops() > 0);
  });
}

/// The reductions of rows that `root` depends on.
static SmallVector<linalg::LinalgOp> getRowReductions(Context &context,
                                                      Expr *root) {
  SmallVector<linalg::LinalgOp> ops;
  for (Expr *part : getParts(root))
    for (Value tensor : context.tensors.lookup(context.pool.renumber(part)))
      if (auto op = tensor.getDefiningOp<linalg::LinalgOp>();
          op && isRowReduction(op))
        ops.push_back(op);
  return ops;
}

/// True if the sums of `op` lose roundings in a kernel.
static bool isNarrow(linalg::LinalgOp op) {
  return llvm::any_of(op->getResultTypes(), [](Type type) {
    type = getElementTypeOrSelf(type);
    return isSmallFloat(type) && !type.isF32();
  });
}

/// Says of each root of a reduction that is left why it is, once. Those of
/// `roots` have been said. If `leavesNarrow`, reductions that lose roundings
/// are not marked.
static void explain(Context &context, Operation *op, bool leavesNarrow,
                    llvm::SetVector<Expr *> &roots) {
  auto host = dyn_cast<linalg::LinalgOp>(op->getParentOp());
  if (!host || !isReadable(host) ||
      !isa<math::RsqrtOp, math::SqrtOp, math::PowFOp>(op) ||
      !isSmallFloat(op->getResult(0).getType()))
    return;
  Expr *root = stripRound(context.reader.scalar(op->getResult(0), host));
  if (root->is(Kind::Sqrt))
    root = context.pool.rsqrt(root->operands.front());
  if (!root->is(Kind::Rsqrt) || !isOfReduction(root))
    return;
  const bool isOther = isOfVariance(context, root);
  Reason &reason = context.getReason(root);
  if ((reason.gradient && !isOther) ||
      !roots.insert(context.pool.renumber(root)))
    return;
  Norm norm(host);
  ExprPool::List factors;
  double number = 1;
  if (isOther && (reason.gradient || reason.progress < kInput))
    reason.text = "what is under the root is a variance, as in a LayerNorm";
  else if (reason.text.empty())
    guessNorm(context, root, factors, number, norm);
  const bool isLeft =
      leavesNarrow && llvm::any_of(getRowReductions(context, root), isNarrow);
  // The bodies of named ops have no location.
  (isa<linalg::GenericOp>(host) ? op : host.getOperation())
          ->emitRemark("not raised to rmsnorm.forward: ")
      << reason.text
      << (isLeft ? "; roundings=fewer marks its narrow sums" : "");
}

/// Calls `raise` with what is left of `candidates`.
static void forEach(Context &context, ArrayRef<Operation *> candidates,
                    function_ref<void(linalg::LinalgOp, Value, Expr *)> raise) {
  for (Operation *op : candidates)
    if (Expr *expr = readCandidate(context, op))
      raise(cast<linalg::LinalgOp>(op->getParentOp()), op->getResult(0), expr);
}

/// The ops left that reduce and are used.
static SmallVector<linalg::LinalgOp> getReductions(Operation *function) {
  SmallVector<linalg::LinalgOp> ops;
  function->walk([&](linalg::LinalgOp op) {
    if (op.getNumReductionLoops() > 0 && isReadable(op) && !op->use_empty())
      ops.push_back(op);
  });
  return ops;
}

/// rmsnorm-tile-clusters begins a kernel with `op`, if it reduces rows.
static void markRowReduction(linalg::LinalgOp op) {
  if (!op || op->hasAttr(RMSNormDialect::kRowWiseAttrName) ||
      !isRowReduction(op))
    return;
  op->setAttr(RMSNormDialect::kRowWiseAttrName, UnitAttr::get(op.getContext()));
  op.emitRemark("marked ") << RMSNormDialect::kRowWiseAttrName
                           << ", as it reduces rows: a kernel may begin with "
                              "it";
}

static void raiseNorms(FunctionOpInterface function, Roundings roundings,
                       RowWise rowWise) {
  if (rowWise == RowWise::all)
    expandSoftmaxes(function);
  // Bodies are all that is read.
  const llvm::SetVector<Operation *> elementwise =
      generalizeElementwise(function);
  ExprPool pool(function.getContext());
  Reader reader(pool);
  Tensors tensors(pool, reader, function);
  Context context{pool, reader, tensors, roundings};
  Rewriter rewriter(function.getContext(), tensors);
  NormOps norms(context, rewriter);
  SmallVector<Operation *> candidates = getCandidates(function);
  // Gradients first: x * rstd is a norm, too.
  forEach(context, candidates,
          [&](linalg::LinalgOp host, Value scalar, Expr *expr) {
            if (auto gradient = matchBackward(context, host, scalar, expr))
              norms.createBackward(scalar, *gradient);
          });
  // One may be gone with another that is equal to it.
  for (linalg::LinalgOp host : getReductions(function))
    if (tensors.isLive(host))
      if (auto gradient = matchWeightGradient(context, host))
        norms.createBackward(/*scalar=*/Value(), *gradient);
  forEach(context, candidates,
          [&](linalg::LinalgOp host, Value scalar, Expr *expr) {
            if (auto norm = matchForward(context, host, expr))
              norms.createForward(scalar, *norm);
          });
  norms.returnStatistics();
  for (const auto &[root, reason] : context.reasons)
    if (reason.gradient && tensors.isLive(reason.gradient) &&
        !isOfVariance(context, root))
      reason.gradient->emitRemark("not raised to rmsnorm.backward: ")
          << reason.text;
  // Without others of ours nothing is marked.
  const bool marks =
      rowWise == RowWise::norms && function
                                       ->walk([](Operation *op) {
                                         return isa<ForwardOp, BackwardOp>(op)
                                                    ? WalkResult::interrupt()
                                                    : WalkResult::advance();
                                       })
                                       .wasInterrupted();
  const bool leavesNarrow = marks && roundings == Roundings::exact;
  llvm::SetVector<Expr *> roots;
  function->walk(
      [&](Operation *op) { explain(context, op, leavesNarrow, roots); });
  if (rowWise == RowWise::all) {
    // A maximum may come with its index, which nobody uses but which no kernel
    // has.
    rewriter.eraseUnused(
        llvm::map_to_vector(getReductions(function), [](linalg::LinalgOp op) {
          return op.getOperation();
        }));
    function->walk(markRowReduction);
  } else if (marks) {
    for (Expr *root : roots)
      for (linalg::LinalgOp op : getRowReductions(context, root))
        if (!leavesNarrow || !isNarrow(op))
          markRowReduction(op);
  }
  IRRewriter restorer(function.getContext());
  for (Operation *op : elementwise)
    if (tensors.isLive(op))
      restoreElementwise(restorer, cast<linalg::GenericOp>(op));
}

namespace {
struct Raise final : rmsnorm::impl::RaiseBase<Raise> {
  using RaiseBase::RaiseBase;

  void runOnOperation() override {
    getOperation()->walk<WalkOrder::PreOrder>(
        [&](FunctionOpInterface function) {
          if (!function.isExternal())
            raiseNorms(function, roundings, rowWise);
          // Functions in functions are part of the outer one.
          return WalkResult::skip();
        });
  }
};
} // namespace
